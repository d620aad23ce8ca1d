#include "inventory/draft.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "inventory/host_keys.hpp"
#include "inventory/names.hpp"
#include "inventory/scalars.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::size_t max_hosts = 1'000'000;  // a single name that is there already counts no more
constexpr std::size_t max_passed_over = 10;   // notes
constexpr std::size_t max_unknown = 20;       // names in a note
constexpr std::size_t all = 0;                // the index of the group "all"

}  // namespace

Draft::Draft() {
    Group top;
    top.name = "all";
    groups.push_back(std::move(top));
    group_index.emplace("all", all);
}

const yaml::Node& DraftBuilder::begin(std::string file, yaml::Document document) {
    first_bound_ = draft_.bound.size();
    draft_.files.push_back(std::move(file));
    draft_.documents.push_back(std::move(document));
    return draft_.documents.back().root();
}

void DraftBuilder::end() {
    if (draft_.bound.size() == first_bound_) draft_.documents.pop_back();
}

std::unexpected<Error> DraftBuilder::wrong(yaml::Mark mark, std::string_view problem,
                                           std::string remedy) const {
    return fail("inventory", fmt::format("{}: {}", yaml::place(file_name(), mark), problem),
                std::move(remedy));
}

void DraftBuilder::pass_over(yaml::Mark mark, std::string_view what) {
    if (passed_over_.size() < max_passed_over)
        passed_over_.push_back(
            fmt::format("{}: passed over, as Ansible does: {}", yaml::place(file_name(), mark), what));
    else
        ++passed_over_more_;
}

Status DraftBuilder::check_key(const yaml::Node& key, std::string_view what) const {
    const Scalar kind = kind_of(key);
    if (kind == Scalar::text) return {};
    return wrong(
        key.mark,
        fmt::format("{} is {} to Ansible, and no name of a {}", printable(key.text()), describe(kind), what),
        fmt::format("put it into quotes: \"{}\":", printable(key.text())));
}

Result<std::size_t> DraftBuilder::group(const yaml::Node& key) {
    if (auto fine = check_key(key, "group"); !fine) return std::unexpected(fine.error());
    const auto [found, added] = draft_.group_index.emplace(std::string(key.text()), draft_.groups.size());
    if (!added) return found->second;
    if (auto fine = check_group_name(key.text()); !fine)
        return std::unexpected(with_context(fine.error(), yaml::place(file_name(), key.mark)));
    Draft::Group made;
    made.name = key.text();
    made.place = {file(), key.mark};
    draft_.groups.push_back(std::move(made));
    return found->second;
}

void DraftBuilder::add_child(std::size_t parent, std::size_t child, yaml::Mark mark) {
    auto& parents = draft_.groups[child].parents;
    if (std::ranges::find(parents, parent, &Draft::Edge::group) == parents.end())
        parents.push_back({parent, {file(), mark}});
}

Result<Draft::Block> DraftBuilder::block(const yaml::Node& node) {
    Draft::Block made{static_cast<std::uint32_t>(draft_.bound.size()), 0};
    if (auto fine = variables_.read(node, file_name(), file(), draft_.bound); !fine)
        return std::unexpected(fine.error());
    made.count = static_cast<std::uint32_t>(draft_.bound.size()) - made.first;
    return made;
}

Status DraftBuilder::group_variables(std::size_t group, const yaml::Node& node) {
    const auto made = block(node);
    if (!made) return std::unexpected(made.error());
    for (std::uint32_t i = made->first; i < made->first + made->count; ++i) {
        const Bound& bound = draft_.bound[i];
        if (bound.variable != Variable::priority) continue;
        const auto number = number_in(bound.entry->second);
        if (!number)
            return wrong(bound.entry->second.mark, "ansible_group_priority: found no whole number",
                         "write plain digits, such as 10");
        draft_.groups[group].priority = *number;
    }
    if (made->count > 0) draft_.groups[group].blocks.push_back(*made);
    return {};
}

std::size_t DraftBuilder::host(const std::string& name, yaml::Mark mark, std::int64_t port) {
    if (const auto found = draft_.host_index.find(name); found != draft_.host_index.end())
        return found->second;
    draft_.hosts.push_back(
        {.name = name, .place = {file(), mark}, .key_port = port, .groups = {}, .blocks = {}});
    draft_.host_index.emplace(draft_.hosts.back().name, draft_.hosts.size() - 1);
    return draft_.hosts.size() - 1;
}

