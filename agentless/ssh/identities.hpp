#pragma once
// The keys that may be offered to hosts, read once for the whole fleet and shared by all shards.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agentless/ssh/private_key.hpp"
#include "agentless/ssh/ssh_options.hpp"

namespace cleanslate::agentless::ssh {

struct Identity {
    std::string file;
    std::string blob;                       // public half
    std::shared_ptr<const SigningKey> key;  // null: only an agent can sign
};

// Reads one key file. Refused, as by ssh: a private key that the caller owns and others may read. An
// encrypted key whose public half is neither in it nor in FILE.pub is refused too. Errors have kind
// "identity".
Result<Identity> load_identity(const std::string& file);

// What this machine can do with keys.
struct Abilities {
    bool agent = false;
    bool rsa = false;  // libssh2 1.11 or newer
};

class Identities {
  public:
    // Named files that cannot be used are errors; default files that are absent are passed over, and those
    // that cannot be used are noted.
    static Result<std::unique_ptr<Identities>> load(const SshOptions& options, Abilities abilities);

    const std::vector<Identity>& all() const { return all_; }
    bool only_these() const { return only_these_; }  // the agent's other keys are not to be offered
    const std::vector<std::string>& notes() const { return notes_; }

    // A host's own identity file; each is read once. From any thread.
    Result<Identity> of_file(const std::string& file);

  private:
    Identities() = default;
    std::vector<Identity> all_;
    bool only_these_ = false;
    Abilities abilities_;
    std::vector<std::string> notes_;
    std::mutex mutex_;
    std::map<std::string, Result<Identity>> of_files_;
};

}  // namespace cleanslate::agentless::ssh
