#include "inventory/inheritance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.hpp"

namespace cleanslate::inventory {
namespace {

using Indexes = std::vector<std::size_t>;

constexpr std::size_t all = 0;  // the index of the group "all"
constexpr std::size_t max_depth = 64;

std::unexpected<Error> wrong(std::string_view file, yaml::Mark mark, std::string_view problem,
                             std::string remedy) {
    return fail("inventory", fmt::format("{}: {}", yaml::place(file, mark), problem), std::move(remedy));
}

// `open` marks the groups that have a parent among themselves: going up from any of them ends in a circle.
std::unexpected<Error> name_circle(const Draft& draft, const std::vector<std::size_t>& open,
                                   std::string_view file) {
    const auto open_parent = [&](std::size_t group) {
        const auto& parents = draft.groups[group].parents;
        return std::ranges::find_if(parents, [&](const auto& edge) { return open[edge.group] > 0; });
    };
    std::size_t group =
        static_cast<std::size_t>(std::ranges::find_if(open, [](auto n) { return n > 0; }) - open.begin());
    Indexes way;
    while (std::ranges::find(way, group) == way.end()) {
        way.push_back(group);
        group = open_parent(group)->group;
    }
    way.erase(way.begin(), std::ranges::find(way, group));
    std::string names = draft.groups[group].name;
    for (auto step = way.rbegin(); step != way.rend() && way.size() <= 10; ++step) {
        names += " > " + draft.groups[*step].name;
    }
    return wrong(file, open_parent(group)->mark,
                 fmt::format("group {} contains itself: {}", draft.groups[group].name, names),
                 "take one of them out of the other's children");
}

// Gives each group its depth, parents before children.
Status set_depths(Draft& draft, std::string_view file) {
    std::vector<Indexes> children(draft.groups.size());
    std::vector<std::size_t> open(draft.groups.size());  // parents without a depth so far
    for (std::size_t i = 0; i < draft.groups.size(); ++i) {
        for (const auto& edge : draft.groups[i].parents) children[edge.group].push_back(i);
        open[i] = draft.groups[i].parents.size();
    }
    Indexes ready;
    if (open[all] == 0) ready.push_back(all);
    std::size_t done = 0;
    for (; done < ready.size(); ++done) {
        const std::size_t parent = ready[done];
        for (const std::size_t child : children[parent]) {
            draft.groups[child].depth = std::max(draft.groups[child].depth, draft.groups[parent].depth + 1);
            if (--open[child] == 0) ready.push_back(child);
        }
    }
    if (done != draft.groups.size()) return name_circle(draft, open, file);
    const auto deep =
        std::ranges::find_if(draft.groups, [](const auto& group) { return group.depth > max_depth; });
    if (deep == draft.groups.end()) return {};
    return wrong(file, deep->mark,
                 fmt::format("group {} is more than {} levels below all", deep->name, max_depth), "");
}

// "ungrouped" has the hosts that no other group names.
void set_ungrouped(Draft& draft) {
    const auto found = draft.group_index.find("ungrouped");
    std::size_t ungrouped = found == draft.group_index.end() ? 0 : found->second;
    for (auto& host : draft.hosts) {
        const bool grouped =
            std::ranges::any_of(host.groups, [&](auto g) { return g != all && g != ungrouped; });
        std::erase_if(host.groups, [&](auto g) { return g == all || (g == ungrouped && grouped); });
        if (!host.groups.empty()) continue;
        if (ungrouped == all) {
            ungrouped = draft.groups.size();
            Draft::Group made;
            made.name = "ungrouped";
            made.parents.push_back({all, {}});
            draft.groups.push_back(std::move(made));
        }
        host.groups.push_back(ungrouped);
    }
}

// What the hosts of one set of direct groups have in common.
struct Common {
    Indexes groups;  // direct and above, farthest first
    Host inherited;
};

class Inheritance {
  public:
    explicit Inheritance(const Draft& draft) : draft_(draft), seen_(draft.groups.size()) {}

    const Common& of(Indexes direct) {
        std::ranges::sort(direct);
        const auto [found, added] = known_.try_emplace(std::move(direct));
        if (added) found->second = make(found->first);
        return found->second;
    }

  private:
    Common make(const Indexes& direct) {
        Common made{.groups = direct, .inherited = {}};
        ++round_;
        for (const std::size_t group : direct) seen_[group] = round_;
        for (std::size_t i = 0; i < made.groups.size(); ++i) {
            for (const auto& edge : draft_.groups[made.groups[i]].parents) {
                if (std::exchange(seen_[edge.group], round_) != round_) made.groups.push_back(edge.group);
            }
        }
        std::ranges::sort(made.groups, {}, [&](std::size_t index) {
            const auto& group = draft_.groups[index];
            return std::tuple(group.depth, group.variables.priority ? group.variables.priority->value : 1,
                              std::string_view(group.name));
        });
        for (const std::size_t group : made.groups) apply(draft_.groups[group].variables, made.inherited);
        return made;
    }

    const Draft& draft_;
    std::vector<std::size_t> seen_;  // the round that met a group last
    std::size_t round_ = 0;
    std::map<Indexes, Common> known_;
};

// Puts a host's own variables over what it inherits: those behind a range first, then those behind its own
// name.
Status apply_own(const Draft& draft, const Draft::Host& from, std::string_view file, Host& host) {
    for (const bool exact : {false, true}) {
        std::vector<const Variables*> applied;
        for (const auto& source : from.sources) {
            if (source.exact != exact) continue;
            const Variables& own = draft.variables[source.variables];
            for (const Variables* before : applied) {
                const auto found = conflict(*before, own);
                if (!found) continue;
                return wrong(file, found->second,
                             fmt::format("{} of host {} is something else at {}:{}", found->name, from.name,
                                         found->first.line, found->first.column),
                             "give a host's variables in one place");
            }
            applied.push_back(&own);
            apply(own, host);
        }
    }
    return {};
}

}  // namespace

Result<Resolved> resolve(Draft& draft, std::string_view file) {
    if (auto fine = set_depths(draft, file); !fine) return std::unexpected(fine.error());
    set_ungrouped(draft);
    Resolved out;
    std::vector<Indexes> members(draft.groups.size());
    out.hosts.reserve(draft.hosts.size());
    Inheritance inheritance(draft);
    for (const auto& from : draft.hosts) {
        const Common& common = inheritance.of(from.groups);
        for (const std::size_t group : common.groups) members[group].push_back(out.hosts.size());
        Host host = common.inherited;
        host.name = from.name;
        if (auto fine = apply_own(draft, from, file, host); !fine) return std::unexpected(fine.error());
        if (host.address.empty()) host.address = host.name;
        out.hosts.push_back(std::move(host));
    }
    for (std::size_t i = 0; i < draft.groups.size(); ++i) {
        if (members[i].empty() && draft.groups[i].name == "ungrouped") continue;
        out.groups.emplace(draft.groups[i].name, std::move(members[i]));
    }
    return out;
}

}  // namespace cleanslate::inventory
