#pragma once
// The keys that may be offered to hosts, read and decrypted once for the whole fleet and shared by all
// shards.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agentless/ssh/credentials.hpp"
#include "agentless/ssh/host_settings.hpp"
#include "agentless/ssh/key_file.hpp"

namespace cleanslate::agentless::ssh {

class Identities {
  public:
    // Keys that the command line names are read at once: one that cannot be used is an error (kind
    // "identity", phase "auth"), except for one that is encrypted.
    static Result<std::unique_ptr<Identities>> load(const SshOptions& options);

    // Decrypts the keys that these hosts need and that their agents do not hold, asking for each passphrase
    // once, up to three times where it is wrong. Before the first contact and before any thread. Default keys
    // are asked for only where a host would else be offered nothing. Without `ask` nobody can be asked. An
    // error (kind "identity", phase "auth"): a key that the command line names stays locked. Those that the
    // inventory names are their hosts' errors, others are noted.
    Status unlock(const std::vector<HostSettings>& hosts, const AskSecret& ask);

    // What is offered to one host. Keys that somebody named and that cannot be used are an error (kind
    // "auth_failed", phase "auth"); of the others, absent ones are passed over, and those that cannot be used
    // are noted. Certificates stand before their keys. Each file is read once. From any thread.
    Result<Credentials> credentials_for(const HostSettings& settings);

    // What was passed over, each said once.
    std::vector<std::string> notes() const;

  private:
    struct Entry {
        Result<KeyFile> key;
        bool asked = false;            // nobody is asked a second time
        std::optional<Error> refusal;  // why it stayed locked
    };
    Identities() = default;
    // These want the lock.
    // Absent, and nobody who named it is to be told.
    bool is_passed_over(const std::string& file, const HostSettings& settings) const;
    Entry& entry(const std::string& file);
    const Result<CertificateFile>* certificate(const std::string& file);
    void note(const Error& error);
    void add_key(const KeyFile& key, const HostSettings& settings, Credentials& credentials);
    void add_other_certificates(const HostSettings& settings, Credentials& credentials);

    const AgentList& agent_of(const HostSettings& settings);
    bool needs_passphrase(const std::string& file, const HostSettings& settings);
    bool has_another(const HostSettings& settings);
    static void ask_for(Entry& entry, const AskSecret& ask);

    mutable std::mutex mutex_;
    std::vector<std::string> flagged_;  // the command line's
    std::map<std::string, Entry> keys_;
    std::map<std::string, Result<CertificateFile>> certificates_;
    std::map<std::string, AgentList> agents_;  // while unlock() runs
    std::shared_ptr<AgentLists> agent_lists_ = std::make_shared<AgentLists>();
    std::vector<std::string> notes_;
};

}  // namespace cleanslate::agentless::ssh
