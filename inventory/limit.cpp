#include "inventory/limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "inventory/names.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::inventory {
namespace {

using Indexes = std::vector<std::size_t>;
using Groups = std::map<std::string, Indexes>;

using Mask = std::vector<bool>;  // of each host: matched

constexpr std::size_t max_file = 16U << 20;
constexpr std::size_t shown_groups = 10;

std::string quote(std::string_view text) { return fmt::format("\"{}\"", ellipsize(printable(text), 60)); }

std::unexpected<Error> wrong(std::string message, std::string remedy = {}) {
    return fail("limit", std::move(message), std::move(remedy));
}

// "hosts.txt:3: " in front of what went wrong there.
Status at_line(const Status& status, std::string_view path, std::size_t line) {
    if (status) return status;
    return std::unexpected(with_context(status.error(), fmt::format("{}:{}", printable(path), line)));
}

enum class Sign { add, keep, drop };  // `x`, `&x`, `!x`

struct Term {
    Sign sign = Sign::add;
    std::string_view pattern;
};

// A sign begins a term also without a comma in front: rack1&gpu[01-04]!gpu02. Not in brackets, and not in the
// name of a file.
std::vector<std::string_view> signed_terms(std::string_view limit) {
    std::vector<std::string_view> terms;
    for (auto text : split_terms(limit)) {
        bool inside = false;
        std::size_t start = 0;
        for (std::size_t i = 1; i < text.size() && text.find('@') > 1; ++i) {
            if (text[i] == '[') inside = true;
            if (text[i] == ']') inside = false;
            if (inside || (text[i] != '&' && text[i] != '!')) continue;
            terms.push_back(trim(text.substr(start, i - start)));
            start = i;
        }
        terms.push_back(text.substr(start));
    }
    return terms;
}

Term take_sign(std::string_view text) {
    const Sign sign = text.starts_with('!') ? Sign::drop : text.starts_with('&') ? Sign::keep : Sign::add;
    return {sign, trim(text.substr(sign == Sign::add ? 0 : 1))};
}

// all[0:3] and rack1[-1] mean something else to Ansible than a range of names. `none`: no name of the range
// exists.
bool is_subscript(std::string_view pattern, const Groups& groups, bool none) {
    const auto open = pattern.rfind('[');
    if (open == std::string_view::npos || !pattern.ends_with(']')) return false;
    if (!groups.contains(std::string(pattern.substr(0, open)))) return false;
    const auto inside = pattern.substr(open + 1, pattern.size() - open - 2);
    const bool half_open = inside.starts_with('-') || inside.starts_with(':') || inside.ends_with(':');
    return none || half_open;
}

std::unexpected<Error> no_subscripts(std::string_view pattern) {
    return wrong(fmt::format("{}: subscripts of a group do not exist here", quote(pattern)),
                 "name the hosts, for example as a range of names: gpu[01-04]");
}

class Selection {
  public:
    Selection(const std::vector<Host>& hosts, const Groups& groups)
        : hosts_(hosts), groups_(groups), added_(hosts.size()), dropped_(hosts.size()) {
        by_name_.reserve(hosts.size());
        for (std::size_t i = 0; i < hosts.size(); ++i) by_name_.emplace(hosts[i].name, i);
    }

    Status add_limit(std::string_view limit);
    Result<Indexes> result(std::string_view limit) const;

  private:
    Status add_term(std::string_view text);
    Status add_file(Sign sign, std::string_view path);
    Status match(std::string_view pattern, Mask& into) const;
    bool match_name(std::string_view name, Mask& into) const;
    Mask& mask_for(Sign sign);
    std::unexpected<Error> no_match(std::string_view pattern, const std::vector<std::string>& missing) const;
    std::string near(std::string_view name) const;

