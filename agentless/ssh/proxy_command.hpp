#pragma once
// ProxyCommand: a program at whose standard streams the host is. The common `ssh -W` is understood as a jump,
// which costs no process a host.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agentless/ssh/host_settings.hpp"
#include "agentless/ssh/link.hpp"

namespace cleanslate::agentless::ssh {

// The hop, as "[user@]host[:port]", that `ssh [-q] [-l user] [-p port] -W host:port [user@]jump` stands for.
// Absent for every other command: what is not fully understood is left to the shell. `%h:%p` that is still to
// be expanded will do as well. Pure.
std::optional<std::string> hop_of_proxy_command(const std::string& expanded_command,
                                                const std::string& host_name, std::uint16_t port);

}  // namespace cleanslate::agentless::ssh
