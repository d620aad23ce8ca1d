#pragma once
// Hosts over SSH. The only door to agentless/ssh/; no libssh2 here.

#include <memory>
#include <string>
#include <vector>

#include "agentless/shown_host_key.hpp"
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

// Decrypts the keys that these hosts, and the jump hosts before them, need and that no agent holds: asks for
// each passphrase once. Before the first contact and before any thread. Errors as load_ssh_context(); what
// concerns one host alone is that host's error when it is opened.
Status unlock_identities(SshContext& context, const std::vector<Endpoint>& endpoints, const AskSecret& ask);

// Whether an agent may be asked for a key of these hosts, as far as that is known.
bool asks_agents(const SshContext& context);

// Things worth saying once: lines of known_hosts and default keys that were passed over, host keys that could
// not be written down, or have changed and are not checked. Ask again after the sweep. From any thread.
std::vector<std::string> ssh_notes(const SshContext& context);

// Writes the host keys down that were believed for the first time, each once. At the end of a sweep, before
// its notes; what this was not called for is written with the end of the context. Gives back, and notes, what
// could not be written.
std::vector<std::string> keep_host_keys(SshContext& context);

// The hosts whose keys were not checked so far, by address.
std::vector<std::string> unchecked_hosts(const SshContext& context);

// One for each shard. Host names are looked up in known_hosts by the endpoint's address. An endpoint's
// identity_file is then the only key (of files or agent) that is tried. open() tries again, at most twice and
// a little later, where the host closed the connection before a login was begun.
//
// RunOutput::exit_status: libssh2 does not tell a missing exit status from 0, so a command whose channel was
// closed without one reads as 0. Only the script's own end record proves that it came to its end.
std::unique_ptr<Transport> make_ssh_transport(boost::asio::io_context& io,
                                              std::shared_ptr<SshContext> context);

// Shows what host keys hosts have. Belongs to one shard, as a Transport does.
class HostKeyViewer {
  public:
    virtual ~HostKeyViewer() = default;
    // Goes just far enough to see the key, and logs in nowhere but at jump hosts. Of a host of which nothing
    // is known: its keys of all types, one handshake each. Else the one that a login would see. At least one.
    // Errors as Transport::open, up to phase "handshake".
    virtual Awaitable<Result<std::vector<ShownHostKey>>> look(const Endpoint& endpoint,
                                                              Clock::time_point deadline) = 0;
    virtual void cancel_all() = 0;
};
std::unique_ptr<HostKeyViewer> make_host_key_viewer(boost::asio::io_context& io,
                                                    std::shared_ptr<SshContext> context);

// From now on this key is one of the host's own, and keep_host_keys() will write it down.
Status believe_host_key(SshContext& context, const Endpoint& endpoint, const std::string& blob);

// What the known_hosts files, as they were when this context first read them, say of a key.
Result<ShownHostKey> judge_host_key(const SshContext& context, const Endpoint& endpoint,
                                    const std::string& blob);

}  // namespace cleanslate::agentless
