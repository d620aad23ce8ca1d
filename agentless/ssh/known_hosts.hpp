#pragma once
// An index over known_hosts files: plain names by hash map, patterns one after another, hashed names several
// at a time. libssh2's own accepts revoked keys, takes an authority's key for a host's, knows no patterns and
// is slow. Pure: text in, answers out. Immutable once read, so that all shards may share it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agentless/ssh/hashed_names.hpp"

namespace cleanslate::agentless::ssh {

struct KnownKey {
    enum class Role {
        host,       // the host's own key
        revoked,    // @revoked: a key that is never to be believed
        authority,  // @cert-authority: signs the certificates of hosts
    };
    std::string type;  // "ssh-ed25519"
    std::string blob;  // decoded
    Role role = Role::host;
    std::shared_ptr<const std::string> file;
    std::size_t line = 0;
    std::string place() const;  // "file:line"
};

// What is known of one host, looked up once for each.
struct KnownKeys {
    std::vector<const KnownKey*> keys;  // revoked ones and authorities too
    // The host's own ones stand under its name without its port: they can make a key known, never changed
    // (as in ssh).
    bool without_port = false;
};

struct HostKeyMatch {
    enum class Answer {
        known,
        unknown,     // nothing is known of this host
        other_type,  // only keys of other types are known
        changed,     // another key of this type is known
        authority,   // only an authority is known that signs this host's certificates
        revoked,
    };
    Answer answer = Answer::unknown;
    const KnownKey* key = nullptr;  // the entry behind the answer; null for `unknown`
};

class KnownHosts {
  public:
    // Adds the entries of one file. `file` stands in places and notes. A line that makes no sense is noted
    // and passed over. Keys of any type are entries, also of types that nobody here has heard of.
    void read(std::string_view text, std::string_view file);

    // Keys for the name that ssh would look for: "host", or "[host]:port" where the port is not 22 (where
    // nothing stands under that, those of "host"). Case does not matter.
    KnownKeys find(std::string_view host, std::uint16_t port) const;

    const std::vector<std::string>& notes() const { return notes_; }
    std::size_t size() const { return keys_.size(); }

  private:
    struct Patterns {
        std::vector<std::string> wanted, unwanted;  // lower case
        std::size_t key;
    };
    void read_line(std::string_view line, KnownKey key);
    void note(const KnownKey& where, std::string_view what);
    void add_names(std::string_view names, std::size_t key);
    std::vector<const KnownKey*> find_name(const std::string& name) const;

    std::vector<KnownKey> keys_;
    std::unordered_map<std::string, std::vector<std::size_t>> plain_;
    std::vector<Patterns> patterns_;
    HashedNames hashed_;
    std::vector<std::string> notes_;
    std::size_t unsaid_ = 0;
};

// The name under which a host stands in known_hosts.
std::string known_hosts_name(std::string_view host, std::uint16_t port);

// Revoked first, then known, then changed, then what an authority vouches for.
HostKeyMatch match_host_key(const KnownKeys& known, std::string_view blob);

// Host key algorithms (as in a key exchange) in the order to ask for: those of the known types first.
std::vector<std::string> host_key_algorithms(const KnownKeys& known);

// The type of the keys that such an algorithm is for: "rsa-sha2-512" -> "ssh-rsa".
std::string_view host_key_type(std::string_view algorithm);

}  // namespace cleanslate::agentless::ssh
