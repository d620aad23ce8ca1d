#include "inventory/inventory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "inventory/draft.hpp"
#include "inventory/inheritance.hpp"
#include "inventory/limit.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::size_t max_file = 64U << 20;
constexpr std::size_t max_notes_of_a_kind = 5;
constexpr std::size_t max_note = 400;  // code points

// Ansible's other form begins with [group] on a line of its own.
bool looks_like_ini(std::string_view text) {
    for (auto line : split(text.substr(0, 4096), '\n')) {
        line = trim(line);
        if (line.empty() || line.front() == '#' || line.front() == ';') continue;
        return line.size() > 2 && line.front() == '[' && line.back() == ']' &&
               line.find_first_of(",{\"'") == line.npos;
    }
    return false;
}

Error as_inventory_error(Error error, std::string_view text) {
    error.kind = "inventory";
    if (looks_like_ini(text)) {
        error.remedy =
            "this looks like Ansible's INI form; convert it with: ansible-inventory -i FILE --list --yaml";
    }
    return in_phase(std::move(error), "inventory");
}

void note_unknown_variables(const Draft& draft, std::string_view name, std::vector<std::string>& notes) {
    if (draft.unknown_variables.empty()) return;
    std::string list;
    for (const auto& [variable, mark] : draft.unknown_variables) {
        list += fmt::format("{}{} ({}:{})", list.empty() ? "" : ", ", printable(variable), mark.line,
                            mark.column);
    }
    notes.push_back(fmt::format("{}: variables that mean nothing here: {}", printable(name), list));
}

void note_groups(const Draft& draft, const Resolved& resolved, std::string_view name,
                 std::vector<std::string>& notes) {
    std::vector<std::string> empty, both;
    for (const auto& group : draft.groups) {
        const auto members = resolved.groups.find(group.name);
        const bool none = members == resolved.groups.end() || members->second.empty();
        if (none && group.name != "ungrouped") empty.push_back(group.name);
        if (draft.host_index.contains(group.name)) both.push_back(group.name);
    }
    const auto note = [&](const std::vector<std::string>& names, std::string_view what) {
        if (names.empty()) return;
        notes.push_back(ellipsize(fmt::format("{}: {}: {}", printable(name), what, fold(names)), max_note));
    };
    note(empty, "groups without a host");
    note(both, "a host and a group at once, a limit selects both");
}

// Where a host is reached; the text belongs to the host.
struct Destination {
    std::string_view address;
    std::uint16_t port = 22;
    bool operator==(const Destination&) const = default;
};
struct HashDestination {
    std::size_t operator()(const Destination& to) const {
        return std::hash<std::string_view>()(to.address) + to.port;
    }
};

// Two names for one machine would have two look after it at once.
void note_shared_addresses(const std::vector<Host>& hosts, std::string_view name,
                           std::vector<std::string>& notes) {
    std::unordered_map<Destination, std::size_t, HashDestination> first;
    std::map<std::size_t, std::vector<std::string>> shared;  // first host -> all of that address
    first.reserve(hosts.size());
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const auto [found, added] =
            first.emplace(Destination{hosts[i].address, hosts[i].port.value_or(22)}, i);
        if (added) continue;
        auto& names = shared[found->second];
        if (names.empty()) names.push_back(hosts[found->second].name);
        names.push_back(hosts[i].name);
    }
    std::size_t shown = 0;
    for (const auto& [index, names] : shared) {
        if (++shown > max_notes_of_a_kind) {
            notes.push_back(fmt::format("{}: {} more addresses have several names", printable(name),
                                        shared.size() - max_notes_of_a_kind));
            break;
        }
        const Host& host = hosts[index];
        notes.push_back(ellipsize(fmt::format("{}: {} have the same address {} and port", printable(name),
                                              fold(names), host.address),
                                  max_note));
    }
}

// The document's memory is given back at its end.
Result<Draft> draft_of(std::string_view yaml, std::string_view name) {
    const auto document = yaml::parse(yaml, name);
    if (!document) return std::unexpected(document.error());
    const yaml::Node& root = document->root();
    if (root.is_mapping()) return read_draft(root, name);
    return fail("inventory",
                root.is_null() ? fmt::format("{}: an empty inventory", yaml::place(name, {}))
                               : fmt::format("{}: found a {} where the groups belong",
                                             yaml::place(name, root.mark), yaml::describe(root)),
                "begin with all: and hosts: under it");
}

}  // namespace

Result<Inventory> Inventory::parse(std::string_view yaml, std::string_view name) {
    const auto refused = [&](Error error) {
        return std::unexpected(as_inventory_error(std::move(error), yaml));
    };
    auto draft = draft_of(yaml, name);
    if (!draft) return refused(draft.error());
    auto resolved = resolve(*draft, name);
    if (!resolved) return refused(resolved.error());
    if (resolved->hosts.empty()) {
        return refused({"inventory",
                        {},
                        fmt::format("{}: no host in it", yaml::place(name, {})),
                        "name hosts as keys under hosts:"});
    }
    Inventory inventory;
    note_unknown_variables(*draft, name, inventory.notes_);
    note_groups(*draft, *resolved, name, inventory.notes_);
    note_shared_addresses(resolved->hosts, name, inventory.notes_);
    inventory.hosts_ = std::move(resolved->hosts);
    inventory.groups_ = std::move(resolved->groups);
    return inventory;
}

Result<Inventory> Inventory::load(const std::string& path) {
    const auto text = read_file(path, max_file);
    if (!text)
        return std::unexpected(Error{"inventory", "inventory", text.error().message, text.error().remedy});
    return parse(*text, path == "-" ? "standard input" : path);
}

Result<std::vector<Host>> Inventory::select(std::string_view limit) const& {
    const auto chosen = select_hosts(limit, hosts_, groups_);
    if (!chosen) return std::unexpected(chosen.error());
    std::vector<Host> selected;
    selected.reserve(chosen->size());
    for (const std::size_t index : *chosen) selected.push_back(hosts_[index]);
    return selected;
}

Result<std::vector<Host>> Inventory::select(std::string_view limit) && {
    const auto chosen = select_hosts(limit, hosts_, groups_);
    if (!chosen) return std::unexpected(chosen.error());
    groups_.clear();
    // In ascending order, so that what moves to the front was looked at before.
    std::size_t count = 0;
    for (const std::size_t index : *chosen) {
        if (index != count) hosts_[count] = std::move(hosts_[index]);
        ++count;
    }
    hosts_.resize(count);
    if (count < hosts_.capacity() / 2) hosts_.shrink_to_fit();
    return std::exchange(hosts_, {});
}

}  // namespace cleanslate::inventory
