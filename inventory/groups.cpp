// The YAML form of an inventory.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "inventory/draft.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::array<std::string_view, 3> group_keys{"hosts", "vars", "children"};

std::string a_kind(const yaml::Node& node) {
    return node.is_null() ? "nothing" : fmt::format("a {}", yaml::describe(node));
}

class Reader {
  public:
    explicit Reader(DraftBuilder& builder) : builder_(builder) {}

    Status read(const yaml::Node& root);

  private:
    Status group_content(std::size_t index, std::string_view name, const yaml::Node& node);
    Status children(std::size_t parent, const yaml::Node& node);
    Status hosts(std::size_t group, const yaml::Node& node);
    Status other_key(const yaml::Node& key, std::string_view group);

    DraftBuilder& builder_;
};

// What Ansible passes over, but for what looks like a slip: it would leave hosts out.
Status Reader::other_key(const yaml::Node& key, std::string_view group) {
    const auto near = yaml::nearest(key.text(), {group_keys.begin(), group_keys.end()}, 1);
    if (!near.empty())
        return builder_.wrong(
            key.mark, fmt::format("unknown key {} in group {}", printable(key.text()), printable(group)),
            fmt::format("did you mean {}?", near));
    builder_.pass_over(key.mark, fmt::format("the key {} in group {}, which has hosts, vars and children",
                                             printable(key.text()), printable(group)));
    return {};
}

Status Reader::group_content(std::size_t index, std::string_view name, const yaml::Node& node) {
    if (node.is_null()) return {};
    if (!node.is_mapping())
        return builder_.wrong(
            node.mark,
            fmt::format("group {}: found {} where a mapping belongs", printable(name), a_kind(node)),
            "write hosts:, vars: or children: under it");
    for (const auto& [key, value] : node.entries()) {
        const std::string_view section = key.text();
        auto fine = section == "hosts"      ? hosts(index, value)
                    : section == "children" ? children(index, value)
                    : section == "vars"     ? builder_.group_variables(index, value)
                                            : other_key(key, name);
        if (!fine) return fine;
    }
    return {};
}

Status Reader::children(std::size_t parent, const yaml::Node& node) {
    const auto add = [&](const yaml::Node& key, const yaml::Node& content) -> Status {
        const auto child = builder_.group(key);
        if (!child) return std::unexpected(child.error());
        builder_.add_child(parent, *child, key.mark);
        return group_content(*child, key.text(), content);
    };
    if (node.is_scalar()) return add(node, {});
    if (!node.is_mapping() && !node.is_null())
        return builder_.wrong(node.mark,
                              fmt::format("children: found {} where a mapping belongs", a_kind(node)),
                              "write each group as a key, such as rack1:");
    for (const auto& [key, value] : node.entries())
        if (auto fine = add(key, value); !fine) return fine;
    return {};
}

Status Reader::hosts(std::size_t group, const yaml::Node& node) {
    if (node.is_scalar()) return builder_.hosts(group, node, {});
    if (!node.is_mapping() && !node.is_null())
        return builder_.wrong(node.mark, fmt::format("hosts: found {} where a mapping belongs", a_kind(node)),
                              "write each host as a key, such as gpu01:");
    for (const auto& [key, value] : node.entries())
        if (auto fine = builder_.hosts(group, key, value); !fine) return fine;
    return {};
}

Status Reader::read(const yaml::Node& root) {
    if (const yaml::Node* plugin = root.find("plugin"); plugin != nullptr && plugin->is_scalar())
        return builder_.wrong(plugin->mark,
                              fmt::format("this is a plugin's configuration ({})", printable(plugin->text())),
                              "let Ansible read it: -i ansible:PATH");
    for (const auto& [key, value] : root.entries()) {
        if (std::ranges::find(group_keys, key.text()) != group_keys.end())
            return builder_.wrong(
                key.mark, fmt::format("{} at the top of the file, where groups belong", key.text()),
                fmt::format("put it under all: or another group, such as\nall:\n  {}:", key.text()));
        if (value.is_scalar()) {
            builder_.pass_over(key.mark, fmt::format("{}, which is no group", printable(key.text())));
            continue;
        }
        const auto index = builder_.group(key);
        if (!index) return std::unexpected(index.error());
        if (auto fine = group_content(*index, key.text(), value); !fine) return fine;
    }
    return {};
}

}  // namespace

Status read_groups(const yaml::Node& root, DraftBuilder& builder) { return Reader(builder).read(root); }

}  // namespace cleanslate::inventory
