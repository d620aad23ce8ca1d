#pragma once
// Hosts over SSH. The only door to agentless/ssh/; no libssh2 here.

#include <memory>
#include <string>
#include <vector>

#include "agentless/ssh/ssh_options.hpp"
#include "agentless/transport.hpp"
#include "base/result.hpp"

namespace cleanslate::agentless {

// What all shards share: keys and known hosts, read once and not changed; the few things that are written are
// locked.
struct SshContext;

// Call before any thread is started. Errors stop everything before a host is contacted: kind "identity" (a
// named key file that cannot be used), "known_hosts" (a file that cannot be read), "internal".
Result<std::shared_ptr<SshContext>> load_ssh_context(const SshOptions& options);

// Things worth saying once: lines of known_hosts and default keys that were passed over, host keys that could
// not be written down. Ask again after the sweep. From any thread.
std::vector<std::string> ssh_notes(const SshContext& context);

// One for each shard. Host names are looked up in known_hosts by the endpoint's address. An endpoint's
// identity_file is then the only key (of files or agent) that is tried. open() tries again, at most twice and
// a little later, where the host closed the connection before a login was begun.
//
// RunOutput::exit_status: libssh2 does not tell a missing exit status from 0, so a command whose channel was
// closed without one reads as 0. Only the script's own end record proves that it came to its end.
std::unique_ptr<Transport> make_ssh_transport(boost::asio::io_context& io,
                                              std::shared_ptr<SshContext> context);

}  // namespace cleanslate::agentless
