// parse: judges what an nvidia-smi query printed somewhere else.

#include <chrono>
#include <ctime>

#include "agentless/parse_input.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "controller/commands.hpp"
#include "controller/exit_status.hpp"
#include "controller/settings.hpp"

namespace cleanslate::controller {
namespace {

Result<agentless::ParseOptions> parse_options(const Options& options) {
    auto baseline = load_baseline(options);
    if (!baseline) return std::unexpected(baseline.error());
    agentless::ParseOptions parse;
    parse.columns = options.columns;
    parse.expect = options.expect;
    parse.any = options.expect_any;
    parse.exit_status = options.exit_status;
    parse.max_used = options.max_used;
    parse.baseline = std::move(*baseline);
    return parse;
}

// However much it is, little of it is ever held.
Result<agentless::HostOutcome> judged(const Options& options) {
    auto parse = parse_options(options);
    if (!parse) return std::unexpected(parse.error());
    agentless::OutputJudge judge(std::move(*parse));
    const auto read = read_pieces(options.file, [&](std::string_view piece) -> Status {
        judge.feed(piece);
        return {};
    });
    if (!read) return std::unexpected(read.error());
    agentless::HostOutcome host;
    host.name = "-";
    host.started = host.finished = true;
    host.last = judge.finish();
    host.verdict = host.last->verdict;
    return host;
}

}  // namespace

int parse_command(const Context& context) {
    if (auto may = may_write_reports(context.options); !may) {
        print_error(may.error());
        return exit_internal;
    }
    const auto began = std::chrono::steady_clock::now();
    Report report;
    report.command = "parse";
    report.started = rfc3339(std::time(nullptr));
    auto host = judged(context.options);
    if (!host) {
        print_error(host.error());
        return exit_usage;
    }
    report.result.hosts.push_back(std::move(*host));
    report.took = std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - began);
    report.exit_status = exit_status(report, {});
    return write_reports(context, report) ? report.exit_status : exit_internal;
}

}  // namespace cleanslate::controller
