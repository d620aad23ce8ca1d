#include "inventory/inheritance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "inventory/settings.hpp"

namespace cleanslate::inventory {
namespace {

using Indexes = std::vector<std::size_t>;

constexpr std::size_t all = 0;  // the index of the group "all"
constexpr std::size_t max_depth = 64;
constexpr std::size_t max_contradictions = 5;  // notes

std::unexpected<Error> wrong(const Draft& draft, const Place& where, std::string_view problem,
                             std::string remedy) {
    const std::string_view file = draft.files[where.file];
    return fail("inventory", fmt::format("{}: {}", yaml::place(file, where.mark), problem),
                std::move(remedy));
}

// `open` marks the groups that have a parent among themselves: going up from any of them ends in a circle.
std::unexpected<Error> name_circle(const Draft& draft, const std::vector<std::size_t>& open) {
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
    return wrong(draft, open_parent(group)->place,
                 fmt::format("group {} contains itself: {}", draft.groups[group].name, names),
                 "take one of them out of the other's children");
}

// Gives each group its depth, parents before children.
Status set_depths(Draft& draft) {
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
    if (done != draft.groups.size()) return name_circle(draft, open);
    const auto deep =
        std::ranges::find_if(draft.groups, [](const auto& group) { return group.depth > max_depth; });
    if (deep == draft.groups.end()) return {};
    return wrong(draft, deep->place,
                 fmt::format("group {} is more than {} levels below all", deep->name, max_depth), "");
}

// What the hosts of one set of direct groups have in common.
struct Common {
    Indexes groups;  // direct and above, farthest first
    Settings settings;
    std::uint16_t level = 0;             // of the nearest of them
    Host host;                           // of one that says nothing of its own
    std::shared_ptr<const Error> error;  // why its settings can not be used
    bool by_name = false;                // they depend on the name of the host
};

class Inheritance {
  public:
    explicit Inheritance(const Draft& draft) : draft_(draft), seen_(draft.groups.size()) {
        for (const auto& group : draft.groups)
            for (const auto& beside : group.beside) folders_ = std::max(folders_, beside.folder + 1);
    }

    const Common& of(Indexes direct) {
        std::ranges::sort(direct);
        const auto [found, added] = known_.try_emplace(std::move(direct));
        if (added) make(found->first, found->second);
        return found->second;
    }

    // The settings of a host into `out`; its name is there. Else why they can not be used.
    std::shared_ptr<const Error> settle(std::size_t index, const Common& common, Host& out) {
        const auto& from = draft_.hosts[index];
        const auto beside = draft_.beside_hosts.find(index);
        const bool has_files = beside != draft_.beside_hosts.end();
        std::string name = std::move(out.name);
        if (from.blocks.empty() && from.key_port == 0 && !has_files && !common.by_name) {
            out = common.host;
            out.name = std::move(name);
            if (out.address.empty()) out.address = out.name;
            return common.error;
        }
        out = Host{};
        out.name = std::move(name);
        Settings settings = common.settings;
        std::uint16_t level = common.level;
        if (from.key_port > 0) settings.put_key_port(from.key_port);
        if (from.blocks.size() > 1) note_contradiction(from);
        for (const auto& block : from.blocks) put(block, settings, ++level);
        if (has_files)
            for (const auto& file : beside->second) put(file.block, settings, ++level);
        const auto applied = settings.apply(draft_.files, out);
        if (applied) return nullptr;
        std::string own_name = std::move(out.name);
        out = Host{};
        out.name = out.address = std::move(own_name);
        return shared(applied.error());
    }

    std::vector<std::string> take_notes() { return std::move(notes_); }

