#include "controller/command_outline.hpp"

#include "base/text.hpp"
#include "controller/command_tree.hpp"
#include "controller/option_groups.hpp"

namespace cleanslate::controller {
namespace {

OptionNode node_of(const CLI::Option& option) {
    OptionNode node;
    node.positional = option.get_positional();
    node.description = option.get_description();
    node.group = option.get_group();
    if (node.positional) {
        node.names.push_back(option.get_name(true, false));
        node.value = option.get_type_name() == "TEXT" ? node.names.front() : option.get_type_name();
        return node;
    }
    for (const std::string& name : option.get_snames()) node.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) node.names.push_back("--" + name);
    if (option.get_type_size() != 0) node.value = option.get_type_name();
    return node;
}

std::string usage_of(const CLI::App& app) {
    constexpr std::string_view before = "Usage: ";
    const std::string line = HelpFormatter().make_usage(&app, "");
    return std::string(trim(std::string_view(line).substr(before.size())));
}

CommandNode node_of(const CLI::App& app) {
    CommandNode node{app.get_name(), usage_of(app), app.get_description(), app.get_footer(), {}, {}};
    for (const CLI::Option* option : app.get_options())
        if (!option->get_group().empty()) node.options.push_back(node_of(*option));
    for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; }))
        node.children.push_back(node_of(*child));
    return node;
}

}  // namespace

CommandNode command_outline() { return node_of(command_tree()->app); }

}  // namespace cleanslate::controller
