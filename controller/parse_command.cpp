// parse: judges what an nvidia-smi query printed somewhere else.

#include <chrono>
#include <ctime>

#include "agentless/parse_input.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "controller/commands.hpp"
#include "controller/exit_status.hpp"

namespace cleanslate::controller {
namespace {

constexpr std::size_t max_input = 64u << 20;

agentless::HostOutcome judged(const Options& options, const std::string& text) {
    agentless::ParseOptions parse;
    parse.columns = options.columns;
    parse.expect = options.expect;
    parse.any = options.expect_any;
    parse.max_used = options.max_used;
    agentless::HostOutcome host;
    host.name = "-";
    host.started = host.finished = true;
    host.last = agentless::judge_output(text, parse);
    host.verdict = host.last->verdict;
    return host;
}

}  // namespace

int parse_command(const Context& context) {
    const auto text = read_file(context.options.file, max_input);
    if (!text) {
        print_error(text.error());
        return exit_usage;
    }
    const auto began = std::chrono::steady_clock::now();
    Report report;
    report.command = "parse";
    report.started = rfc3339(std::time(nullptr));
    report.result.hosts.push_back(judged(context.options, *text));
    report.took = std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - began);
    report.exit_status = exit_status(report, {});
    return write_report(context, report) ? report.exit_status : exit_internal;
}

}  // namespace cleanslate::controller
