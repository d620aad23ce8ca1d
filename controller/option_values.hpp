#pragma once
// Ways to read one option's value; each refuses what it cannot read and names the option. Private to the
// option groups.

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/yaml.hpp"

namespace cleanslate::controller {

[[noreturn]] inline void refuse(const std::string& option, const Error& error) {
    throw CLI::ValidationError(option, error.message + (error.remedy.empty() ? "" : "; " + error.remedy));
}

// A question behind a refusal; nothing where no word is near.
inline std::string did_you_mean(const std::string& near) {
    return near.empty() ? "" : ". Did you mean " + near + "?";
}

// An option whose text `read` turns into its value; a second one on the same command line is refused.
template <class Read>
CLI::Option* add_read(CLI::App& app, const std::string& names, const std::string& type, Read read,
                      const std::string& help) {
    const std::string last = names.substr(names.rfind(',') + 1);
    return app
        .add_option_function<std::string>(
            names, [read, last](const std::string& text) { read(text, last); }, help)
        ->type_name(type);
}

template <class Slot>
CLI::Option* add_duration(CLI::App& app, const std::string& names, Slot& slot, const std::string& help) {
    const auto read = [&slot](const std::string& text, const std::string& option) {
        const auto duration = parse_duration(text);
        if (!duration) refuse(option, duration.error());
        slot = *duration;
    };
    return add_read(app, names, "DURATION", read, help);
}

template <class Slot>
CLI::Option* add_size(CLI::App& app, const std::string& names, Slot& slot, const std::string& help) {
    const auto read = [&slot](const std::string& text, const std::string& option) {
        const auto size = parse_size(text);
        if (!size) refuse(option, size.error());
        slot = *size;
    };
    return add_read(app, names, "SIZE", read, help);
}

inline CLI::Option* add_count(CLI::App& app, const std::string& names, int& slot, int least, int most,
                              const std::string& help) {
    const auto read = [&slot, least, most](const std::string& text, const std::string& option) {
        const auto number = parse_number(text);
        if (!number || *number < static_cast<std::uint64_t>(least) ||
            *number > static_cast<std::uint64_t>(most))
            throw CLI::ValidationError(
                option, "wants a number from " + std::to_string(least) + " to " + std::to_string(most));
        slot = static_cast<int>(*number);
    };
    return add_read(app, names, "N", read, help);
}

template <class Slot>
CLI::Option* add_text(CLI::App& app, const std::string& names, const std::string& type, Slot& slot,
                      const std::string& help) {
    return add_read(
        app, names, type, [&slot](const std::string& text, const std::string&) { slot = text; }, help);
}

// May be given several times, one value each time.
inline CLI::Option* add_list(CLI::App& app, const std::string& names, const std::string& type,
                             std::vector<std::string>& slot, const std::string& help) {
    return app.add_option(names, slot, help)->type_name(type)->allow_extra_args(false);
}

// One of a few words.
template <class Value, class Slot>
CLI::Option* add_choice(CLI::App& app, const std::string& names, Slot& slot,
                        const std::vector<std::pair<std::string, Value>>& choices, const std::string& help) {
    std::string type;
    for (const auto& [word, value] : choices) type += (type.empty() ? "" : "|") + word;
    const auto read = [&slot, choices, type](const std::string& text, const std::string& option) {
        for (const auto& [word, value] : choices) {
            if (word != text) continue;
            slot = value;
            return;
        }
        std::vector<std::string> words;
        for (const auto& choice : choices) words.push_back(choice.first);
        throw CLI::ValidationError(option, "wants one of " + type + ", not '" + printable(text) + "'" +
                                               did_you_mean(yaml::nearest(text, words)));
    };
    return add_read(app, names, type, read, help);
}

}  // namespace cleanslate::controller
