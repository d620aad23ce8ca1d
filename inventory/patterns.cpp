#include "inventory/patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "base/yaml.hpp"
#include "inventory/glob.hpp"
#include "inventory/names.hpp"
#include "inventory/node_set.hpp"
#include "inventory/regex.hpp"

namespace cleanslate::inventory {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::size_t max_work = 20'000'000;
constexpr std::size_t shown_groups = 10;
constexpr std::string_view digits = "0123456789";

std::string quote(std::string_view text) { return fmt::format("\"{}\"", ellipsize(printable(text), 60)); }

std::unexpected<Error> wrong(std::string message, std::string remedy = {}) {
    return fail("limit", std::move(message), std::move(remedy));
}

bool has_star(std::string_view text) { return text.find_first_of("*?") != npos; }

Indexes sorted(Indexes indexes) {
    std::ranges::sort(indexes);
    indexes.erase(std::ranges::unique(indexes).begin(), indexes.end());
    return indexes;
}

// Whether what stands in brackets is meant as a class of characters, and not a range with a slip in it: [!a],
// [abc], [0-9a-f].
bool is_plainly_a_class(std::string_view inside) {
    if (inside.starts_with('!')) return inside.size() > 1;
    if (inside.find(',') != npos || inside.empty()) return false;
    if (inside.find_first_of(digits) == npos) return true;
    if (inside.size() % 3 != 0) return false;
    for (std::size_t i = 0; i < inside.size(); i += 3)
        if (inside[i + 1] != '-' || inside[i] >= inside[i + 2]) return false;
    return true;
}

bool has_only_classes(std::string_view pattern) {
    for (auto open = pattern.find('['); open != npos; open = pattern.find('[', open + 1)) {
        const auto close = pattern.find(']', open);
        if (close == npos || !is_plainly_a_class(pattern.substr(open + 1, close - open - 1))) return false;
    }
    return true;
}

}  // namespace

Patterns::Patterns(const std::vector<Host>& hosts, const Groups& groups) : hosts_(hosts), groups_(groups) {
    by_name_.reserve(hosts.size());
    for (std::size_t i = 0; i < hosts.size(); ++i) by_name_.emplace(hosts[i].name, i);
}

Status Patterns::work(std::size_t amount) {
    worked_ += amount;
    if (worked_ <= max_work) return {};
    return wrong(fmt::format("the limit takes more than {} comparisons", max_work),
                 "name groups, or write the hosts' names into a file: @FILE");
}

bool Patterns::is_name(std::string_view name) const { return is_group(name) || by_name_.contains(name); }

Result<Indexes> Patterns::match(std::string_view pattern) {
    if (pattern.starts_with('~')) return match_expression(pattern);
    const auto literal = without_brackets(pattern);
    if (!is_ipv6(literal) && pattern.find_first_of("[],") != npos) return match_brackets(pattern);
    Indexes found;
    const auto any = match_name(literal, found);
    if (!any) return std::unexpected(any.error());
    if (!*any) return no_match(pattern, {std::string(literal)});
    return found;
}

// Hosts and members of groups whose name fits.
template <class Matches>
Status Patterns::match_each(Matches&& matches, Indexes& into) {
    if (auto fine = work(hosts_.size() + groups_.size()); !fine) return fine;
    for (std::size_t i = 0; i < hosts_.size(); ++i)
        if (matches(hosts_[i].name)) into.push_back(i);
    for (const auto& [name, members] : groups_) {
        if (!matches(name)) continue;
        if (auto fine = work(members.size()); !fine) return fine;
        into.insert(into.end(), members.begin(), members.end());
    }
    return {};
}

Result<Indexes> Patterns::match_expression(std::string_view pattern) {
    const auto regex = Regex::compile(pattern.substr(1));
    if (!regex) return std::unexpected(regex.error());
    Indexes found;
    const auto fits = [&](std::string_view name) { return regex->matches_start_of(name); };
    if (auto fine = match_each(fits, found); !fine) return std::unexpected(fine.error());
    if (found.empty()) return no_match(pattern, {std::string(pattern)});
    return found;
}

