#include "agentless/ssh/known_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/ssh/wire.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::size_t max_notes = 10;

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

// A key is nothing but fields. One that was cut in the middle of a write begins like a whole one, and would
// make its host a changed one.
bool is_whole(std::string_view blob) {
    WireReader reader(blob);
    while (reader.text()) continue;
    return reader.at_end();
}

bool is_pattern(std::string_view name) {
    return name.find_first_of("*?") != name.npos || name.starts_with('!');
}

}  // namespace

std::string KnownKey::place() const { return fmt::format("{}:{}", *file, line); }

void KnownHosts::note(const KnownKey& where, std::string_view what) {
    if (notes_.size() < max_notes) {
        notes_.push_back(where.place() + ": passed over: " + std::string(what));
    } else if (unsaid_++ == 0) {
        notes_.push_back("further lines of known_hosts files were passed over");
    }
}

void KnownHosts::read(std::string_view text, std::string_view file) {
    KnownKey key;
    key.file = std::make_shared<const std::string>(file);
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        ++key.line;
        read_line(line, key);
    }
}

void KnownHosts::read_line(std::string_view line, KnownKey key) {
    line = trim(line);
    if (line.empty() || line.front() == '#') return;
    std::string_view names = next_field(line);
    if (names.front() == '@') {
        key.role = names == "@cert-authority" ? KnownKey::Role::authority : KnownKey::Role::revoked;
        if (names != "@cert-authority" && names != "@revoked")
            return note(key, "unknown marker " + printable(ellipsize(names, 40)));
        names = next_field(line);
    }
    key.type = next_field(line);
    const auto blob = decode_base64(next_field(line));
    if (names.empty() || key.type.empty()) return note(key, "a line needs names, a key type and a key");
    if (parse_number(key.type)) return note(key, "a key of SSH protocol 1");
    if (!blob || key_type(*blob) != key.type || !is_whole(*blob)) return note(key, "the key is damaged");
    if (names.front() == '|' && !hashed_.add(names, keys_.size()))
        return note(key, "the hashed name is damaged");
    key.blob = *blob;
    keys_.push_back(std::move(key));
    if (names.front() != '|') add_names(names, keys_.size() - 1);
}

void KnownHosts::add_names(std::string_view names, std::size_t key) {
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
    for (const std::size_t key : hashed_.find(name)) found.push_back(&keys_[key]);
    return found;
}

KnownKeys KnownHosts::find(std::string_view host, std::uint16_t port) const {
    KnownKeys known{find_name(lower(known_hosts_name(host, port))), false};
    const auto is_hosts_own = [](const KnownKey* key) { return key->role == KnownKey::Role::host; };
    if (port == 22 || std::ranges::any_of(known.keys, is_hosts_own)) return known;
    for (const KnownKey* key : find_name(lower(host)))
        if (key->role != KnownKey::Role::authority) known.keys.push_back(key);
    known.without_port = true;
    return known;
}

std::string known_hosts_name(std::string_view host, std::uint16_t port) {
    if (port == 22) return std::string(host);
    return "[" + std::string(host) + "]:" + std::to_string(port);
}

HostKeyMatch match_host_key(const KnownKeys& known, std::string_view blob) {
    using Answer = HostKeyMatch::Answer;
    using Role = KnownKey::Role;
    const auto first = [&](Role role, auto wanted) {
        const auto found = std::ranges::find_if(
            known.keys, [&](const KnownKey* key) { return key->role == role && wanted(*key); });
        return found == known.keys.end() ? nullptr : *found;
    };
    const auto same = [&](const KnownKey& key) { return key.blob == blob; };
    const auto same_type = [&](const KnownKey& key) { return key.type == key_type(blob); };
    const auto any = [](const KnownKey&) { return true; };
    if (const auto* key = first(Role::revoked, same)) return {Answer::revoked, key};
    if (const auto* key = first(Role::host, same)) return {Answer::known, key};
    if (!known.without_port) {
        if (const auto* key = first(Role::host, same_type)) return {Answer::changed, key};
        if (const auto* key = first(Role::host, any)) return {Answer::other_type, key};
    }
    if (const auto* key = first(Role::authority, any)) return {Answer::authority, key};
    return {};
}

std::string_view host_key_type(std::string_view algorithm) {
    return algorithm.starts_with("rsa-sha2-") ? "ssh-rsa" : algorithm;
}

std::vector<std::string> host_key_algorithms(const KnownKeys& known) {
    static constexpr std::string_view all[] = {
        "ssh-ed25519",
        "ecdsa-sha2-nistp256",
        "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp521",
        "rsa-sha2-512",
        "rsa-sha2-256",
        "ssh-rsa",
    };
    const auto is_known = [&](std::string_view algorithm) {
        return std::ranges::any_of(known.keys, [&](const KnownKey* key) {
            return key->role == KnownKey::Role::host && key->type == host_key_type(algorithm);
        });
    };
    std::vector<std::string> names;
    for (const bool wanted : {true, false}) {
        for (const std::string_view algorithm : all) {
            if (is_known(algorithm) == wanted) names.emplace_back(algorithm);
        }
    }
    return names;
}

}  // namespace cleanslate::agentless::ssh
