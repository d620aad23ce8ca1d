// drain-list: a report as lines that tell Slurm which nodes to drain, printed or run.

#include <fmt/core.h>
#include <unistd.h>

#include <ctime>

#include "base/text.hpp"
#include "controller/audit_query.hpp"
#include "controller/child_command.hpp"
#include "controller/commands.hpp"
#include "controller/console.hpp"
#include "controller/exit_status.hpp"
#include "controller/formats/drain_list.hpp"
#include "controller/read_reports.hpp"
#include "controller/signals.hpp"

namespace cleanslate::controller {
namespace {

int refused(const Error& error) {
    print_error(error);
    return exit_usage;
}

// Of an old report the nodes may be clean by now, or somebody else's work.
Status check_age(const Report& report, Milliseconds most) {
    const auto began = parse_time(report.started);
    if (!began) return fail("usage", "the report does not say when it was begun: nothing is drained by it");
    const Milliseconds age{(static_cast<std::int64_t>(std::time(nullptr)) - *began) * 1000};
    if (age <= most) return {};
    return fail("usage",
                fmt::format("the report was begun at {}, {} ago: too old to drain nodes by it",
                            printable(report.started), format_duration(age)),
                "sweep again, or say with --max-age how old it may be");
}

Result<Report> report_for(const Options& options) {
    auto report = read_reports(options.report_files, options.report_files.size() > 1);
    if (!report) return report;
    if (report->is_run()) return fail("usage", "a report of run drains nobody: it surveyed no GPU");
    if (options.apply)
        if (auto recent = check_age(*report, options.max_age); !recent)
            return std::unexpected(recent.error());
    if (!options.node) return report;
    if (report->result.hosts.size() != 1)
        return fail("usage", fmt::format("--node names the only host of a report, and this one has {}",
                                         report->result.hosts.size()));
    report->result.hosts.front().name = *options.node;
    return report;
}

// The line itself is what the shell runs: there is nothing in it but what drain_list() lets through.
bool run_line(const Context& context, const DrainLine& line, int stop_fd) {
    ChildCommand child;
    child.command = "exec " + line.command();
    child.environment = context.environment;
    child.timeout = context.options.apply_timeout;
    child.stop_fd = stop_fd;
    const auto end = run_child(child);
    if (end && end->succeeded()) return true;
    Console(STDERR_FILENO)
        .write(fmt::format("cleanslate: not drained: {}: {}\n", line.nodes,
                           end ? how_it_ended(*end, child.timeout) : printable(end.error().message)));
    return false;
}

// How many were not run with success. After a Ctrl-C none is begun.
std::size_t run_lines(const Context& context, const DrainList& list) {
    StopSignals signals;
    std::size_t failed = 0;
    for (const DrainLine& line : list.lines)
        if (signals.first() != 0 || !run_line(context, line, signals.fd())) ++failed;
    Console(STDERR_FILENO)
        .write(fmt::format("{} of {} lines done\n", list.lines.size() - failed, list.lines.size()));
    return failed;
}

}  // namespace

int drain_list_command(const Context& context) {
    const auto report = report_for(context.options);
    if (!report) return refused(report.error());
    const DrainList list = drain_list(*report, context.options.drained);
    for (const DrainLine& line : list.lines) context.out.write(line.command() + "\n");
    int status = finish_output(context);
    if (status == 0 && context.options.apply && run_lines(context, list) > 0) status = exit_internal;
    if (!list.left_out.empty()) {
        print_error(
            {"write", "",
             fmt::format("{}{} cannot be a node's name: not drained", list.left_out.front(),
                         list.left_out.size() > 1 ? fmt::format(" and {} more", list.left_out.size() - 1)
                                                  : std::string()),
             "call the host as Slurm does, or say so with --node"});
        status = exit_internal;
    }
    return status;
}

}  // namespace cleanslate::controller
