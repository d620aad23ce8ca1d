#include "controller/on_change.hpp"

#include <unistd.h>

#include <filesystem>

#include "controller/child_command.hpp"
#include "controller/history/diff_view.hpp"

namespace cleanslate::controller {
namespace {

constexpr Milliseconds usual_timeout{60'000};

// The file that this process was started from; its name alone where that is not known. One that was replaced
// since then, by an upgrade, is the new one.
std::string own_program() {
    constexpr std::string_view replaced = " (deleted)";
    std::error_code unknown;
    std::string path = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
    if (unknown) return "cleanslate";
    if (path.ends_with(replaced) && !std::filesystem::exists(path, unknown))
        path.resize(path.size() - replaced.size());
    return path;
}

}  // namespace

bool is_worth_telling(const history::Diff& diff) {
    return !diff.newly_dirty.empty() || !diff.newly_clean.empty() || !diff.newly_unknown.empty();
}

Environment change_environment(const history::Diff& diff, const std::string& history_file,
                               const std::string& program, int exit_status) {
    return {{"CLEANSLATE_STATUS", std::to_string(exit_status)},
            {"CLEANSLATE_NEWLY_DIRTY", std::to_string(diff.newly_dirty.size())},
            {"CLEANSLATE_NEWLY_CLEAN", std::to_string(diff.newly_clean.size())},
            {"CLEANSLATE_NEWLY_UNKNOWN", std::to_string(diff.newly_unknown.size())},
            {"CLEANSLATE_HISTORY", history_file},
            {"CLEANSLATE_SWEEP", std::to_string(diff.newer.id)},
            {"CLEANSLATE_PREVIOUS_SWEEP", diff.older ? std::to_string(diff.older->id) : ""},
            {"CLEANSLATE_PROGRAM", program}};
}

Status tell_change(const Options& options, const Environment& environment, history::Store& store,
                   history::SweepId sweep, int exit_status, int stop_fd) {
    const auto diff = history::diff(store, sweep);
    if (!diff) return std::unexpected(with_context(diff.error(), "--on-change was not run"));
    if (!is_worth_telling(*diff)) return {};
    ChildCommand child;
    child.command = options.on_change.value_or("");
    child.input = history::diff_json(*diff);
    child.environment = change_environment(*diff, store.path(), own_program(), exit_status);
    child.environment.insert(environment.begin(), environment.end());
    child.output = STDERR_FILENO;
    child.timeout = options.on_change_timeout.value_or(usual_timeout);
    child.stop_fd = stop_fd;
    const auto end = run_child(child);
    if (!end) return std::unexpected(with_context(end.error(), "--on-change"));
    if (end->succeeded()) return {};
    return fail("command", "--on-change: " + how_it_ended(*end, child.timeout),
                "the sweep is kept: `cleanslate history diff` tells the same");
}

}  // namespace cleanslate::controller
