// report: JSON reports read back, one or those of shards as one, in any form. No host is contacted.

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "controller/commands.hpp"
#include "controller/console.hpp"
#include "controller/exit_status.hpp"
#include "controller/merge_reports.hpp"
#include "controller/read_reports.hpp"

namespace cleanslate::controller {
namespace {

Status may_have_forms(const Options& options, const Report& report) {
    const auto surveys_gpus = [](const FormatRequest& request) {
        return request.format == Format::csv || request.format == Format::prom;
    };
    if (report.is_run() && std::ranges::any_of(options.formats, surveys_gpus))
        return fail("usage", "a report of run has no form csv or prom: it surveyed no GPU");
    return {};
}

void print_notes(const Report& report) {
    Console console(STDERR_FILENO);
    for (const std::string& note : report.result.notes)
        console.write(fmt::format("note: {}\n", printable(note)));
}

}  // namespace

int report_command(const Context& context) {
    const Options& options = context.options;
    auto report = read_reports(options.report_files, options.merge, options.within);
    if (!report) {
        print_error(report.error());
        return exit_usage;
    }
    if (auto may = may_have_forms(options, *report); !may) {
        print_error(may.error());
        return exit_usage;
    }
    if (auto may = may_write_reports(options); !may) {
        print_error(may.error());
        return exit_internal;
    }
    if (auto emptied = empty_host_lists(options); !emptied) {
        print_error(emptied.error());
        return exit_internal;
    }
    print_notes(*report);
    if (!options.raw_commands) mask_commands(*report);
    if (options.expect_hosts) report->expect_hosts = options.expect_hosts;
    report->exit_status = exit_status_of_read(*report);
    bool written = write_host_lists(context, *report);
    if (!written) report->exit_status = exit_internal;
    written &= write_reports(context, *report);
    return written ? report->exit_status : exit_internal;
}

}  // namespace cleanslate::controller
