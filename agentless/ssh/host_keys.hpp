#pragma once
// Whether a host's key is believed, under the policy of the options. Shared by all shards.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/ssh/known_hosts.hpp"
#include "agentless/ssh/ssh_options.hpp"
#include "base/result.hpp"

namespace cleanslate::agentless::ssh {

class HostKeys {
  public:
    // Reads the files, of which absent ones are empty. One that is there and cannot be read is an error of
    // kind "known_hosts".
    static Result<std::unique_ptr<HostKeys>> load(const SshOptions& options);

    // What is known of a host: asked once for each, for check() and for the algorithms to ask it for.
    KnownKeys find(std::string_view host, std::uint16_t port) const { return known_.find(host, port); }

    // Errors: kind "host_key_unknown", "host_key_changed", "host_key_revoked", with phase "host-key". Under
    // accept_new a new key is believed, and from then on the only one for that host; it is appended to the
    // first file at once, in one write, mode 0600 where the file is new.
    Status check(std::string_view host, std::uint16_t port, const KnownKeys& known, std::string_view blob);

    // What is worth saying once: lines passed over, keys that could not be written down.
    std::vector<std::string> notes() const;

  private:
    HostKeys() = default;
    Status accept(const std::string& name, std::string_view blob);

    KnownHosts known_;
    HostKeyPolicy policy_ = HostKeyPolicy::strict;
    std::string file_;  // to which accept_new writes
    mutable std::mutex mutex_;
    std::map<std::string, std::string> accepted_;  // name -> blob
    std::vector<std::string> notes_;
};

}  // namespace cleanslate::agentless::ssh
