// The values of each keyword, read as ssh reads them.
#include <netdb.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "agentless/ssh/host_settings.hpp"
#include "agentless/ssh/ssh_config_keywords.hpp"
#include "agentless/ssh/ssh_config_match.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::size_t max_known_hosts_files = 32;

std::unexpected<Error> not_one_of(const std::string& value, std::string_view choices) {
    return fail("usage", "makes no sense: \"" + printable(value) + "\"", "write " + std::string(choices));
}

std::optional<bool> truth(const std::string& word) {
    if (word == "yes" || word == "true") return true;
    if (word == "no" || word == "false") return false;
    return std::nullopt;
}

// The number behind an optional sign, as ssh takes it, from `least` to `most`.
std::optional<std::int64_t> number_of(std::string_view text, std::int64_t least, std::int64_t most) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto number = parse_number(text);
    if (!number || *number > static_cast<std::uint64_t>(most)) return std::nullopt;
    const auto value = static_cast<std::int64_t>(*number);
    return value < least ? std::nullopt : std::optional(value);
}

Status read_port(Directive& directive) {
    const std::string& text = directive.values[0];
    auto port = number_of(text, 1, 65'535);
    if (!port) {
        const servent* service = ::getservbyname(text.c_str(), "tcp");
        if (service != nullptr) port = ntohs(static_cast<std::uint16_t>(service->s_port));
    }
    if (!port) return not_one_of(text, "a port from 1 to 65535");
    directive.number = *port;
    return {};
}

Status read_time(Directive& directive) {
    directive.number = -1;
    if (directive.values[0] == "none") return {};
    const auto time = config_time(directive.values[0]);
    if (!time) return std::unexpected(time.error());
    directive.number = *time;
    return {};
}

Status read_flag(Directive& directive, bool pubkey) {
    const std::string word = in_small_letters(directive.values[0]);
    const auto flag = truth(word);
    if (!flag && !(pubkey && (word == "unbound" || word == "host-bound")))
        return not_one_of(directive.values[0], "yes or no");
    directive.number = flag.value_or(true) ? 1 : 0;
    return {};
}

Status read_strictness(Directive& directive) {
    std::string word = in_small_letters(directive.values[0]);
    if (word == "off") word = "no";
    if (const auto flag = truth(word)) word = *flag ? "yes" : "no";
    if (word != "yes" && word != "no" && word != "ask" && word != "accept-new")
        return not_one_of(directive.values[0], "yes, no, ask, accept-new or off");
    directive.values[0] = word;
    return {};
}

Status read_family(Directive& directive) {
    const std::string word = in_small_letters(directive.values[0]);
    if (word != "any" && word != "inet" && word != "inet6")
        return not_one_of(directive.values[0], "any, inet or inet6");
    directive.values[0] = word;
    return {};
}

// "none", and nothing else, is no file at all.
Status read_files(Directive& directive) {
    auto& files = directive.values;
    if (files.size() > max_known_hosts_files) return fail("usage", "more than 32 files");
    for (const std::string& file : files) {
        if (file.empty()) return fail("usage", "an argument is empty");
        if (in_small_letters(file) != "none") continue;
        if (files.size() > 1) return fail("usage", "\"none\" must stand alone");
        files.clear();
        return {};
    }
    return {};
}

Status read_agent(const Directive& directive) {
    const std::string& path = directive.values[0];
    if (path.starts_with('$') && !path.starts_with("${")) {
        const auto fine = [](char c) {
            return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        };
        if (path.size() == 1 || !std::all_of(path.begin() + 1, path.end(), fine))
            return not_one_of(path, "$NAME of an environment variable");
    }
    return {};
}

// ssh reads up to the first blank; quotes are its shell's business there.
Status read_jump(Directive& directive, std::string_view rest) {
    std::string_view jump = rest.substr(0, rest.find_first_of(" \t#"));
    if (jump.size() > 1 && jump.front() == '"' && jump.back() == '"') jump = jump.substr(1, jump.size() - 2);
    directive.values = {std::string(jump)};
    if (in_small_letters(jump) == "none") {
        directive.values = {"none"};
        return {};
    }
    for (const std::string_view hop : split(jump, ',')) {
        const auto endpoint = endpoint_of_hop(std::string(hop));
        if (!endpoint) return std::unexpected(endpoint.error());
    }
    return {};
}

bool takes_many(Keyword keyword) {
    return keyword == Keyword::user_known_hosts || keyword == Keyword::global_known_hosts;
}

Status read_value(Directive& directive) {
    switch (directive.keyword) {
        case Keyword::port:
            return read_port(directive);
        case Keyword::connect_timeout:
        case Keyword::alive_interval:
            return read_time(directive);
        case Keyword::alive_count_max: {
            const auto count = number_of(directive.values[0], 0, std::numeric_limits<int>::max());
            if (!count) return not_one_of(directive.values[0], "a number");
            directive.number = *count;
            return {};
        }
        case Keyword::identities_only:
        case Keyword::password_authentication:
        case Keyword::kbd_interactive_authentication:
        case Keyword::batch_mode:
        case Keyword::hash_known_hosts:
            return read_flag(directive, false);
        case Keyword::pubkey_authentication:
            return read_flag(directive, true);
        case Keyword::strict_host_key_checking:
            return read_strictness(directive);
        case Keyword::address_family:
            return read_family(directive);
        case Keyword::user_known_hosts:
        case Keyword::global_known_hosts:
            return read_files(directive);
        case Keyword::identity_agent:
            return read_agent(directive);
        default:
            return {};
    }
}

}  // namespace

Result<std::int64_t> config_time(std::string_view text) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    const auto wrong = [&] { return not_one_of(std::string(text), "seconds, or a time such as 1m30s"); };
    if (text.empty()) return wrong();
    std::int64_t total = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
        const auto number = number_of(text.substr(at, end - at), 0, most);
        if (!number) return wrong();
        std::int64_t unit = 1;
        if (end < text.size()) {
            const auto letter = std::string_view("smhdw").find(in_small_letters(text.substr(end, 1)));
            constexpr std::int64_t units[] = {1, 60, 3600, 86'400, 604'800};
            if (letter == std::string_view::npos) return wrong();
            unit = units[letter];
        }
        total += *number * unit;
        if (total > most) return wrong();
        at = end;
    }
    return total;
}

Result<Directive> read_directive(Keyword keyword, std::string_view rest, std::vector<std::string> words) {
    Directive directive;
    directive.keyword = keyword;
    directive.values = std::move(words);
    if (keyword == Keyword::proxy_jump || keyword == Keyword::proxy_command) {
        const auto begin = rest.find_first_not_of(" \t=");
        rest = begin == std::string_view::npos ? std::string_view() : rest.substr(begin);
        if (rest.empty()) return fail("usage", "an argument is missing");
        directive.values = {std::string(rest)};
        if (keyword == Keyword::proxy_jump)
            if (const auto read = read_jump(directive, rest); !read) return std::unexpected(read.error());
        return directive;
    }
    if (directive.values.empty() && takes_many(keyword)) directive.keyword = Keyword::harmless;
    if (directive.keyword == Keyword::harmless) return directive;
    if (directive.values.empty() || directive.values[0].empty())
        return fail("usage", "an argument is missing");
    if (directive.values.size() > 1 && !takes_many(keyword))
        return fail("usage", "more than one argument", "put a value with blanks into quotes");
    if (const auto read = read_value(directive); !read) return std::unexpected(read.error());
    return directive;
}

}  // namespace cleanslate::agentless::ssh
