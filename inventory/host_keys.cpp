#include "inventory/host_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "inventory/names.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::inventory {
namespace {

using Names = std::vector<std::string>;

// The order in which Ansible's ranges of letters run.
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::size_t max_name = 255;

std::unexpected<Error> bad(std::string_view text, std::string_view problem, std::string remedy = {}) {
    return fail("range", fmt::format("\"{}\": {}", ellipsize(printable(text), 60), problem),
                std::move(remedy));
}

// Takes ":port" off the end. The only colon outside of brackets is a port's; an address without brackets has
// several.
std::optional<std::int64_t> take_port(std::string_view& text) {
    std::size_t colons = 0, at = 0;
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[') inside = true;
        if (text[i] == ']') inside = false;
        if (inside || text[i] != ':') continue;
        ++colons;
        at = i;
    }
    if (colons != 1 || inside) return std::nullopt;
    const std::string_view digits = text.substr(at + 1);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
        return std::nullopt;
    text = text.substr(0, at);
    const auto port = parse_number(digits);
    return port && *port <= INT64_MAX ? static_cast<std::int64_t>(*port) : INT64_MAX;
}

// Whether each pair of brackets holds begin:end or begin:end:step. Node sets have dashes and commas.
bool is_ansibles_range(std::string_view text) {
    bool any = false;
    for (auto open = text.find('['); open != std::string_view::npos; open = text.find('[', open + 1)) {
        const auto close = text.find(']', open);
        if (close == std::string_view::npos) return false;
        const auto inside = text.substr(open + 1, close - open - 1);
        if (inside.find(':') == std::string_view::npos || inside.find_first_of("-,/") != inside.npos)
            return false;
        any = true;
    }
    return any;
}

bool is_number(std::string_view text) {
    return text.size() <= 18 && !text.empty() &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
}

// What one pair of brackets stands for.
Result<Names> expand(std::string_view whole, std::string_view inside, std::size_t max_names) {
    const auto no_range = [&] {
        return bad(whole, fmt::format("[{}] is no range", printable(inside)),
                   "write a range such as [01:16], [1:9:2] or [a:f]");
    };
    const auto parts = split(inside, ':');
    if (parts.size() > 3) return no_range();
    const std::string_view first = parts[0].empty() ? "0" : parts[0], last = parts[1];
    const std::string_view step_text = parts.size() == 3 ? parts[2] : "1";
    if (!is_number(step_text)) return no_range();
    const std::uint64_t step = std::min<std::uint64_t>(*parse_number(step_text), UINT32_MAX);
    if (step == 0) return bad(whole, "the step of a range can not be 0");
    const auto backwards = [&] {
        return bad(whole, fmt::format("the range {} runs backwards", printable(inside)),
                   "write the lower end first");
    };
    Names names;
    const auto from = first.size() == 1 ? letters.find(first) : letters.npos;
    const auto to = last.size() == 1 ? letters.find(last) : letters.npos;
    if (from != letters.npos && to != letters.npos) {
        if (from > to) return backwards();
        for (std::size_t i = from; i <= to; i += step) names.emplace_back(1, letters[i]);
        return names;
    }
    if (!is_number(first) || !is_number(last)) return no_range();
    const bool padded = first.size() > 1 && first[0] == '0';
    const bool ragged = (padded || (last.size() > 1 && last[0] == '0')) && first.size() != last.size();
    if (ragged) {
        return bad(whole, fmt::format("the range {} is ragged", printable(inside)),
                   "write both ends with the same number of digits, such as 08:12");
    }
    const std::uint64_t low = *parse_number(first), high = *parse_number(last);
    if (low > high) return backwards();
    if ((high - low) / step >= max_names)
        return bad(whole, fmt::format("stands for more than {} names", max_names));
    for (std::uint64_t value = low; value <= high; value += step)
        names.push_back(padded ? fmt::format("{:0{}}", value, first.size()) : fmt::format("{}", value));
    return names;
}

Result<Names> expand_all(std::string_view text, std::size_t max_names) {
    Names names(1);
    std::string_view rest = text;
    while (!rest.empty()) {
        const auto open = std::min(rest.find('['), rest.size());
        for (std::string& name : names) name += rest.substr(0, open);
        rest.remove_prefix(open);
        if (rest.empty()) break;
        const auto close = rest.find(']');
        const auto tails = expand(text, rest.substr(1, close - 1), max_names);
        if (!tails) return tails;
        if (tails->size() > max_names / names.size())
            return bad(text, fmt::format("stands for more than {} names", max_names));
        Names longer;
        longer.reserve(names.size() * tails->size());
        for (const std::string& name : names)
            for (const std::string& tail : *tails) longer.push_back(name + tail);
        if (longer.front().size() > max_name)
            return bad(text, fmt::format("a name of more than {} bytes", max_name));
        names = std::move(longer);
        rest.remove_prefix(close + 1);
    }
    return names;
}

}  // namespace

Result<HostKey> read_host_key(std::string_view text, std::size_t max_names) {
    HostKey key;
    const std::string_view whole = text;
    if (!is_ipv6(text)) key.port = take_port(text);
    if (key.port == 0) key.port.reset();
    text = without_brackets(text);
    if (split_terms(text).size() > 1)
        return fail("inventory",
                    fmt::format("\"{}\": several names in one key", ellipsize(printable(text), 60)),
                    "write each host or range as a key of its own");
    if (text.find('[') == std::string_view::npos || is_ipv6(text)) {
        if (auto fine = check_host_name(text); !fine)
            return std::unexpected(check_host_name(key.port ? text : whole).error());
        key.names.emplace_back(text);
        return key;
    }
    auto names = is_ansibles_range(text) ? expand_all(text, max_names) : unfold(text, max_names);
    if (!names) return std::unexpected(names.error());
    // All names of a range are made of the same letters, but the first and the last may differ in their first
    // one.
    for (const std::string& name : *names)
        if (auto fine = check_host_name(name); !fine) return std::unexpected(fine.error());
    key.names = std::move(*names);
    return key;
}

}  // namespace cleanslate::inventory
