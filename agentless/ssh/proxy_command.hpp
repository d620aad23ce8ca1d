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

// Starts `exec COMMAND` in /bin/sh, as ssh does, in a process group of its own, which is killed when the link
// is closed. Errors have phase "connect" and kind "connect_failed".
Result<std::shared_ptr<Link>> start_proxy_command(boost::asio::io_context& io,
                                                  std::shared_ptr<Cancellation> cancellation,
                                                  const std::string& command);

// What a failed handshake over such a link means: that of a command which gave no connection is its own
// failure (phase "connect", kind "connect_failed" or "connect_timeout"). Its last words on standard error are
// in the message. Waits for them for a moment.
Awaitable<Error> explain_proxy_failure(std::shared_ptr<Link> link, Error error);

}  // namespace cleanslate::agentless::ssh
