#pragma once
// A fork bomb that refills itself faster than it is killed, and never grows.

#include "tests/fleet/description.hpp"

namespace cleanslate::simulated {

// The calling process holds no device. It starts `spec.refill` copies of itself that do, each without a
// parent and in a session of its own, and another one as soon as one ends. Where it ends itself, a copy
// starts it again.
[[noreturn]] void live_as_bomb(const Host& host, const ProcessSpec& spec);

}  // namespace cleanslate::simulated
