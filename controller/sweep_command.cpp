// check, clear and run: from the command line to the report.

#include <fmt/core.h>

#include <chrono>
#include <ctime>

#include "base/text.hpp"
#include "controller/audit_log.hpp"
#include "controller/clear_flow.hpp"
#include "controller/commands.hpp"
#include "controller/exit_status.hpp"
#include "controller/files.hpp"
#include "controller/formats/event_stream.hpp"
#include "controller/history/recording.hpp"
#include "controller/on_change.hpp"
#include "controller/passwords.hpp"
#include "controller/patience.hpp"
#include "controller/plan_view.hpp"
#include "controller/settings.hpp"
#include "controller/slurm_nodes.hpp"
#include "controller/sweep_runner.hpp"
#include "controller/unattended.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

// What stands ready before the first host is contacted.
struct Ready {
    SweepOrder order;
    std::vector<std::string> notes;
    Report head;                          // what is known of the report before a host is contacted
    std::unique_ptr<EventStream> events;  // never null once the files are ready
    std::unique_ptr<AuditLog> audit;      // null: nothing will be sent
    history::Recording history;
    bool acts = false;  // sends signals or commands
    bool asks = false;  // after a yes
};

// Without a yes nothing may be sent, and without a terminal nobody can say it.
Status check_consent(const Context& context, const Ready& ready) {
    if (!ready.asks || can_ask(context.terminal, context.options)) return {};
    const bool clear = context.options.command == Command::clear;
    return fail("usage",
                fmt::format("{} asks before it acts, and there is no terminal to ask on",
                            to_string(context.options.command)),
                clear ? "give --yes, or --dry-run to see the plan" : "give --yes");
}

// The order of the sweep. Its errors are usage errors: nothing was contacted.
Status prepare_order(const Context& context, Ready& ready) {
    const Options& options = context.options;
    ready.acts = (options.command == Command::clear && !options.dry_run) || options.command == Command::run;
    ready.asks = ready.acts && !options.yes;
    if (auto may = check_consent(context, ready); !may) return may;
    auto job = job_for(options, context.environment);
    if (!job) return std::unexpected(job.error());
    auto selection = select_hosts(options);
    if (!selection) return std::unexpected(selection.error());
    const auto baseline = load_baseline(options);
    if (!baseline) return std::unexpected(baseline.error());
    const std::vector<std::string> protect =
        job->playbook ? job->playbook->protect : std::vector<std::string>{};
    for (const auto& host : selection->hosts)
        ready.order.tasks.push_back(task_for(host, options, protect, *baseline));
    ready.order.job = std::move(*job);
    ready.order.job.who = who_text(actor_of_process(context.arguments, options.raw_commands));
    ready.order.limits = options.limits;
    if (selection->hosts.empty()) ready.asks = false;
    ready.notes = std::move(selection->notes);
    ready.head.share = std::move(selection->share);
    if (ready.order.job.playbook)
        for (std::string& note : idle_flags(options, *ready.order.job.playbook))
            ready.notes.push_back(std::move(note));
    return {};
}

Report head_of(const Options& options, const Job& job, std::optional<Share> share) {
    Report report;
    report.share = std::move(share);
    report.command = to_string(options.command);
    if (job.playbook) report.playbook = job.playbook->name;
    for (const std::string& inventory : options.inventories)
        report.inventory += (report.inventory.empty() ? "" : ",") + inventory;
    report.limit = options.slurm.nodes ? said_of_slurm(options.slurm, options.limit)
                                       : options.limit.value_or(options.targets.value_or(""));
    report.local = options.local;
    report.expect_hosts = options.expect_hosts;
    return report;
}

Status open_event_stream(const Options& options, Ready& ready) {
    ready.head = head_of(options, ready.order.job, std::move(ready.head.share));
    ready.events = std::make_unique<EventStream>(ready.head, options.raw_commands);
    for (const FormatRequest& request : options.formats) {
        if (request.format != Format::jsonl) continue;
        if (auto added = ready.events->add(request); !added) return added;
    }
    return {};
}

