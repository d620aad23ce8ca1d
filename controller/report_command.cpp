// report: JSON reports read back, one or those of shards as one, in any form. No host is contacted.

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"
#include "controller/commands.hpp"
#include "controller/console.hpp"
#include "controller/exit_status.hpp"
#include "controller/merge_reports.hpp"
#include "controller/report_reader.hpp"

namespace cleanslate::controller {
namespace {

// What does not begin like an object is given up at once, however much of it there is.
Result<std::string> read_json_file(const std::string& file, const std::string& name) {
    std::string text;
    bool begun = false;
    const auto read = read_pieces(file, [&](std::string_view piece) -> Status {
        text += piece;
        const auto first = begun ? std::string_view::npos : piece.find_first_not_of(" \t\r\n");
        begun |= first != std::string_view::npos;
        if (first != std::string_view::npos && piece[first] != '{' && piece[first] != '\xEF')
            return fail("report", name + ": no JSON report", "give one of --format json");
        if (text.size() > most_report_bytes)
            return fail("report", fmt::format("{}: larger than {} MiB", name, most_report_bytes >> 20),
                        "give smaller shards");
        return {};
    });
    if (!read) return std::unexpected(read.error());
    return text;
}

Result<NamedReport> read_one(const std::string& file) {
    const std::string name = file == "-" ? "stdin" : printable(file);
    const auto text = read_json_file(file, name);
    if (!text) return std::unexpected(text.error());
    auto report = read_report(*text, name);
    if (!report) return std::unexpected(report.error());
    return NamedReport{name, std::move(*report)};
}

Result<Report> read_all(const Options& options) {
    if (!options.merge && options.report_files.size() > 1)
        return fail("usage", "show wants one report", "to have several as one: cleanslate report merge");
    std::vector<NamedReport> reports;
    for (const std::string& file : options.report_files) {
        auto one = read_one(file);
        if (!one) return std::unexpected(one.error());
        reports.push_back(std::move(*one));
    }
    if (!options.merge) return std::move(reports.front().report);
    return merge_reports(std::move(reports));
}

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
    auto report = read_all(options);
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
