#include "controller/slips.hpp"

#include <algorithm>
#include <vector>

#include "controller/option_values.hpp"

namespace cleanslate::controller {
namespace {

// "--Dry_Run=x", "-dry-run" as "dry-run".
std::string bare(const std::string& word) {
    std::string name = word.substr(0, word.find('='));
    name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
    for (char& c : name) c = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return name;
}

std::vector<std::string> long_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* const option : app.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back(name);
    return names;
}

// The innermost command that was named.
const CLI::App& named(const CLI::App& app) {
    const auto below = app.get_subcommands();
    return below.empty() ? app : named(*below.front());
}

// "history prune", of an action.
std::string path_of(const CLI::App& command) {
    const CLI::App* const above = command.get_parent();
    const bool is_top = above == nullptr || above->get_parent() == nullptr;
    return is_top ? command.get_name() : path_of(*above) + " " + command.get_name();
}

bool has_option(const CLI::App& app, const std::string& name) {
    if (app.get_option_no_throw(name) != nullptr) return true;
    return std::ranges::any_of(app.get_subcommands(nullptr),
                               [&](const CLI::App* command) { return has_option(*command, name); });
}

// Where a word belongs that names an option as it is called, and nobody knew it where it stood: behind the
// command, or some command. Empty: it is no such word.
std::string behind_the_command(const CLI::App& app, const CLI::App& command, const std::string& word) {
    const std::string name = word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
    const bool is_named = &command != &app;
    const bool known = is_named ? command.get_option_no_throw(name) != nullptr : has_option(app, name);
    if (!known) return {};
    return ": write it behind the command: cleanslate " + (is_named ? path_of(command) : "COMMAND") + " " +
           name + " ...";
}

// What the same is called in tools that hands know.
struct Habit {
    std::string_view word, ours;
};
constexpr Habit habits[] = {
    {"-g", "-l GROUP"},
    {"-w", "-H HOSTS, or -l of an inventory"},
    {"-x", "-l 'all,!HOST'"},
    {"-y", "--yes"},
    {"-V", "--version"},
    {"--forks", "--fanout"},
    {"--inventory-file", "-i"},
    {"--check", "--dry-run"},
    {"--ask-pass", "a key: --identity, or ssh's agent"},
    {"-K", "--ask-become-pass"},
    {"-b", "--become"},
    {"-m", "the command `run`"},
};
std::string habit(const std::string& word) {
    const auto found = std::ranges::find(habits, word, &Habit::word);
    return found == std::end(habits) ? std::string() : ": here it is " + std::string(found->ours);
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i)
        text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    return text;
}

// The commands that have it, and actions of theirs ("history prune").
std::vector<std::string> owners(const CLI::App& app, const std::string& name, const std::string& above = {}) {
    std::vector<std::string> commands;
    for (const CLI::App* const command : app.get_subcommands(nullptr)) {
        const std::string path = above + command->get_name();
        const auto names = long_names(*command);
        if (std::ranges::find(names, name) != names.end())
            commands.push_back(path);
        else
            for (std::string& action : owners(*command, name, path + " "))
                commands.push_back(std::move(action));
    }
    return commands;
}

std::vector<std::string> all_names(const CLI::App& app) {
    std::vector<std::string> all = long_names(app);
    for (const CLI::App* const command : app.get_subcommands(nullptr))
        for (std::string& name : all_names(*command)) all.push_back(std::move(name));
    return all;
}

}  // namespace

std::string no_such_command(const CommandTree& tree, const std::string& word) {
    std::vector<std::string> names;
    for (const CLI::App* const command : tree.app.get_subcommands(nullptr))
        names.push_back(command->get_name());
    return "no such command: " + word + did_you_mean(yaml::nearest(word, names));
}

std::string no_such_option(const CommandTree& tree, const std::string& word) {
    const CLI::App& command = named(tree.app);
    if (!word.starts_with('-') || word == "-") {
        const auto names = long_names(command);
        const bool has_hosts = std::ranges::find(names, "hosts") != names.end();
        if (command.get_name() == "run")
            return "not expected here: " + word + ". The command comes behind --: run -l all -- " + word;
        return "not expected here: " + word +
               (has_hosts ? ". Hosts are named by -l LIMIT, of an inventory, or by -H" : "");
    }
    const std::string what = "no such option: " + word, name = bare(word);
    const auto own = long_names(command);
    if (const auto behind = behind_the_command(tree.app, command, word); !behind.empty())
        return what + behind;
    if (std::ranges::find(own, name) != own.end()) return what + did_you_mean("--" + name);
    if (const auto commands = owners(tree.app, name); !commands.empty())
        return what + ": --" + name + " belongs to " + joined(commands);
    if (const std::string near = yaml::nearest(name, own); !near.empty())
        return what + did_you_mean("--" + near);
    const std::string near = yaml::nearest(name, all_names(tree.app));
    if (near.empty()) return what + habit(word);
    return what + did_you_mean("--" + near) + " That belongs to " + joined(owners(tree.app, near));
}

}  // namespace cleanslate::controller