// The files that must be writable before anything is done.
Status prepare_files(const Context& context, Ready& ready) {
    const Options& options = context.options;
    if (auto may = may_write_reports(options); !may) return may;
    auto recording = history::Recording::begin(options, context.environment, ready.notes);
    if (!recording) return std::unexpected(recording.error());
    ready.history = std::move(*recording);
    // A list of an earlier sweep must not pass for this one's, whatever becomes of it.
    if (auto emptied = empty_host_lists(options); !emptied) return emptied;
    if (auto opened = open_event_stream(options, ready); !opened) return opened;
    if (!ready.acts) return {};
    const std::string file = options.audit ? *options.audit : default_audit_file(context.environment);
    auto audit = AuditLog::open(file, actor_of_process(context.arguments, options.raw_commands));
    if (!audit) return std::unexpected(audit.error());
    ready.audit = std::move(*audit);
    return {};
}

Answer ask_about_plan(const Context& context, const SweepResult& plan, StopSignals& signals) {
    Report report;
    report.command = "clear";
    report.playbook = context.options.playbook;
    report.dry_run = true;
    report.result = plan;
    Page page(context.terminal.err_columns, use_color(context.options.color, true, context.environment));
    write_plan(page, report, context.options.raw_commands);
    page.line(0, {{question_for(size_of_plan(plan.hosts))}});
    return ask(page.take() + "Proceed? [y/N] ", signals.fd());
}

Answer ask_about_command(const Context& context, const Ready& ready, StopSignals& signals) {
    std::vector<std::string> names;
    for (const HostTask& task : ready.order.tasks) names.push_back(task.host.name);
    Page page(context.terminal.err_columns, false);
    page.line(0, {{fmt::format("{} ({})", inventory::fold(names), names.size())}});
    page.line(4, {{shown_command(context.options.remote_command, context.options.raw_commands)}});
    return ask(page.take() + "Run it? [y/N] ", signals.fd());
}

// Nobody said yes to the command: no host is tried.
SweepResult not_begun(const SweepOrder& order, bool interrupted) {
    SweepResult result;
    result.interrupted = interrupted;
    for (const HostTask& task : order.tasks) {
        HostOutcome& host = result.hosts.emplace_back();
        host.name = task.host.name;
        host.address = task.host.address;
        host.port = task.host.port.value_or(22);
        host.error = Error{"not_tried", "", interrupted ? "interrupted before it was begun" : "declined", ""};
    }
    return result;
}

Result<ClearResult> carry_out(const Context& context, const Ready& ready, const Sweeper& sweep,
                              StopSignals& signals) {
    const SweepOrder& order = ready.order;
    if (ready.asks && context.options.command == Command::clear)
        return clear_after_yes(
            order, sweep, [&](const SweepResult& plan) { return ask_about_plan(context, plan, signals); });
    if (ready.asks) {
        const Answer answer = ask_about_command(context, ready, signals);
        if (answer == Answer::no) return ClearResult{not_begun(order, false), Course::declined, {}};
        if (answer == Answer::interrupted) return ClearResult{not_begun(order, true), Course::stopped, {}};
    }
    const auto began = std::chrono::steady_clock::now();
    auto result = sweep(order.tasks, order.job, order.limits);
    if (!result) return std::unexpected(result.error());
    const auto took = std::chrono::steady_clock::now() - began;
    return ClearResult{std::move(*result), Course::done, std::chrono::duration_cast<Milliseconds>(took)};
}

Report report_of(const Context& context, const Ready& ready, ClearResult done, const std::string& started) {
    Report report = ready.head;
    report.started = started;
    report.took = done.took;
    report.dry_run =
        ready.order.job.dry_run || done.course == Course::declined || done.course == Course::stopped;
    report.declined = done.course == Course::declined;
    report.plan_shown = done.course == Course::declined && context.terminal.out;
    report.result = std::move(done.result);
    for (const std::string& note : ready.notes) report.result.notes.push_back(note);
    return report;
}