  private:
    // What one file says twice; of several files it is their purpose.
    void note_contradiction(const Draft::Host& host) {
        if (notes_.size() >= max_contradictions) return;
        std::array<const Bound*, variable_count> said{};
        for (const auto& block : host.blocks)
            for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
                const Bound& bound = draft_.bound[i];
                const Bound* const before =
                    std::exchange(said[static_cast<std::size_t>(bound.variable)], &bound);
                const bool differs = before != nullptr && before->file == bound.file &&
                                     before->entry->second.is_scalar() &&
                                     before->entry->second.text() != bound.entry->second.text();
                if (!differs) continue;
                const auto place_of = [&](const Bound& one) {
                    return yaml::place(draft_.files[one.file], one.entry->first.mark);
                };
                notes_.push_back(fmt::format(
                    "{}: {} of host {} is something else at {}: the later one counts", place_of(bound),
                    printable(bound.entry->first.text()), host.name, place_of(*before)));
                return;
            }
    }

    void put(const Draft::Block& block, Settings& settings, std::uint16_t level) const {
        for (std::uint32_t i = block.first; i < block.first + block.count; ++i)
            settings.put(draft_.bound[i], level);
    }

    void put_beside(std::size_t group, std::uint32_t folder, Common& made) {
        for (const auto& beside : draft_.groups[group].beside)
            if (beside.folder == folder) put(beside.block, made.settings, ++made.level);
    }

    void make(const Indexes& direct, Common& made) {
        made.groups = direct;
        ++round_;
        for (const std::size_t group : direct) seen_[group] = round_;
        for (std::size_t i = 0; i < made.groups.size(); ++i) {
            for (const auto& edge : draft_.groups[made.groups[i]].parents) {
                if (std::exchange(seen_[edge.group], round_) != round_) made.groups.push_back(edge.group);
            }
        }
        std::ranges::sort(made.groups, {}, [&](std::size_t index) {
            const auto& group = draft_.groups[index];
            return std::tuple(group.depth, group.priority, std::string_view(group.name));
        });
        for (const std::size_t group : made.groups) {  // the first is "all"
            ++made.level;
            for (const auto& block : draft_.groups[group].blocks) put(block, made.settings, made.level);
        }
        for (std::uint32_t folder = 0; folder < folders_; ++folder) put_beside(all, folder, made);
        for (std::uint32_t folder = 0; folder < folders_; ++folder)
            for (const std::size_t group : made.groups)
                if (group != all) put_beside(group, folder, made);
        made.by_name = made.settings.depend_on_the_name();
        if (made.by_name) return;
        if (const auto applied = made.settings.apply(draft_.files, made.host); !applied) {
            made.host = Host{};
            made.error = shared(applied.error());
        }
    }

    // Of the same error of many hosts there is one.
    std::shared_ptr<const Error> shared(const Error& error) {
        if (last_ == nullptr || last_->message != error.message) last_ = std::make_shared<const Error>(error);
        return last_;
    }

    const Draft& draft_;
    std::vector<std::size_t> seen_;  // the round that met a group last
    std::size_t round_ = 0;
    std::uint32_t folders_ = 0;  // with group_vars
    std::map<Indexes, Common> known_;
    std::shared_ptr<const Error> last_;
    std::vector<std::string> notes_;
};

}  // namespace

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
            draft.group_index.emplace("ungrouped", ungrouped);
            draft.groups.push_back(std::move(made));
        }
        host.groups.push_back(ungrouped);
    }
}

Result<Resolved> resolve(Draft& draft) {
    set_ungrouped(draft);
    if (auto fine = set_depths(draft); !fine) return std::unexpected(fine.error());
    Resolved out;
    std::vector<Indexes> members(draft.groups.size());
    out.hosts.reserve(draft.hosts.size());
    Inheritance inheritance(draft);
    for (std::size_t index = 0; index < draft.hosts.size(); ++index) {
        const Common& common = inheritance.of(draft.hosts[index].groups);
        for (const std::size_t group : common.groups) members[group].push_back(index);
        Host host;
        host.name = draft.hosts[index].name;
        if (auto error = inheritance.settle(index, common, host))
            out.unusable.emplace(index, std::move(error));
        out.hosts.push_back(std::move(host));
    }
    out.notes = inheritance.take_notes();
    for (std::size_t i = 0; i < draft.groups.size(); ++i) {
        if (members[i].empty() && draft.groups[i].name == "ungrouped") continue;
        out.groups.emplace(draft.groups[i].name, std::move(members[i]));
    }
    return out;
}

}  // namespace cleanslate::inventory
