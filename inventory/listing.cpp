// The JSON form: what `ansible-inventory --list` and inventory scripts print.
#include <fmt/format.h>

#include "base/text.hpp"
#include "inventory/draft.hpp"

namespace cleanslate::inventory {
namespace {

class Reader {
  public:
    explicit Reader(DraftBuilder& builder) : builder_(builder) {}

    Status read(const yaml::Node& root);

  private:
    Status group(const yaml::Node& key, const yaml::Node& content);
    Status hosts(std::size_t group, const yaml::Node& list);
    Status children(std::size_t group, const yaml::Node& list);
    Status host_variables(const yaml::Node& hostvars);
    Status expect_list(const yaml::Node& node, std::string_view what) const;

    DraftBuilder& builder_;
};

Status Reader::expect_list(const yaml::Node& node, std::string_view what) const {
    if (node.is_sequence()) return {};
    return builder_.wrong(node.mark,
                          fmt::format("{}: found {} where a list belongs", what, yaml::describe(node)));
}

Status Reader::hosts(std::size_t group, const yaml::Node& list) {
    if (auto fine = expect_list(list, "hosts"); !fine) return fine;
    for (const yaml::Node& name : list.items())
        if (auto fine = builder_.listed_host(group, name); !fine) return fine;
    return {};
}

Status Reader::children(std::size_t group, const yaml::Node& list) {
    if (auto fine = expect_list(list, "children"); !fine) return fine;
    for (const yaml::Node& name : list.items()) {
        const auto child = builder_.group(name);
        if (!child) return std::unexpected(child.error());
        builder_.add_child(group, *child, name.mark);
    }
    return {};
}

// A list is the group's hosts, and a mapping without a key of a group the variables of a host of its name.
Status Reader::group(const yaml::Node& key, const yaml::Node& content) {
    const auto index = builder_.group(key);
    if (!index) return std::unexpected(index.error());
    if (!content.is_mapping()) return hosts(*index, content);
    const yaml::Node* const host_list = content.find("hosts");
    const yaml::Node* const variables = content.find("vars");
    const yaml::Node* const child_list = content.find("children");
    if (host_list == nullptr && variables == nullptr && child_list == nullptr) {
        if (auto fine = builder_.listed_host(*index, key); !fine) return fine;
        return builder_.group_variables(*index, content);
    }
    if (host_list != nullptr)
        if (auto fine = hosts(*index, *host_list); !fine) return fine;
    if (variables != nullptr)
        if (auto fine = builder_.group_variables(*index, *variables); !fine) return fine;
    return child_list == nullptr ? Status() : children(*index, *child_list);
}

// Of hosts that are in no group nothing is said: Ansible passes over them, too.
Status Reader::host_variables(const yaml::Node& hostvars) {
    if (!hostvars.is_mapping())
        return builder_.wrong(hostvars.mark, "_meta.hostvars: found no mapping of hosts");
    for (const auto& [name, variables] : hostvars.entries()) {
        const auto& known = builder_.draft().host_index;
        const auto found = known.find(name.text());
        if (found == known.end()) {
            builder_.pass_over(name.mark,
                               fmt::format("variables of {}, which is in no group", printable(name.text())));
            continue;
        }
        if (auto fine = builder_.host_variables(found->second, variables); !fine) return fine;
    }
    return {};
}

Status Reader::read(const yaml::Node& root) {
    const yaml::Node* hostvars = nullptr;
    for (const auto& [key, value] : root.entries()) {
        if (key.text() == "_meta")
            hostvars = value.find("hostvars");
        else if (auto fine = group(key, value); !fine)
            return fine;
    }
    if (hostvars != nullptr) return host_variables(*hostvars);
    return builder_.wrong(root.mark, "its answer has no _meta.hostvars",
                          "let it print them, {\"_meta\": {\"hostvars\": {}}} where no host has any: it is "
                          "not asked with --host for each of them");
}

}  // namespace

Status read_listing(const yaml::Node& root, DraftBuilder& builder) { return Reader(builder).read(root); }

}  // namespace cleanslate::inventory