// --on-change; not after a Ctrl-C. False, and a word on stderr, where the command did not succeed.
bool tell(const Context& context, const Ready& ready, history::SweepId sweep, int status,
          const StopSignals& signals) {
    if (!context.options.on_change || signals.first() != 0) return true;
    const auto told = tell_change(context.options, context.environment, *ready.history.store(), sweep, status,
                                  signals.fd());
    if (!told) print_error(told.error());
    return told.has_value();
}

// Report, list of clean hosts, history, audit: each is written whatever became of the others.
int conclude(const Context& context, Ready& ready, Report report, Course course, const StopSignals& signals) {
    const int stop_signal = signals.first();
    Ending ending{stop_signal, false};
    if (!write_host_lists(context, report)) ending.write_failed = true;
    if (ready.audit && !ready.audit->state()) ending.write_failed = true;
    report.exit_status = exit_status(report, ending);
    const auto recorded = ready.history.finish(report, signals);
    std::vector<std::string> elsewhere;
    if (recorded && *recorded) elsewhere.push_back(fmt::format("history {}", **recorded));
    if (!recorded) {
        print_error(recorded.error());
        ending.write_failed = true;
        report.exit_status = exit_status(report, ending);
    }
    if (const auto written = ready.events->finish(report, context.out); !written) {
        print_error(written.error());
        ending.write_failed = true;
        report.exit_status = exit_status(report, ending);
    }
    if (!write_reports(context, report, std::move(elsewhere))) ending.write_failed = true;
    if (recorded && *recorded && !tell(context, ready, **recorded, exit_status(report, ending), signals))
        ending.write_failed = true;
    if (ready.audit) {
        ready.audit->end(stop_signal != 0 ? "interrupted" : to_string(course), exit_status(report, ending));
        if (const auto state = ready.audit->state(); !state) {
            print_error(state.error());
            ending.write_failed = true;
        }
    }
    return exit_status(report, ending);
}

}  // namespace

int sweep_command(const Context& context) {
    Ready ready;
    if (auto order = prepare_order(context, ready); !order) {
        print_error(order.error());
        return exit_usage;
    }
    const auto lock = take_lock(context);
    if (!lock) {
        print_error(lock.error());
        return lock.error().kind == "write" ? exit_internal : exit_usage;
    }
    Reach reach = reach_for(context.options, context.environment);
    if (auto filled = fill_passwords(context.options, ready.order.tasks, reach); !filled) {
        print_error(filled.error());
        return exit_usage;
    }
    if (auto read = prepare_reach(reach, ready.order.tasks); !read) {
        print_error(read.error());
        return read.error().kind == "internal" ? exit_internal : exit_usage;
    }
    if (auto files = prepare_files(context, ready); !files) {
        print_error(files.error());
        return exit_internal;
    }
    StopSignals signals;
    Progress progress(progress_settings(context.terminal, context.options, context.environment));
    NoAudit no_audit;
    const Sweeper sweep =
        fleet_sweeper(reach, progress, ready.audit ? static_cast<Audit&>(*ready.audit) : no_audit, signals,
                      ready.events.get());
    for (const std::string& note : ready.notes) progress.say("note: " + note);
    const bool begins = wait_out_jitter(context.options, progress, signals);
    if (!begins) ready.history = {};  // there is nothing to keep
    const std::string started = rfc3339(std::time(nullptr));
    auto done =
        begins ? carry_out(context, ready, sweep, signals)
               : ClearResult{not_begun(ready.order, true), ready.acts ? Course::stopped : Course::done, {}};
    if (!done) {
        print_error(done.error());
        const bool internal = done.error().kind == "internal" || done.error().kind == "audit";
        const int status = internal ? exit_internal : exit_usage;
        if (ready.audit) ready.audit->end("ended before a host was contacted", status);
        return status;
    }
    for (const std::string& note : done->result.notes) progress.say("note: " + note);
    const Course course = done->course;
    Report report = report_of(context, ready, std::move(*done), started);
    const Patience patience(context.out, signals);
    return conclude(context, ready, std::move(report), course, signals);
}

}  // namespace cleanslate::controller
