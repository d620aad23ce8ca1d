#pragma once
// An index over known_hosts files: plain names by hash map, patterns and hashed names one after another,
// revoked keys apart. libssh2's own accepts revoked keys, knows no patterns and is slow. Pure: text in,
// answers out. Immutable once read, so that all shards may share it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cleanslate::agentless::ssh {

struct KnownKey {
    std::string type;  // "ssh-ed25519"
    std::string blob;  // decoded
    bool revoked = false;
    std::string place;  // "file:line"
};

// What is known of one host, looked up once for each.
struct KnownKeys {
    std::vector<const KnownKey*> keys;  // revoked ones too
    // They stand under the host's name without its port: they can make a key known, never changed (as in
    // ssh).
    bool without_port = false;
};

struct HostKeyMatch {
    enum class Answer {
        known,
        unknown,     // nothing is known of this host
        other_type,  // only keys of other types are known
        changed,     // another key of this type is known
        revoked,
    };
    Answer answer = Answer::unknown;
    const KnownKey* key = nullptr;  // the entry behind the answer; null for `unknown`
};

class KnownHosts {
  public:
    // Adds the entries of one file. `file` stands in places and notes. A line that makes no sense is noted
    // and passed over; @cert-authority lines too, since certificates of hosts are not understood.
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
    struct Hashed {
        std::string salt, digest;
        std::size_t key;
    };
    void read_line(std::string_view line, std::string place);
    void note(std::string_view place, std::string_view what);
    void add_names(std::string_view names, std::size_t key, std::string_view place);
    std::vector<const KnownKey*> find_name(const std::string& name) const;

    std::vector<KnownKey> keys_;
    std::unordered_map<std::string, std::vector<std::size_t>> plain_;
    std::vector<Patterns> patterns_;
    std::vector<Hashed> hashed_;
    std::vector<std::string> notes_;
    std::size_t unsaid_ = 0;
};

// The name under which a host stands in known_hosts.
std::string known_hosts_name(std::string_view host, std::uint16_t port);

// Revoked first, then known, then changed.
HostKeyMatch match_host_key(const KnownKeys& known, std::string_view blob);

// Host key algorithms (as in a key exchange) in the order to ask for: those of the known types first.
std::vector<std::string> host_key_algorithms(const KnownKeys& known);

}  // namespace cleanslate::agentless::ssh
