#include "inventory/inventory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "base/yaml.hpp"
#include "inventory/draft.hpp"
#include "inventory/inheritance.hpp"
#include "inventory/limit.hpp"
#include "inventory/node_set.hpp"
#include "inventory/sources.hpp"
#include "inventory/vars_files.hpp"

namespace cleanslate::inventory {
namespace {

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
        error.remedy = "this looks like Ansible's INI form: let Ansible read it, with -i ansible:PATH";
    }
    return in_phase(std::move(error), "inventory");
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

// Whoever can run nothing.
class NoPrograms : public Programs {
  public:
    Result<std::string> ansible_inventory(const std::string& path) override { return refuse(path); }
    Result<std::string> script(const std::string& path) override { return refuse(path); }

  private:
    static std::unexpected<Error> refuse(const std::string& path) {
        return fail("inventory", fmt::format("{}: no program is run here", printable(path)));
    }
};

Status read_source(const Source& source, DraftBuilder& builder) {
    if (source.text.starts_with("$ANSIBLE_VAULT;"))
        return fail("inventory", fmt::format("{}: is encrypted by Ansible's vault", printable(source.name)),
                    "let Ansible open it: -i ansible:PATH, with ANSIBLE_VAULT_PASSWORD_FILE");
    const bool is_answer = source.form == Source::Form::listing;
    if (is_answer && !trim(source.text).starts_with('{'))
        return fail("inventory", fmt::format("{}: its answer is no JSON", yaml::place(source.name, {})),
                    "it is asked with --list, and answers with one JSON object");
    auto document = yaml::parse(source.text, source.name);
    if (!document) return std::unexpected(document.error());
    const yaml::Node& root = builder.begin(source.name, std::move(*document));
    if (root.is_null() && source.may_be_empty) return {};
    if (!root.is_mapping())
        return fail("inventory",
                    root.is_null() ? fmt::format("{}: an empty inventory", yaml::place(source.name, {}))
                                   : fmt::format("{}: found a {} where the groups belong",
                                                 yaml::place(source.name, root.mark), yaml::describe(root)),
                    "begin with all: and hosts: under it");
    auto fine = is_answer ? read_listing(root, builder) : read_groups(root, builder);
    builder.end();
    return fine;
}

std::string names_of(const std::vector<Source>& sources) {
    std::string names;
    for (const Source& source : sources) names += (names.empty() ? "" : ", ") + source.name;
    return ellipsize(names, max_note);
}

}  // namespace

Result<Inventory> Inventory::read(Sources sources) {
    DraftBuilder builder;
    const std::string names = names_of(sources.all);
    for (Source& source : sources.all) {
        if (auto fine = read_source(source, builder); !fine)
            return std::unexpected(as_inventory_error(fine.error(), source.text));
        source.text = {};
    }
    const auto refused = [](Error error) {
        return std::unexpected(as_inventory_error(std::move(error), {}));
    };
    set_ungrouped(builder.draft());
    if (auto fine = read_vars_files(sources.folders, builder); !fine) return refused(fine.error());
    Inventory inventory;
    inventory.notes_ = std::move(sources.notes);
    Draft draft = builder.finish(inventory.notes_);
    auto resolved = resolve(draft);
    if (!resolved) return refused(resolved.error());
    if (resolved->hosts.empty()) {
        return refused({"inventory",
                        {},
                        fmt::format("{}: no host in it", yaml::place(names, {})),
                        "name hosts as keys under hosts:"});
    }
    std::ranges::move(resolved->notes, std::back_inserter(inventory.notes_));
    note_groups(draft, *resolved, names, inventory.notes_);
    note_shared_addresses(resolved->hosts, names, inventory.notes_);
    inventory.hosts_ = std::move(resolved->hosts);
    inventory.groups_ = std::move(resolved->groups);
    inventory.unusable_ = std::move(resolved->unusable);
    return inventory;
}

Result<Inventory> Inventory::parse(std::string_view yaml, std::string_view name) {
    Sources sources;
    sources.all.push_back({Source::Form::groups, std::string(name), std::string(yaml), false});
    return read(std::move(sources));
}

Result<Inventory> Inventory::load(const std::vector<std::string>& paths, Programs& programs) {
    auto sources = read_sources(paths, programs);
    if (!sources) return std::unexpected(sources.error());
    return read(std::move(*sources));
}

Result<Inventory> Inventory::load(const std::vector<std::string>& paths) {
    NoPrograms none;
    return load(paths, none);
}

Result<Inventory> Inventory::load(const std::string& path) { return load(std::vector{path}); }

// Nothing is known of how a host is reached or judged that has a setting which can not be used: it is refused
// with all that was selected with it.
Status Inventory::check_usable(const std::vector<std::size_t>& chosen) const {
    if (unusable_.empty()) return {};
    const Error* first = nullptr;
    std::vector<std::string> names, others;
    for (const std::size_t index : chosen) {
        const auto found = unusable_.find(index);
        if (found == unusable_.end()) continue;
        if (first == nullptr) first = found->second.get();
        (found->second.get() == first ? names : others).push_back(hosts_[index].name);
    }
    if (first == nullptr) return {};
    Error error = *first;
    error.kind = "inventory";
    error.message += fmt::format(" (host {})", ellipsize(printable(fold(names)), 60));
    if (!others.empty())
        error.message += fmt::format("; {} cannot be used either, for other reasons",
                                     ellipsize(printable(fold(others)), 60));
    return std::unexpected(in_phase(std::move(error), "inventory"));
}

Result<std::vector<Host>> Inventory::select(std::string_view limit) const& {
    const auto chosen = select_hosts(limit, hosts_, groups_);
    if (!chosen) return std::unexpected(chosen.error());
    if (auto fine = check_usable(*chosen); !fine) return std::unexpected(fine.error());
    return hosts_at(*chosen);
}

Result<std::vector<Host>> Inventory::select_for_names(std::string_view limit,
                                                      std::vector<std::string>& notes) const {
    const auto chosen = select_hosts(limit, hosts_, groups_);
    if (!chosen) return std::unexpected(chosen.error());
    if (const auto fine = check_usable(*chosen); !fine)
        notes.push_back(fine.error().message +
                        (fine.error().remedy.empty() ? "" : " -> " + fine.error().remedy));
    return hosts_at(*chosen);
}

std::vector<Host> Inventory::hosts_at(const std::vector<std::size_t>& chosen) const {
    std::vector<Host> hosts;
    hosts.reserve(chosen.size());
    for (const std::size_t index : chosen) hosts.push_back(hosts_[index]);
    return hosts;
}

Result<std::vector<Host>> Inventory::select(std::string_view limit) && {
    const auto chosen = select_hosts(limit, hosts_, groups_);
    if (!chosen) return std::unexpected(chosen.error());
    if (auto fine = check_usable(*chosen); !fine) return std::unexpected(fine.error());
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
