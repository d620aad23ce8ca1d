#include "inventory/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "inventory/names.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::size_t max_hosts = 1'000'000;  // a single name that is there already counts no more
constexpr std::size_t all = 0;                // the index of the group "all"
constexpr std::array<std::string_view, 3> group_keys{"hosts", "vars", "children"};

std::string a_kind(const yaml::Node& node) {
    return node.is_null() ? "nothing" : fmt::format("a {}", yaml::describe(node));
}

class Reader {
  public:
    explicit Reader(std::string_view file) : file_(file), variables_(file) {}

    Result<Draft> read(const yaml::Node& root);

  private:
    std::unexpected<Error> wrong(yaml::Mark mark, std::string_view problem, std::string remedy = {}) const {
        return fail("inventory", fmt::format("{}: {}", yaml::place(file_, mark), problem), std::move(remedy));
    }
    std::unexpected<Error> at(yaml::Mark mark, const Error& error) const {
        return std::unexpected(with_context(error, yaml::place(file_, mark)));
    }
    Status expect_mapping(const yaml::Node& node, std::string_view what, std::string_view example) const;
    Result<std::size_t> group(const yaml::Node& key);
    Status group_content(std::size_t index, const yaml::Node& node);
    Status children(std::size_t parent, const yaml::Node& node);
    Status hosts(std::size_t group, const yaml::Node& node);
    Status host_key(std::size_t group, const yaml::Node& key, const yaml::Node& value);
    Result<std::vector<std::string>> names_of(const yaml::Node& key) const;
    std::size_t host(const std::string& name, yaml::Mark mark);

    std::string_view file_;
    VariableReader variables_;
    Draft draft_;
};

Status Reader::expect_mapping(const yaml::Node& node, std::string_view what, std::string_view example) const {
    if (node.is_mapping() || node.is_null()) return {};
    return wrong(node.mark, fmt::format("{}: found {} where a mapping belongs", what, a_kind(node)),
                 fmt::format("write {}", example));
}

// The index of the group that `key` names, which is made where it is new.
Result<std::size_t> Reader::group(const yaml::Node& key) {
    const auto [found, added] = draft_.group_index.emplace(std::string(key.text()), draft_.groups.size());
    if (!added) return found->second;
    if (auto fine = check_group_name(key.text()); !fine) return at(key.mark, fine.error());
    Draft::Group made;
    made.name = key.text();
    made.mark = key.mark;
    draft_.groups.push_back(std::move(made));
    return found->second;
}

Status Reader::group_content(std::size_t index, const yaml::Node& node) {
    const std::string name = draft_.groups[index].name;
    if (auto fine = expect_mapping(node, "group " + name, "hosts:, vars: or children: under it"); !fine)
        return fine;
    if (node.entries().empty()) return {};
    yaml::Mark& content = draft_.groups[index].content;
    if (content.line != 0) {
        return wrong(
            node.mark,
            fmt::format("group {} has its content at {}:{} already", name, content.line, content.column),
            fmt::format("keep it in one place, and elsewhere write only {}:", name));
    }
    content = node.mark;
    for (const auto& [key, value] : node.entries()) {
        if (key.text() == "hosts") {
            if (auto fine = hosts(index, value); !fine) return fine;
        } else if (key.text() == "children") {
            if (auto fine = children(index, value); !fine) return fine;
        } else if (key.text() == "vars") {
            auto read = variables_.read(value);
            if (!read) return std::unexpected(read.error());
            draft_.groups[index].variables = std::move(*read);
        } else {
            const auto near = yaml::nearest(key.text(), {group_keys.begin(), group_keys.end()});
            return wrong(key.mark, fmt::format("unknown key {} in group {}", printable(key.text()), name),
                         near.empty() ? "a group has hosts, vars and children"
                                      : fmt::format("did you mean {}?", near));
        }
    }
    return {};
}

