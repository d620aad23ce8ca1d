#include "controller/help_on.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "controller/help_topics.hpp"
#include "controller/option_values.hpp"

namespace cleanslate::controller {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* const command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
    return names;
}

// Null: there is none.
const CLI::App* command_of(const CLI::App& app, const std::string& name) {
    for (const CLI::App* const command : app.get_subcommands(nullptr))
        if (command->get_name() == name) return command;
    return nullptr;
}

// What topics are called, too.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"shard", "slurm"},       {"shards", "slurm"},     {"drain", "drain-list"},   {"inventory", "hosts"},
    {"inventories", "hosts"}, {"exit", "exit-status"}, {"status", "exit-status"}, {"ansible", "hosts"},
    {"nodes", "limits"},      {"patterns", "limits"}};

std::unexpected<Error> no_such(const std::string& word, std::vector<std::string> known,
                               std::string_view what) {
    return fail(
        "usage",
        fmt::format("there is no {} {}{}", what, printable(word), did_you_mean(yaml::nearest(word, known))),
        fmt::format("known: {}", fmt::join(known, ", ")));
}

}  // namespace

Result<std::string> help_on(const CommandTree& tree) {
    auto words = tree.help_words;
    if (words.empty()) return command_tree()->app.help();  // one that has not been asked for help on `help`
    std::string& word = words.front();
    for (const auto& [other, name] : other_names)
        if (word == other) word = name;
    const CLI::App* const command = command_of(tree.app, word);
    const Topic* const topic = find_topic(word);
    if (words.size() > 1) {
        const CLI::App* const action = command == nullptr ? nullptr : command_of(*command, words[1]);
        if (action != nullptr) return action->help();
        if (command != nullptr) return no_such(words[1], command_names(*command), word + " action");
    }
    if (command != nullptr && topic != nullptr) return command->help() + "\n" + std::string(topic->text);
    if (command != nullptr) return command->help();
    if (topic != nullptr) return std::string(topic->text);
    if (word == "topics") return table_of_topics();
    auto known = topic_names();
    for (std::string& name : command_names(tree.app))
        if (std::ranges::find(known, name) == known.end()) known.push_back(std::move(name));
    return no_such(word, std::move(known), "topic or command");
}

}  // namespace cleanslate::controller
