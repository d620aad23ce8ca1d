#pragma once
// A random wait before the first contact (--jitter): many machines that begin at the same minute do not all
// begin at the same second.

#include "base/units.hpp"

namespace cleanslate::controller {

// Anything from 0 to `most`.
Milliseconds random_wait(Milliseconds most);

// False once `stop_fd` is readable, before or during the wait.
bool wait_unless_stopped(Milliseconds time, int stop_fd);

}  // namespace cleanslate::controller
