// What config files say, read by the very options that they stand for.

#include <algorithm>
#include <utility>

#include "controller/command_tree.hpp"
#include "controller/option_groups.hpp"
#include "controller/option_values.hpp"

namespace cleanslate::controller {
namespace {

using config::Setting;
using config::Shape;
using config::Value;

// "--fanout: wants ..." as "PLACE: fanout: wants ...".
std::unexpected<Error> wrong(const std::string& place, std::string_view message) {
    if (message.starts_with("--")) message.remove_prefix(2);
    return fail("config", place + ": " + std::string(message));
}

// The option reads `texts` as if they had been typed.
Status read_again(CLI::Option& option, const std::vector<std::string>& texts, const std::string& place) {
    option.clear();
    for (const std::string& text : texts) option.add_result(text);
    try {
        option.run_callback();
    } catch (const CLI::Error& error) {
        return wrong(place, error.what());
    }
    return {};
}

// Of a command and its action, the option; of two that were declared, the one that was given.
CLI::Option* option_of(CLI::App& command, std::string_view name) {
    const std::string dashed = "--" + std::string(name);
    CLI::Option* found = command.get_option_no_throw(dashed);
    for (CLI::App* const action : command.get_subcommands())
        if (CLI::Option* const own = action->get_option_no_throw(dashed);
            own != nullptr && (found == nullptr || found->count() == 0))
            found = own;
    return found;
}

Status fill(CLI::Option& option, const Setting& setting) {
    const bool grows = setting.key->shape == Shape::growing_list;
    if (option.count() != 0 && !grows) return {};
    std::vector<std::string> texts;
    for (const Value& value : setting.values) texts.push_back(value.text);
    if (setting.key->shape == Shape::yes_or_no && texts == std::vector<std::string>{"false"}) return {};
    const auto given = option.results();
    texts.insert(texts.end(), given.begin(), given.end());
    return texts.empty() ? Status{} : read_again(option, texts, setting.place());
}

// What an inventory may say better waits for its word.
void put_beneath(std::string_view name, Options& options) {
    if (name == "user") options.beneath.user = std::exchange(options.user, std::nullopt);
    if (name == "jump") options.beneath.jump = std::exchange(options.jump, std::nullopt);
    if (name == "identity") options.beneath.identities = std::exchange(options.identities, {});
    if (name == "host-key-check" && options.host_key_check == agentless::HostKeyCheck::accept_new) {
        options.host_key_check.reset();
        options.beneath.accept_new = true;
    }
    if (name == "max-used") options.beneath.max_used = std::exchange(options.max_used, std::nullopt);
}

}  // namespace

void add_config_option(CLI::App& app, Options& options) {
    add_text(app, "--config", "FILE", options.config,
             "Defaults; none: no config file at all (default: $CLEANSLATE_CONFIG, else "
             "$XDG_CONFIG_HOME/cleanslate/config.yaml, else ~/.config/cleanslate/config.yaml; beneath it "
             "/etc/cleanslate/config.yaml)")
        ->group("Options");
    for (CLI::App* const action : app.get_subcommands({})) add_config_option(*action, options);
}

Status apply_config(CLI::App& command, Options& options, const config::Config& config) {
    bool formats_by_default = false;
    for (const Setting& setting : config.settings()) {
        const std::string_view name = setting.key->name;
        if (!applies(*setting.key, options.command)) continue;
        if (name == "inventory") {
            for (const Value& value : setting.values) options.beneath.inventory.push_back(value.text);
            continue;
        }
        if (name == "baseline-margin" && !options.baseline) continue;
        CLI::Option* const option = option_of(command, name);
        if (option == nullptr) continue;
        const bool given = option->count() != 0;
        if (auto filled = fill(*option, setting); !filled) return filled;
        if (!given) put_beneath(name, options);
        if (!given && name == "format") formats_by_default = true;
    }
    // Where a list was asked for on stdout, the report is not there by a default.
    const auto to_stdout = [](const auto& request) { return request.to_stdout(); };
    if (formats_by_default && (std::ranges::any_of(options.clean_hosts, to_stdout) ||
                               std::ranges::any_of(options.not_clean_hosts, to_stdout)))
        std::erase_if(options.formats, to_stdout);
    if (options.command == Command::parse && !options.max_used && !options.baseline)
        options.max_used = options.beneath.max_used;  // there is no inventory
    return {};
}

namespace config {

// `clear` has an option for each key.
Status check_values(const Config& config) {
    const auto settings = config.settings();
    if (settings.empty()) return {};
    const auto tree = command_tree();
    CLI::App& clear = *tree->subcommands.at(Command::clear);
    for (const Setting& setting : settings) {
        if (setting.key->shape == Shape::yes_or_no) continue;
        CLI::Option* const option = clear.get_option_no_throw("--" + std::string(setting.key->name));
        if (option == nullptr) return fail("internal", "no option for " + std::string(setting.key->name));
        for (const Value& value : setting.values)
            if (auto read = read_again(*option, {value.text}, value.place()); !read) return read;
    }
    Options all;
    all.command = Command::clear;
    all.local = true;
    for (const Setting& setting : settings) {
        if (setting.key->name != "format") continue;
        for (const Value& value : setting.values)
            if (auto request = read_format_request(value.text)) all.formats.push_back(*request);
        if (auto together = combine_options(all, {}); !together)
            return wrong(setting.place(), "format: " + together.error().message);
    }
    return {};
}

}  // namespace config
}  // namespace cleanslate::controller
