#pragma once
// The keys that may be offered to hosts, read once for the whole fleet and shared by all shards.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agentless/ssh/credentials.hpp"
#include "agentless/ssh/host_settings.hpp"

namespace cleanslate::agentless::ssh {

// Reads one key file. Refused, as by ssh: a private key that the caller owns and others may read. An
// encrypted key whose public half is neither in it nor in FILE.pub is refused too. Errors have kind
// "identity".
Result<Identity> load_identity(const std::string& file);

class Identities {
  public:
    // Keys that the command line names are read at once: one that cannot be used is an error.
    static Result<std::unique_ptr<Identities>> load(const SshOptions& options);

    // What is offered to one host. Keys that somebody named and that cannot be used are an error (kind
    // "auth_failed", phase "auth"); of the others, absent ones are passed over, and those that cannot be used
    // are noted. Each file is read once. From any thread.
    Result<Credentials> credentials_for(const HostSettings& settings);

    // Default keys that were passed over, each said once.
    std::vector<std::string> notes() const;

  private:
    Identities() = default;
    Result<Identity> of_file(const std::string& file, bool has_agent);

    mutable std::mutex mutex_;
    std::map<std::string, Result<Identity>> of_files_;
    std::vector<std::string> notes_;
};

}  // namespace cleanslate::agentless::ssh