// What is named exactly comes before what a glob would match. A name that is both a host and a group means
// both.
Result<bool> Patterns::match_name(std::string_view name, Indexes& into) {
    const auto before = into.size();
    const auto host = by_name_.find(name);
    const auto group = groups_.find(std::string(name));
    if (host != by_name_.end()) into.push_back(host->second);
    if (group != groups_.end()) into.insert(into.end(), group->second.begin(), group->second.end());
    if (host == by_name_.end() && group == groups_.end() && has_star(name)) {
        const auto fits = [&](std::string_view each) { return glob(name, each); };
        if (auto fine = match_each(fits, into); !fine) return std::unexpected(fine.error());
    } else if (auto fine = work(1 + into.size() - before); !fine) {
        return std::unexpected(fine.error());
    }
    return into.size() > before;
}

Result<Patterns::Named> Patterns::find(std::vector<std::string> names) {
    Named named{.hosts = {}, .missing = {}, .asked = names.size()};
    for (auto& name : names) {
        const auto any = match_name(name, named.hosts);
        if (!any) return std::unexpected(any.error());
        if (!*any) named.missing.push_back(std::move(name));
    }
    return named;
}

// Brackets may hold a range of names, a subscript of a group or a class of characters. Where more than one of
// these selects something, they must select the same.
Result<Indexes> Patterns::match_brackets(std::string_view pattern) {
    const auto subscript = take_subscript(pattern);
    const bool places = subscript && is_name(subscript->base);
    auto names = unfold(pattern);
    if (!names && places) return match_subscript(pattern, *subscript);
    if (!names && has_only_classes(pattern)) return match_class(pattern);
    if (!names) return std::unexpected(names.error());
    const auto named = find(std::move(*names));
    if (!named) return std::unexpected(named.error());
    if (places)
        return named->some() ? agreed(pattern, *named, *subscript) : match_subscript(pattern, *subscript);
    const bool globs = has_star(pattern);
    if (subscript && globs)
        return wrong(fmt::format("{}: to Ansible a place among what the glob matches", quote(pattern)),
                     "name the group: rack1[0:3]; for a range of names write [0-3]");
    if (globs)
        if (auto fine = check_class(pattern, named->hosts); !fine) return std::unexpected(fine.error());
    if (!named->some() || (!globs && !named->missing.empty())) return no_match(pattern, named->missing);
    return named->hosts;
}

Result<Indexes> Patterns::match_class(std::string_view pattern) {
    Indexes found;
    const auto classes = ClassGlob::parse(pattern);
    if (classes) {
        const auto fits = [&](std::string_view name) { return classes->matches(name); };
        if (auto fine = match_each(fits, found); !fine) return std::unexpected(fine.error());
    }
    if (found.empty()) return no_match(pattern, {std::string(pattern)});
    return found;
}

Status Patterns::check_class(std::string_view pattern, const Indexes& by_names) {
    Indexes found;
    if (const auto classes = ClassGlob::parse(pattern)) {
        const auto fits = [&](std::string_view name) { return classes->matches(name); };
        if (auto fine = match_each(fits, found); !fine) return fine;
    }
    if (found.empty() || sorted(found) == sorted(by_names)) return {};
    return wrong(
        fmt::format("{}: a range of names here, to Ansible a class of characters that selects others",
                    quote(pattern)),
        "write the globs out: n1*,n2*");
}

// `base[N]`, `base[-N]`, `base[N:M]`, `base[N:]`.
std::optional<Patterns::Subscript> Patterns::take_subscript(std::string_view pattern) {
    const auto open = pattern.rfind('[');
    if (open == npos || open == 0 || !pattern.ends_with(']')) return std::nullopt;
    const auto inside = pattern.substr(open + 1, pattern.size() - open - 2);
    const auto colon = inside.find(':');
    const auto is_number = [](std::string_view text) {
        return !text.empty() && text.size() <= 18 && text.find_first_not_of(digits) == npos;
    };
    Subscript subscript{.base = pattern.substr(0, open), .first = inside.substr(0, colon), .last = {}};
    if (colon == npos) {
        const auto number = inside.starts_with('-') ? inside.substr(1) : inside;
        return is_number(number) ? std::optional(subscript) : std::nullopt;
    }
    subscript.slice = true;
    subscript.last = inside.substr(colon + 1);
    const bool fine = is_number(subscript.first) && (subscript.last.empty() || is_number(subscript.last));
    return fine ? std::optional(subscript) : std::nullopt;
}

