// baseline: a check of hosts that are known to be clean, and what their GPUs show while nobody holds them.

#include <fmt/core.h>

#include <chrono>
#include <ctime>

#include "agentless/baseline.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "controller/audit_log.hpp"
#include "controller/baseline_report.hpp"
#include "controller/commands.hpp"
#include "controller/exit_status.hpp"
#include "controller/files.hpp"
#include "controller/help_texts.hpp"
#include "controller/passwords.hpp"
#include "controller/patience.hpp"
#include "controller/settings.hpp"
#include "controller/sweep_runner.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

constexpr std::size_t max_file = 64u << 20;

// What is there and no baseline is somebody's other file. An empty one has nothing to lose.
Status check_file_there(const std::string& file) {
    if (!file_exists(file)) return {};
    const auto text = read_file(file, max_file);
    if (!text) return std::unexpected(text.error());
    if (text->empty()) return {};
    const auto baseline = parse_baseline(*text, file);
    if (baseline) return {};
    return fail("usage",
                fmt::format("-o {}: this file is there and no baseline, so it is left alone ({})",
                            printable(file), baseline.error().message),
                "name another file, or remove this one");
}

Result<std::vector<HostTask>> tasks_of(const Options& options, std::vector<std::string>& notes) {
    auto selection = select_hosts(options);
    if (!selection) return std::unexpected(selection.error());
    notes = std::move(selection->notes);
    if (selection->hosts.empty()) return fail("shard", notes.back());
    std::vector<HostTask> tasks;
    for (const auto& host : selection->hosts) tasks.push_back(task_for(host, options, {}));
    return tasks;
}

Result<SweepResult> look(const Context& context, std::vector<HostTask> tasks, const Reach& reach,
                         const std::vector<std::string>& notes, StopSignals& signals) {
    const auto job = job_for(context.options, context.environment);
    if (!job) return std::unexpected(job.error());
    Progress progress(progress_settings(context.terminal, context.options, context.environment));
    NoAudit no_audit;
    const Sweeper sweep = fleet_sweeper(reach, progress, no_audit, signals);
    for (const std::string& note : notes) progress.say("note: " + note);
    auto result = sweep(std::move(tasks), *job, context.options.limits);
    if (result)
        for (const std::string& note : result->notes) progress.say("note: " + note);
    return result;
}

// True where the file now holds what was collected.
Result<bool> write_file(const std::string& file, const Collection& collection, const Report& report,
                        bool interrupted) {
    const std::string reason = interrupted ? "interrupted" : reason_not_to_write(collection, report.result);
    if (!reason.empty()) {
        print_error({"baseline", "", fmt::format("{}: {} is left as it was", reason, file), ""});
        return false;
    }
    const auto comment =
        fmt::format("Idle memory of {}, recorded by cleanslate {} at {}",
                    count_of(collection.baseline.gpus.size(), "GPU"), program_version(), report.started);
    if (auto written = replace_file(file, write_baseline(collection.baseline, comment)); !written)
        return std::unexpected(written.error());
    return true;
}

int conclude(const Context& context, Report report, int stop_signal) {
    const Options& options = context.options;
    const Collection collection = collect(report.result.hosts, options.most_idle);
    Ending ending{stop_signal, false};
    const auto written = write_file(*options.output, collection, report, stop_signal != 0);
    if (!written) {
        print_error(written.error());
        ending.write_failed = true;
    }
    const auto status = [&] { return recording_status(collection, exit_status(report, ending)); };
    report.exit_status = status();
    const bool terminal = context.terminal.out;
    Page page(terminal ? context.terminal.out_columns : 80,
              use_color(options.color, terminal, context.environment));
    write_collection(page, collection, report);
    write_recording_summary(page, collection, report, *options.output, written.value_or(false));
    context.out.write(page.take());
    if (finish_output(context) != 0) ending.write_failed = true;
    return status();
}

int refused(const Error& error, int status) {
    print_error(error);
    return status;
}

}  // namespace

int baseline_command(const Context& context) {
    const std::string& file = *context.options.output;
    // First, since what is no regular file may have no end to read.
    if (auto may = may_replace(file); !may) return refused(may.error(), exit_internal);
    if (auto there = check_file_there(file); !there) return refused(there.error(), exit_usage);
    std::vector<std::string> notes;
    auto tasks = tasks_of(context.options, notes);
    if (!tasks) return refused(tasks.error(), tasks.error().kind == "shard" ? 0 : exit_usage);

    Reach reach = reach_for(context.options, context.environment);
    if (auto filled = fill_passwords(context.options, *tasks, reach); !filled)
        return refused(filled.error(), exit_usage);
    if (auto read = prepare_reach(reach, *tasks); !read)
        return refused(read.error(), read.error().kind == "internal" ? exit_internal : exit_usage);

    StopSignals signals;
    const std::string started = rfc3339(std::time(nullptr));
    const auto began = std::chrono::steady_clock::now();
    auto result = look(context, std::move(*tasks), reach, notes, signals);
    if (!result)
        return refused(result.error(), result.error().kind == "internal" ? exit_internal : exit_usage);
    Report report;
    report.command = "baseline";
    report.started = started;
    report.took = std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - began);
    report.local = context.options.local;
    report.result = std::move(*result);
    const Patience patience(context.out, signals);
    return conclude(context, std::move(report), signals.first());
}

}  // namespace cleanslate::controller
