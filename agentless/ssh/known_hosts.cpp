#include "agentless/ssh/known_hosts.hpp"

#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <memory>

#include "agentless/ssh/wire.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::size_t max_notes = 10;
constexpr std::size_t sha1_size = 20;

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& character : result) {
        if (character >= 'A' && character <= 'Z') character = static_cast<char>(character - 'A' + 'a');
    }
    return result;
}

// The next field of a line: up to a blank or tab.
std::string_view next_field(std::string_view& line) {
    line = trim(line);
    const std::string_view field = line.substr(0, line.find_first_of(" \t"));
    line.remove_prefix(field.size());
    return field;
}

// `*` any text, `?` any character. Linear in the product of the lengths: only the last star is ever taken up
// again.
bool glob(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

bool any_matches(const std::vector<std::string>& patterns, std::string_view name) {
    return std::ranges::any_of(patterns, [&](const std::string& pattern) { return glob(pattern, name); });
}

// HMAC-SHA1 with one context for many salts: OpenSSL 3 spends more time on looking up the algorithm than on
// hashing.
class HashedName {
  public:
    HashedName() {
        EVP_MAC* mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
        if (mac != nullptr) context_.reset(EVP_MAC_CTX_new(mac));
        EVP_MAC_free(mac);
        char digest[] = "SHA1";
        const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string("digest", digest, 0),
                                         OSSL_PARAM_construct_end()};
        if (context_ && EVP_MAC_CTX_set_params(context_.get(), parameters) != 1) context_.reset();
    }
    std::string of(std::string_view name, std::string_view salt) {
        unsigned char digest[sha1_size];
        std::size_t size = 0;
        const auto* key = reinterpret_cast<const unsigned char*>(salt.data());
        const auto* data = reinterpret_cast<const unsigned char*>(name.data());
        if (!context_ || EVP_MAC_init(context_.get(), key, salt.size(), nullptr) != 1 ||
            EVP_MAC_update(context_.get(), data, name.size()) != 1 ||
            EVP_MAC_final(context_.get(), digest, &size, sizeof digest) != 1) {
            return {};
        }
        return {reinterpret_cast<const char*>(digest), size};
    }

  private:
    struct Free {
        void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
    };
    std::unique_ptr<EVP_MAC_CTX, Free> context_;
};

bool is_pattern(std::string_view name) {
    return name.find_first_of("*?") != name.npos || name.starts_with('!');
}

}  // namespace

void KnownHosts::note(std::string_view place, std::string_view what) {
    if (notes_.size() < max_notes) {
        notes_.push_back(std::string(place) + ": passed over: " + std::string(what));
    } else if (unsaid_++ == 0) {
        notes_.push_back("further lines of known_hosts files were passed over");
    }
}

void KnownHosts::read(std::string_view text, std::string_view file) {
    std::size_t number = 0;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        read_line(line, std::string(file) + ":" + std::to_string(++number));
    }
}

void KnownHosts::read_line(std::string_view line, std::string place) {
    line = trim(line);
    if (line.empty() || line.front() == '#') return;
    KnownKey key;
    std::string_view names = next_field(line);
    if (names.front() == '@') {
        if (names == "@cert-authority") return note(place, "host certificates are not supported");
        if (names != "@revoked") return note(place, "unknown marker " + printable(ellipsize(names, 40)));
        key.revoked = true;
        names = next_field(line);
    }
    key.type = next_field(line);
    const auto blob = decode_base64(next_field(line));
    if (names.empty() || key.type.empty()) return note(place, "a line needs names, a key type and a key");
    if (parse_number(key.type)) return note(place, "a key of SSH protocol 1");
    if (!blob || key_type(*blob) != key.type) return note(place, "the key is damaged");
    key.blob = *blob;
    key.place = place;
    keys_.push_back(std::move(key));
    add_names(names, keys_.size() - 1, place);
}