Result<Indexes> Patterns::match_subscript(std::string_view pattern, const Subscript& subscript) const {
    const auto group = groups_.find(std::string(subscript.base));
    const Indexes members =
        group != groups_.end() ? group->second : Indexes{by_name_.find(subscript.base)->second};
    if (subscript.slice) return match_slice(pattern, subscript, members);
    const bool from_end = subscript.first.starts_with('-');
    const std::size_t number = *parse_number(subscript.first.substr(from_end ? 1 : 0));
    const bool there = from_end ? number <= members.size() && number > 0 : number < members.size();
    if (there) return Indexes{members[from_end ? members.size() - number : number]};
    if (from_end && number == 0 && !members.empty()) return Indexes{members[0]};
    return wrong(fmt::format("{}: {} has {} hosts", quote(pattern), subscript.base, members.size()),
                 "the first has the place 0, the last one -1");
}

Result<Indexes> Patterns::match_slice(std::string_view pattern, const Subscript& subscript,
                                      const Indexes& members) const {
    const std::size_t first = *parse_number(subscript.first);
    std::size_t last = members.size();
    if (!subscript.last.empty()) last = *parse_number(subscript.last);
    if (first > last && !subscript.last.empty())
        return wrong(fmt::format("{} runs backwards", quote(pattern)), "write the lower place first");
    if (first >= members.size())
        return wrong(fmt::format("{}: {} has {} hosts", quote(pattern), subscript.base, members.size()),
                     "the first has the place 0");
    const auto end = std::min(last, members.size() - 1) + 1;
    return Indexes(members.begin() + static_cast<std::ptrdiff_t>(first),
                   members.begin() + static_cast<std::ptrdiff_t>(end));
}

// gpu[1:4] may be four names or places in the group gpu.
Result<Indexes> Patterns::agreed(std::string_view pattern, const Named& names,
                                 const Subscript& subscript) const {
    const auto places = match_subscript(pattern, subscript);
    if (names.missing.empty() && places && sorted(*places) == sorted(names.hosts)) return names.hosts;
    const std::string base(subscript.base);
    return wrong(fmt::format("{}: names that begin with {}, or places in {}? They select different hosts",
                             quote(pattern), printable(base), printable(base)),
                 subscript.slice && !subscript.last.empty()
                     ? fmt::format("write [{}-{}] for names", subscript.first, subscript.last)
                     : "write the name without brackets");
}

std::string Patterns::near(std::string_view name) const {
    std::vector<std::string> names;
    for (const auto& [group, members] : groups_) names.push_back(group);
    for (const auto& host : hosts_) names.push_back(host.name);
    if (const auto found = yaml::nearest(name, names); !found.empty())
        return fmt::format("did you mean {}?", found);
    std::string shown;
    for (std::size_t i = 0; i < std::min(groups_.size(), shown_groups); ++i)
        shown += (i > 0 ? ", " : "") + names[i];
    return fmt::format("groups: {}{}", shown, groups_.size() > shown_groups ? ", ..." : "");
}

std::unexpected<Error> Patterns::no_match(std::string_view pattern,
                                          const std::vector<std::string>& missing) const {
    if (missing.size() == 1 && is_group(missing[0]))
        return wrong(fmt::format("group {} has no hosts", missing[0]));
    if (missing.size() == 1 && (missing[0] == without_brackets(pattern) || has_star(pattern)))
        return wrong(fmt::format("no host or group matches {}", quote(pattern)), near(missing[0]));
    const auto open = pattern.rfind('[');
    const bool in_group = open != npos && pattern.ends_with(']') && is_group(pattern.substr(0, open));
    return wrong(fmt::format("{}: no host or group matches {}", quote(pattern),
                             ellipsize(printable(fold(missing)), 200)),
                 in_group ? fmt::format("places in the group {0} are written with a colon: {0}[0:3]",
                                        pattern.substr(0, open))
                          : near(missing[0]));
}

}  // namespace cleanslate::inventory
