#include "inventory/jumps.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "inventory/names.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::size_t max_hops = 16;

std::unexpected<Error> no_hop(std::string_view hop) {
    return fail("inventory", "found no jump host in \"" + printable(hop) + "\"",
                "write [user@]host[:port], several with commas between, or none");
}

// Takes ":port" off the end. False: what stands there is no port.
bool take_port(std::string_view& host) {
    const auto colon = host.rfind(':');
    if (colon == std::string_view::npos) return true;
    const bool bracketed = host.starts_with('[') && host[colon - 1] == ']';
    if (host.ends_with(']') || (!bracketed && host.find(':') != colon)) return true;  // IPv6
    const auto port = parse_number(host.substr(colon + 1));
    if (!port || *port < 1 || *port > 65'535) return false;
    host = host.substr(0, colon);
    return true;
}

bool is_hop(std::string_view hop) {
    if (hop.starts_with("ssh://")) {
        hop.remove_prefix(6);
        if (hop.ends_with('/')) hop.remove_suffix(1);
    }
    if (hop.find('/') != std::string_view::npos) return false;
    if (const auto at = hop.rfind('@'); at != std::string_view::npos) {
        if (!check_user(hop.substr(0, at))) return false;
        hop.remove_prefix(at + 1);
    }
    return take_port(hop) && !hop.empty() && check_address(without_brackets(hop)).has_value();
}

// Nothing where a quote has no end.
std::optional<std::vector<std::string>> shell_words(std::string_view text) {
    std::vector<std::string> words;
    char quote = '\0';
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n')) {
            inside = false;
            continue;
        }
        if (!inside) words.emplace_back();
        inside = true;
        if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == quote) {
            quote = '\0';
        } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
            words.back() += text[++i];
        } else {
            words.back() += c;
        }
    }
    if (quote != '\0') return std::nullopt;
    return words;
}

// The value of "ProxyJump=x" or "ProxyJump x".
std::optional<std::string> proxy_jump_of(std::string_view setting) {
    constexpr std::string_view name = "proxyjump";
    if (setting.size() <= name.size()) return std::nullopt;
    for (std::size_t i = 0; i < name.size(); ++i)
        if ((setting[i] | 0x20) != name[i]) return std::nullopt;
    const auto value = setting.find_first_not_of(" \t=", name.size());
    if (value == name.size()) return std::nullopt;
    return value == std::string_view::npos ? std::string() : std::string(setting.substr(value));
}

// The letter of the first option of a word such as "-4qJ" that takes a value, and the value where it is part
// of the word.
struct Option {
    char letter = '\0';
    std::optional<std::string> value;
};
Option option_of(std::string_view word) {
    constexpr std::string_view with_value = "BbcDEeFIiJLlmOopQRSWw";
    if (word.size() < 2 || word.front() != '-') return {};
    const auto at = word.find_first_of(with_value, 1);
    if (at == std::string_view::npos) return {};
    if (at + 1 == word.size()) return {word[at], std::nullopt};
    return {word[at], std::string(word.substr(at + 1))};
}

}  // namespace

Result<std::string> read_hops(std::string_view text) {
    text = trim(text);
    if (text == "none") return std::string(text);
    std::string hops;
    const auto parts = split(text, ',');
    if (parts.size() > max_hops) return fail("inventory", "more than 16 jump hosts");
    for (const std::string_view part : parts) {
        const std::string_view hop = trim(part);
        if (!is_hop(hop)) return no_hop(hop);
        hops += (hops.empty() ? "" : ",") + std::string(hop);
    }
    return hops;
}

Result<std::optional<std::string>> hops_among_ssh_options(std::string_view options) {
    const auto words = shell_words(options);
    if (!words) return fail("inventory", "a quote has no end");
    for (std::size_t i = 0; i < words->size(); ++i) {
        Option option = option_of((*words)[i]);
        if (option.letter == '\0') continue;
        if (!option.value && i + 1 < words->size()) option.value = (*words)[++i];
        if (!option.value) continue;
        const auto jump = option.letter == 'J'   ? option.value
                          : option.letter == 'o' ? proxy_jump_of(trim(*option.value))
                                                 : std::nullopt;
        if (!jump) continue;  // the first one counts, as for ssh
        auto hops = read_hops(*jump);
        if (!hops) return std::unexpected(hops.error());
        return std::optional(std::move(*hops));
    }
    return std::optional<std::string>();
}

}  // namespace cleanslate::inventory
