#include "controller/options.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "controller/command_tree.hpp"
#include "controller/help_on.hpp"
#include "controller/help_texts.hpp"
#include "controller/option_groups.hpp"
#include "controller/slips.hpp"

extern char** environ;

namespace cleanslate::controller {
namespace {

std::unexpected<EarlyEnd> usage_error(const std::string& message, std::string_view command = {}) {
    const std::string space = command.empty() ? "" : " ";
    return std::unexpected(EarlyEnd{2, "",
                                    "cleanslate: " + printable(message) + "\nSee `cleanslate" + space +
                                        std::string(command) + " --help`.\n"});
}

std::string error_text(const Error& error) {
    return "cleanslate: " + printable(error.message) + "\n" +
           (error.remedy.empty() ? "" : "  -> " + printable(error.remedy) + "\n");
}

Status fill_from_config(CLI::App& command, Options& options, const Environment& environment,
                        const std::string& site) {
    if (!config::reads_config(options.command)) return {};
    const auto config = config::load_config(options.config, environment, site);
    if (auto read = config.state(); !read) return read;
    if (auto right = config::check_values(config); !right) return right;
    return apply_config(command, options, config);
}

// The words after the first "--" are run's command and none of CLI11's business.
std::string take_remote_command(std::vector<std::string>& arguments) {
    const auto marker = std::ranges::find(arguments, "--");
    if (marker == arguments.end()) return {};
    std::string command;
    for (auto word = marker + 1; word != arguments.end(); ++word) {
        if (word != marker + 1) command += ' ';
        command += *word;
    }
    arguments.erase(marker, arguments.end());
    return command;
}

// The first option that nobody knows, else the first word that has no place. Whatever else is wrong may come
// of it: its value was taken for a word of its own.
std::optional<std::string> unknown_word(const CLI::App& app) {
    const auto words = app.remaining(true);
    const auto option = std::ranges::find_if(words, [](const auto& word) { return word.starts_with('-'); });
    if (option != words.end()) return *option;
    return words.empty() ? std::nullopt : std::optional(words.front());
}

std::expected<Options, EarlyEnd> text_or_refusal(const Result<std::string>& text) {
    if (text) return std::unexpected(EarlyEnd{0, *text, ""});
    return std::unexpected(EarlyEnd{2, "", error_text(text.error())});
}

}  // namespace

std::expected<Options, EarlyEnd> read_command_line(const std::vector<std::string>& arguments,
                                                   const Environment& environment, const std::string& site) {
    if (auto asked = read_completion_call(arguments)) return *asked;
    const auto line = command_tree();
    std::vector<std::string> words = arguments;
    std::string remote_command;
    if (!words.empty() && words.front() == "run") remote_command = take_remote_command(words);
    const auto chosen = [&]() -> std::string_view {
        const auto used = line->app.get_subcommands();
        return used.empty() ? std::string_view{} : std::string_view(used.front()->get_name());
    };
    try {
        std::ranges::reverse(words);  // CLI11 takes them from the back
        line->app.parse(words);
    } catch (const CLI::CallForVersion&) {
        return std::unexpected(EarlyEnd{0, version_text() + "\n", ""});
    } catch (const CLI::CallForHelp&) {
        const CLI::App* innermost = &line->app;
        while (!innermost->get_subcommands().empty()) innermost = innermost->get_subcommands().front();
        return std::unexpected(EarlyEnd{0, innermost->help(), ""});
    } catch (const CLI::ParseError& error) {
        if (arguments.empty()) return std::unexpected(EarlyEnd{2, "", line->app.help()});
        if (chosen().empty() && !arguments.front().starts_with('-'))
            return usage_error(no_such_command(*line, arguments.front()));
        const auto unknown = unknown_word(line->app);
        return usage_error(unknown ? no_such_option(*line, *unknown) : error.what(), chosen());
    } catch (const std::exception& error) {
        return usage_error(error.what(), chosen());
    }
    if (line->help->parsed()) return text_or_refusal(help_on(*line));
    for (auto& [command, options] : line->options) {
        if (!line->subcommands.at(command)->parsed()) continue;
        options.remote_command = remote_command;
        if (auto filled = fill_from_config(*line->subcommands.at(command), options, environment, site);
            !filled)
            return std::unexpected(EarlyEnd{2, "", error_text(filled.error())});
        if (auto combined = combine_options(options, environment); !combined)
            return usage_error(combined.error().message, to_string(command));
        return options;
    }
    return usage_error("which command?");
}

Environment environment_of_process() {
    Environment environment;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const auto equals = text.find('=');
        if (equals != std::string_view::npos)
            environment.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return environment;
}

Result<std::optional<double>> parse_max_failures(const std::string& text) {
    const bool percent = text.ends_with('%');
    const auto number = parse_number(std::string_view(text).substr(0, text.size() - (percent ? 1 : 0)));
    if (!number || (percent && *number > 100) || *number > std::numeric_limits<int>::max())
        return fail("usage",
                    "wants a number of hosts (5) or a share of them (10%), not '" + printable(text) + "'");
    if (!percent) return static_cast<double>(*number);
    if (*number == 100) return std::nullopt;
    return static_cast<double>(*number) / 100.0;
}

}  // namespace cleanslate::controller