    const std::vector<Host>& hosts_;
    const Groups& groups_;
    std::unordered_map<std::string_view, std::size_t> by_name_;
    Mask added_, dropped_;
    std::vector<Mask> kept_;  // one of each `&`
    bool positive_ = false;
};

Status Selection::add_limit(std::string_view limit) {
    if (trim(limit).empty()) return wrong("the limit is empty", "write `all` for every host");
    for (const auto text : signed_terms(limit)) {
        const Term term = take_sign(text);
        if (term.pattern.empty()) return wrong(fmt::format("an empty pattern in {}", quote(limit)));
        const bool file = term.pattern.starts_with('@');
        const auto added = file ? add_file(term.sign, term.pattern.substr(1)) : add_term(text);
        if (!added) return added;
    }
    return {};
}

Mask& Selection::mask_for(Sign sign) {
    if (sign == Sign::keep) return kept_.emplace_back(hosts_.size());
    if (sign == Sign::drop) return dropped_;
    positive_ = true;
    return added_;
}

// A term that names no file.
Status Selection::add_term(std::string_view text) {
    const Term term = take_sign(text);
    if (term.pattern.empty()) return wrong("an empty pattern");
    if (term.pattern.starts_with('@'))
        return wrong(fmt::format("{}: a file can not name another", quote(text)));
    return match(term.pattern, mask_for(term.sign));
}

// One pattern a line, `#` begins a comment. A sign before the @ holds for all that the file names.
Status Selection::add_file(Sign sign, std::string_view path) {
    const auto text = path == "-" ? wrong("@- is no file", "write the patterns to a file")
                                  : read_file(std::string(path), max_file);
    if (!text) return wrong(text.error().message, text.error().remedy);
    Mask* mask = sign == Sign::add ? nullptr : &mask_for(sign);
    std::size_t line = 0, patterns = 0;
    for (const auto whole : split(*text, '\n')) {
        ++line;
        const auto pattern = trim(whole.substr(0, whole.find('#')));
        if (pattern.empty()) continue;
        for (const auto term : split_terms(pattern)) {
            ++patterns;
            if (mask != nullptr && take_sign(term).sign != Sign::add) {
                return at_line(wrong(fmt::format("{}: a sign inside of a file that has one", quote(term))),
                               path, line);
            }
            const auto added = mask == nullptr ? add_term(term) : match(term, *mask);
            if (!added) return at_line(added, path, line);
        }
    }
    if (patterns == 0) return wrong(fmt::format("{}: names no host", printable(path)));
    return {};
}

Status Selection::match(std::string_view pattern, Mask& into) const {
    if (pattern.starts_with('~')) {
        return wrong(fmt::format("{}: regular expressions do not exist here", quote(pattern)), "use * and ?");
    }
    std::vector<std::string> names{std::string(without_brackets(pattern))};
    if (!is_ipv6(names[0]) && pattern.find_first_of("[],") != std::string_view::npos) {
        auto unfolded = unfold(pattern);
        if (!unfolded && is_subscript(pattern, groups_, false)) return no_subscripts(pattern);
        if (!unfolded) return std::unexpected(unfolded.error());
        names = std::move(*unfolded);
    }
    const std::size_t asked = names.size();
    std::vector<std::string> missing;
    for (auto& name : names) {
        if (!match_name(name, into)) missing.push_back(std::move(name));
    }
    if (missing.size() == asked && is_subscript(pattern, groups_, true)) return no_subscripts(pattern);
    if (!missing.empty()) return no_match(pattern, missing);
    return {};
}

// What is named exactly comes before what a glob would match. A name that is both a host and a group means
// both.
bool Selection::match_name(std::string_view name, Mask& into) const {
    bool any = false;
    const auto take = [&](std::size_t index) { into[index] = any = true; };
    const auto host = by_name_.find(name);
    const auto group = groups_.find(std::string(name));
    if (host != by_name_.end()) take(host->second);
    if (group != groups_.end()) std::ranges::for_each(group->second, take);
    if (host != by_name_.end() || group != groups_.end()) return any;
    if (name.find_first_of("*?") == std::string_view::npos) return false;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        if (glob(name, hosts_[i].name)) take(i);
    }
    for (const auto& [group_name, members] : groups_) {
        if (glob(name, group_name)) std::ranges::for_each(members, take);
    }
    return any;
}

std::string Selection::near(std::string_view name) const {
    std::vector<std::string> names;
    for (const auto& [group, members] : groups_) names.push_back(group);
    for (const auto& host : hosts_) names.push_back(host.name);
    if (const auto found = yaml::nearest(name, names); !found.empty())
        return fmt::format("did you mean {}?", found);
    if (name.find(':') != std::string_view::npos) return "separate patterns with commas";
    std::string shown;
    for (std::size_t i = 0; i < std::min(groups_.size(), shown_groups); ++i)
        shown += (i > 0 ? ", " : "") + names[i];
    return fmt::format("groups: {}{}", shown, groups_.size() > shown_groups ? ", ..." : "");
}

std::unexpected<Error> Selection::no_match(std::string_view pattern,
                                           const std::vector<std::string>& missing) const {
    if (missing.size() == 1 && groups_.contains(missing[0])) {
        return wrong(fmt::format("group {} has no hosts", missing[0]));
    }
    if (missing.size() == 1 && missing[0] == without_brackets(pattern)) {
        return wrong(fmt::format("no host or group matches {}", quote(pattern)), near(pattern));
    }
    return wrong(fmt::format("{}: no host or group matches {}", quote(pattern),
                             ellipsize(printable(fold(missing)), 200)),
                 near(missing[0]));
}

Result<Indexes> Selection::result(std::string_view limit) const {
    if (!positive_) {
        return wrong(fmt::format("{} only takes hosts away", quote(limit)),
                     fmt::format("write all,{}", trim(limit)));
    }
    Indexes chosen;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        const bool kept = std::ranges::all_of(kept_, [i](const Mask& mask) { return mask[i]; });
        if (added_[i] && kept && !dropped_[i]) chosen.push_back(i);
    }
    if (chosen.empty()) return wrong(fmt::format("{} leaves no host", quote(limit)));
    return chosen;
}

}  // namespace

bool glob(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0;
    std::size_t star = std::string_view::npos,
                retry = 0;  // the last `*`, and where the text behind it is tried next
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            retry = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++retry;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

Result<std::vector<std::size_t>> select_hosts(std::string_view limit, const std::vector<Host>& hosts,
                                              const std::map<std::string, std::vector<std::size_t>>& groups) {
    Selection selection(hosts, groups);
    if (auto added = selection.add_limit(limit); !added) return std::unexpected(added.error());
    return selection.result(limit);
}

}  // namespace cleanslate::inventory
