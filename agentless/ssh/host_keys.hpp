#pragma once
// Whether a host's key is believed, under the policy that holds for the host. Shared by all shards.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
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
    // Writes down what nobody has written down yet.
    ~HostKeys();
    HostKeys(const HostKeys&) = delete;
    HostKeys& operator=(const HostKeys&) = delete;

    // What is known of a host: asked once for each, for check() and for the algorithms to ask it for. Each
    // list of files is read once. Errors (kind "known_hosts", phase "host-key"): a file that cannot be read.
    // From any thread.
    Result<KnownKeys> find(const HostSettings& settings);

    // Errors: kind "host_key_unknown", "host_key_changed", "host_key_revoked", with phase "host-key". Under
    // accept_new a new key is believed, and from then on the only one for that host.
    Status check(const HostSettings& settings, const KnownKeys& known, std::string_view blob);

    // Somebody has compared the fingerprint: from now on it is one of this host's keys.
    void believe(const HostSettings& settings, std::string_view blob);

    // Adds the keys that were believed to the host's first file, each once, however often this is called.
    // What could not be written is a note, and is given back.
    std::vector<std::string> write_down();

    // What is worth saying once: lines passed over, keys that could not be written down, hosts whose keys
    // are not checked and have changed.
    std::vector<std::string> notes() const;
    // The hosts whose keys were not checked, as they were asked for.
    std::vector<std::string> unchecked() const;

  private:
    // A name in a file, and the keys that were believed for it.
    using Place = std::pair<std::string, std::string>;
    struct Believed {
        std::vector<std::string> blobs;
        bool hashed = false;      // the name is written as a hash
        std::size_t written = 0;  // so many of them were seen to
    };

    HostKeys() = default;
    // With mutex_ held.
    Result<const KnownHosts*> files(const std::vector<std::string>& names);
    // Whether a key that is not known may pass.
    Status accept(const HostSettings& settings, std::string_view blob);
    void let_pass(const HostSettings& settings, const HostKeyMatch& match, std::string_view blob);

    mutable std::mutex mutex_;                                                     // guards what follows
    std::map<std::vector<std::string>, std::unique_ptr<const KnownHosts>> known_;  // by the files' names
    std::map<Place, Believed> believed_;
    std::vector<std::string> notes_;
    std::set<std::string> unchecked_;             // hosts whose policy is `off`
    std::map<std::string, std::string> changed_;  // those of them that showed another key than is known
};

// The name under which a host is looked for and written down: its alias, else its name and port.
std::string known_hosts_name(const HostSettings& settings);

}  // namespace cleanslate::agentless::ssh
