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

#include "agentless/ssh/host_settings.hpp"
#include "agentless/ssh/known_hosts.hpp"
#include "base/result.hpp"

namespace cleanslate::agentless::ssh {

class HostKeys {
  public:
    // The files that the options name, or the caller's and the system's, are read at once. One that is there
    // and cannot be read is an error of kind "known_hosts".
    static Result<std::unique_ptr<HostKeys>> load(const SshOptions& options);

    // What is known of a host: asked once for each, for check() and for the algorithms to ask it for. Each
    // file is read once. Errors (kind "known_hosts", phase "host-key"): a file that cannot be read. From any
    // thread.
    Result<KnownKeys> find(const HostSettings& settings);

    // Errors: kind "host_key_unknown", "host_key_changed", "host_key_revoked", with phase "host-key". Under
    // accept_new a new key is believed, and from then on the only one for that host; it is appended to the
    // first file at once, in one write, mode 0600 where the file is new.
    Status check(const HostSettings& settings, const KnownKeys& known, std::string_view blob);

    // What is worth saying once: lines passed over, keys that could not be written down.
    std::vector<std::string> notes() const;

  private:
    HostKeys() = default;
    // With mutex_ held.
    Result<const KnownHosts*> files(const std::vector<std::string>& names);
    Status accept(const std::string& name, const std::string& file, std::string_view blob);

    mutable std::mutex mutex_;
    std::map<std::vector<std::string>, std::unique_ptr<const KnownHosts>> known_;  // by the files' names
    std::map<std::string, std::string> accepted_;                                  // name -> blob
    std::vector<std::string> notes_;
};

}  // namespace cleanslate::agentless::ssh