Status DraftBuilder::check_room(const yaml::Node& key) const {
    if (draft_.hosts.size() < max_hosts || draft_.host_index.contains(key.text())) return {};
    return wrong(key.mark, fmt::format("more than {} hosts in one inventory", max_hosts),
                 "split it, and sweep the parts one after the other");
}

void DraftBuilder::put_into(std::size_t group, std::size_t host) {
    auto& groups = draft_.hosts[host].groups;
    if (std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
}

Status DraftBuilder::hosts(std::size_t group, const yaml::Node& key, const yaml::Node& variables) {
    if (auto fine = check_key(key, "host"); !fine) return fine;
    if (auto fine = check_room(key); !fine) return fine;
    const auto made = block(variables);
    if (!made) return std::unexpected(made.error());
    const auto put = [&](const std::string& name, std::int64_t port) {
        const std::size_t index = host(name, key.mark, port);
        put_into(group, index);
        if (made->count > 0) draft_.hosts[index].blocks.push_back(*made);
    };
    // Most keys are plain names.
    if (key.text().find_first_of(":[,") == std::string_view::npos && check_host_name(key.text())) {
        put(std::string(key.text()), 0);
        return {};
    }
    const auto read = read_host_key(key.text(), std::max<std::size_t>(max_hosts - draft_.hosts.size(), 1));
    if (!read) return std::unexpected(with_context(read.error(), yaml::place(file_name(), key.mark)));
    for (const std::string& name : read->names) put(name, read->port.value_or(0));
    return {};
}

Status DraftBuilder::listed_host(std::size_t group, const yaml::Node& name) {
    if (!name.is_scalar() || kind_of(name) != Scalar::text)
        return wrong(name.mark,
                     fmt::format("found a {} where the name of a host belongs", yaml::describe(name)));
    if (auto fine = check_room(name); !fine) return fine;
    if (auto fine = check_host_name(name.text()); !fine)
        return std::unexpected(with_context(fine.error(), yaml::place(file_name(), name.mark)));
    put_into(group, host(std::string(name.text()), name.mark, 0));
    return {};
}

Status DraftBuilder::host_variables(std::size_t host, const yaml::Node& variables) {
    const auto made = block(variables);
    if (!made) return std::unexpected(made.error());
    if (made->count > 0) draft_.hosts[host].blocks.push_back(*made);
    return {};
}

Result<Draft::Block> DraftBuilder::beside(std::string file, yaml::Document document) {
    return block(begin(std::move(file), std::move(document)));
}

Draft::Block DraftBuilder::locked(std::string file_name) {
    draft_.files.push_back(std::move(file_name));
    draft_.bound.push_back({.entry = nullptr, .file = file(), .variable = Variable::locked_file});
    return {static_cast<std::uint32_t>(draft_.bound.size() - 1), 1};
}

// Its value is in no message.
void DraftBuilder::note_password(std::vector<std::string>& notes) const {
    const auto& [name, where] = variables_.password();
    if (name.empty()) return;
    notes.push_back(
        fmt::format("{}: {}: a password in an inventory is not used: where sudo asks for one, give "
                    "--ask-become-pass",
                    yaml::place(draft_.files[where.file], where.mark), printable(name)));
}

void DraftBuilder::note_unknown(std::vector<std::string>& notes) const {
    if (variables_.unknown().empty()) return;
    std::string list;
    std::size_t shown = 0;
    for (const auto& [variable, where] : variables_.unknown()) {
        if (++shown > max_unknown) break;
        list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", printable(variable),
                            yaml::place(draft_.files[where.file], where.mark));
    }
    if (shown > max_unknown) list += fmt::format(", and {} more", variables_.unknown().size() - max_unknown);
    notes.push_back(fmt::format("variables of the inventory that mean nothing here: {}", list));
}

Draft DraftBuilder::finish(std::vector<std::string>& notes) {
    for (std::size_t i = 1; i < draft_.groups.size(); ++i) {
        auto& made = draft_.groups[i];
        if (made.parents.empty()) made.parents.push_back({all, made.place});
    }
    note_password(notes);
    note_unknown(notes);
    for (std::string& note : passed_over_) notes.push_back(std::move(note));
    if (passed_over_more_ > 0)
        notes.push_back(fmt::format("{} more things in the inventory were passed over", passed_over_more_));
    return std::move(draft_);
}

}  // namespace cleanslate::inventory
