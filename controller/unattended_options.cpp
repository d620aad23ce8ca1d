// The options of a sweep that nobody watches: from cron or from a timer.

#include "controller/option_groups.hpp"
#include "controller/option_values.hpp"

namespace cleanslate::controller {
namespace {

constexpr Milliseconds most_jitter = std::chrono::hours(24);
constexpr Milliseconds most_on_change = std::chrono::hours(1);

template <class Slot>
void add_bounded_duration(CLI::App& app, const std::string& name, Slot& slot, Milliseconds least,
                          Milliseconds most, const std::string& help) {
    const auto read = [&slot, least, most](const std::string& text, const std::string& option) {
        const auto duration = parse_duration(text);
        if (!duration) refuse(option, duration.error());
        if (*duration < least || *duration > most)
            throw CLI::ValidationError(option, "wants from " + format_duration(least) + " to " +
                                                   format_duration(most) + ", not " + printable(text));
        slot = *duration;
    };
    add_read(app, name, "DURATION", read, help);
}

}  // namespace

void add_unattended_options(CLI::App& app, Options& options) {
    app.option_defaults()->group("When nobody watches");
    app.add_flag("--exclusive", options.exclusive,
                 "End with status 2 at once where another sweep of the same inventory with --exclusive is "
                 "under way with the same state folder ($XDG_STATE_HOME, else ~/.local/state) (default: "
                 "sweeps may overlap)");
    add_bounded_duration(app, "--jitter", options.jitter, Milliseconds{0}, most_jitter,
                         "Wait a random time, so long at most, before the first contact (default 0s)");
    add_text(app, "--on-change", "COMMAND", options.on_change,
             "Run COMMAND by /bin/sh -c, with the differences as JSON on its standard input, where a host "
             "is newly dirty, newly clean or newly unknown since the sweep before it in the history; see "
             "docs/nightly.md (default: none)");
    add_bounded_duration(app, "--on-change-timeout", options.on_change_timeout, Milliseconds{1},
                         most_on_change, "How long COMMAND may take (default 60s)");
    app.option_defaults()->group("Options");
}

Status combine_unattended(const Options& options) {
    if (options.on_change && trim(*options.on_change).empty())
        return fail("usage", "--on-change wants a command");
    if (options.on_change && options.no_history)
        return fail("usage",
                    "--on-change compares with the history: it does not go together with --no-history");
    if (options.on_change_timeout && !options.on_change)
        return fail("usage", "--on-change-timeout goes together with --on-change COMMAND");
    return {};
}

}  // namespace cleanslate::controller