void KnownHosts::add_names(std::string_view names, std::size_t key, std::string_view place) {
    if (names.front() == '|') {
        const auto parts = split(names, '|');
        const auto salt = parts.size() == 4 && parts[1] == "1" ? decode_base64(parts[2]) : std::nullopt;
        const auto digest = parts.size() == 4 ? decode_base64(parts[3]) : std::nullopt;
        if (!salt || !digest || digest->size() != sha1_size) return note(place, "the hashed name is damaged");
        hashed_.push_back({*salt, *digest, key});
        return;
    }
    const std::string lowered = lower(names);
    std::vector<std::string_view> list = split(lowered, ',');
    std::erase_if(list, [](std::string_view name) { return name.empty() || name == "!"; });
    if (std::ranges::none_of(list, is_pattern)) {
        for (const std::string_view name : list) plain_[std::string(name)].push_back(key);
        return;
    }
    Patterns patterns{{}, {}, key};
    for (const std::string_view name : list) {
        if (name.front() == '!') {
            patterns.unwanted.emplace_back(name.substr(1));
        } else {
            patterns.wanted.emplace_back(name);
        }
    }
    patterns_.push_back(std::move(patterns));
}

std::vector<const KnownKey*> KnownHosts::find_name(const std::string& name) const {
    std::vector<const KnownKey*> found;
    if (const auto plain = plain_.find(name); plain != plain_.end()) {
        for (const std::size_t key : plain->second) found.push_back(&keys_[key]);
    }
    for (const Patterns& patterns : patterns_) {
        if (any_matches(patterns.wanted, name) && !any_matches(patterns.unwanted, name)) {
            found.push_back(&keys_[patterns.key]);
        }
    }
    if (!hashed_.empty()) {
        HashedName hash;
        for (const Hashed& hashed : hashed_) {
            if (hash.of(name, hashed.salt) == hashed.digest) found.push_back(&keys_[hashed.key]);
        }
    }
    return found;
}

KnownKeys KnownHosts::find(std::string_view host, std::uint16_t port) const {
    KnownKeys known{find_name(lower(known_hosts_name(host, port))), false};
    const bool nothing = std::ranges::all_of(known.keys, [](const KnownKey* key) { return key->revoked; });
    if (port != 22 && nothing) {
        const auto of_host = find_name(lower(host));
        known.keys.insert(known.keys.end(), of_host.begin(), of_host.end());
        known.without_port = true;
    }
    return known;
}

std::string known_hosts_name(std::string_view host, std::uint16_t port) {
    if (port == 22) return std::string(host);
    return "[" + std::string(host) + "]:" + std::to_string(port);
}

HostKeyMatch match_host_key(const KnownKeys& known, std::string_view blob) {
    using Answer = HostKeyMatch::Answer;
    const auto first = [&](auto wanted) {
        const auto found = std::ranges::find_if(known.keys, wanted);
        return found == known.keys.end() ? nullptr : *found;
    };
    if (const auto* key = first([&](const KnownKey* k) { return k->revoked && k->blob == blob; })) {
        return {Answer::revoked, key};
    }
    if (const auto* key = first([&](const KnownKey* k) { return !k->revoked && k->blob == blob; })) {
        return {Answer::known, key};
    }
    if (known.without_port) return {};
    if (const auto* key =
            first([&](const KnownKey* k) { return !k->revoked && k->type == key_type(blob); })) {
        return {Answer::changed, key};
    }
    if (const auto* key = first([](const KnownKey* k) { return !k->revoked; }))
        return {Answer::other_type, key};
    return {};
}

std::vector<std::string> host_key_algorithms(const KnownKeys& known) {
    struct Algorithm {
        std::string_view name, type;
    };
    static constexpr Algorithm all[] = {
        {"ssh-ed25519", "ssh-ed25519"},
        {"ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256"},
        {"ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384"},
        {"ecdsa-sha2-nistp521", "ecdsa-sha2-nistp521"},
        {"rsa-sha2-512", "ssh-rsa"},
        {"rsa-sha2-256", "ssh-rsa"},
        {"ssh-rsa", "ssh-rsa"},
    };
    const auto is_known = [&](const Algorithm& algorithm) {
        return std::ranges::any_of(
            known.keys, [&](const KnownKey* key) { return !key->revoked && key->type == algorithm.type; });
    };
    std::vector<std::string> names;
    for (const bool wanted : {true, false}) {
        for (const Algorithm& algorithm : all) {
            if (is_known(algorithm) == wanted) names.emplace_back(algorithm.name);
        }
    }
    return names;
}

}  // namespace cleanslate::agentless::ssh
