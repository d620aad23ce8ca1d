#pragma once
// This machine as a host: each script runs in a child process of its own process group, without SSH. Needs
// Linux 5.3 (pidfd). The endpoint is not looked at.

#include <memory>

#include "agentless/transport.hpp"

namespace cleanslate::agentless {

// Sets SIGPIPE to be ignored in this process, unless somebody already handles it: a script may close its
// input early. The command runs as `/bin/sh -c COMMAND` with default signals, no descriptors but 0, 1 and 2,
// in the current directory. A run that a deadline, a limit or a cancellation cut has its whole process group
// killed with KILL; what cannot be reaped at once (state D) is reaped later.
std::unique_ptr<Transport> make_local_transport(boost::asio::io_context& io);

}  // namespace cleanslate::agentless