Status Reader::children(std::size_t parent, const yaml::Node& node) {
    if (auto fine = expect_mapping(node, "children", "each group as a key, such as rack1:"); !fine)
        return fine;
    for (const auto& [key, value] : node.entries()) {
        const auto child = group(key);
        if (!child) return std::unexpected(child.error());
        draft_.groups[*child].parents.push_back({parent, key.mark});
        if (auto fine = group_content(*child, value); !fine) return fine;
    }
    return {};
}

Status Reader::hosts(std::size_t group, const yaml::Node& node) {
    if (auto fine = expect_mapping(node, "hosts", "each host as a key, such as gpu01:"); !fine) return fine;
    for (const auto& [key, value] : node.entries()) {
        if (auto fine = host_key(group, key, value); !fine) return fine;
    }
    return {};
}

Result<std::vector<std::string>> Reader::names_of(const yaml::Node& key) const {
    const auto literal = without_brackets(key.text());
    if (is_ipv6(literal)) return std::vector{std::string(literal)};
    if (split_terms(key.text()).size() > 1) {
        return wrong(key.mark,
                     fmt::format("\"{}\": several names in one key", ellipsize(printable(key.text()), 60)),
                     "write each host or range as a key of its own");
    }
    const std::size_t room = max_hosts - draft_.hosts.size();
    const bool known = draft_.host_index.contains(key.text());
    if ((room > 0 || known) && check_host_name(key.text())) return std::vector{std::string(key.text())};
    if (room == 0)
        return wrong(key.mark, fmt::format("more than {} hosts in one inventory", max_hosts),
                     "split it, and sweep the parts one after the other");
    auto names = unfold(key.text(), room);
    if (!names) return at(key.mark, names.error());
    // All names of a range are made of the same letters, but the first and the last may differ in their first
    // one.
    for (const auto& name : *names) {
        if (auto fine = check_host_name(name); !fine) return at(key.mark, fine.error());
    }
    return names;
}

std::size_t Reader::host(const std::string& name, yaml::Mark mark) {
    if (const auto found = draft_.host_index.find(name); found != draft_.host_index.end())
        return found->second;
    draft_.hosts.push_back({.name = name, .mark = mark, .groups = {}, .sources = {}});
    draft_.host_index.emplace(draft_.hosts.back().name, draft_.hosts.size() - 1);
    return draft_.hosts.size() - 1;
}

Status Reader::host_key(std::size_t group, const yaml::Node& key, const yaml::Node& value) {
    const auto names = names_of(key);
    if (!names) return std::unexpected(names.error());
    auto read = variables_.read(value);
    if (!read) return std::unexpected(read.error());
    if (!value.is_null()) draft_.variables.push_back(std::move(*read));
    for (const auto& name : *names) {
        auto& host_draft = draft_.hosts[host(name, key.mark)];
        if (host_draft.groups.empty() || host_draft.groups.back() != group)
            host_draft.groups.push_back(group);
        if (!value.is_null()) host_draft.sources.push_back({draft_.variables.size() - 1, names->size() == 1});
    }
    return {};
}

Result<Draft> Reader::read(const yaml::Node& root) {
    Draft::Group top;
    top.name = "all";
    draft_.groups.push_back(std::move(top));
    draft_.group_index.emplace("all", all);
    for (const auto& [key, value] : root.entries()) {
        if (std::ranges::find(group_keys, key.text()) != group_keys.end()) {
            return wrong(key.mark, fmt::format("{} at the top of the file, where groups belong", key.text()),
                         fmt::format("put it under all: or another group, such as\nall:\n  {}:", key.text()));
        }
        const auto index = group(key);
        if (!index) return std::unexpected(index.error());
        if (auto fine = group_content(*index, value); !fine) return std::unexpected(fine.error());
    }
    for (std::size_t i = 1; i < draft_.groups.size(); ++i) {
        auto& made = draft_.groups[i];
        if (made.parents.empty()) made.parents.push_back({all, made.mark});
    }
    draft_.unknown_variables = variables_.unknown();
    return std::move(draft_);
}

}  // namespace

Result<Draft> read_draft(const yaml::Node& root, std::string_view file) { return Reader(file).read(root); }

}  // namespace cleanslate::inventory
