#include "controller/formats/junit_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "controller/host_block.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

constexpr std::size_t columns = 400;  // of the details: nobody folds them to a screen
constexpr std::size_t reasons_named = 3;

// Text that is printable but for its line ends and tabs: nothing of it is unknown to XML 1.0.
std::string xml(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string attribute(std::string_view name, std::string_view value) {
    return fmt::format(" {}=\"{}\"", name, xml(printable(value)));
}

std::string seconds(Milliseconds took) {
    const auto count = std::max<std::int64_t>(took.count(), 0);
    return fmt::format("{}.{:03}", count / 1000, count % 1000);
}

enum class Ending { passed, failure, error };

// One that was not begun is no skipped one: CI systems are green beside those.
Ending ending_of_case(const Report& report, const HostOutcome& host) {
    if (report.is_run()) {
        const Asked how = asked(host);
        return how == Asked::ok ? Ending::passed : how == Asked::failed ? Ending::failure : Ending::error;
    }
    if (not_tried(host)) return Ending::error;
    if (host.verdict == Verdict::clean) return Ending::passed;
    const bool known = host.verdict == Verdict::dirty || host.verdict == Verdict::sick;
    return known ? Ending::failure : Ending::error;
}

struct Case {
    std::string type, message, details, output;
};

// "GPU 2: 76107 MiB used, the limit is 100 MiB; GPU 3: ...".
std::string reasons_of(const HostOutcome& host) {
    std::vector<std::string> reasons;
    const auto add = [&](const Finding& finding, const std::string& where) {
        if (finding.severity == Severity::note) return;
        const std::string reason = where + finding.text;
        if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(reason);
    };
    for (const Finding& finding : findings_of(host)) add(finding, "");
    if (host.last)
        for (const GpuVerdict& gpu : host.last->gpus)
            for (const Finding& finding : gpu.findings)
                add(finding, fmt::format("GPU {}: ", gpu.index            ? std::to_string(*gpu.index)
                                                     : gpu.bus_id.empty() ? "?"
                                                                          : gpu.bus_id));
    std::string text;
    for (std::size_t i = 0; i < reasons.size() && i < reasons_named; ++i)
        text += (i == 0 ? "" : "; ") + reasons[i];
    if (reasons.size() > reasons_named) text += fmt::format("; and {} more", reasons.size() - reasons_named);
    return text.empty() ? std::string(to_string(host.verdict)) : text;
}

std::string details_of(const HostOutcome& host, bool raw_commands) {
    Page page(columns, false);
    write_host_details(page, host, raw_commands);
    return page.take();
}

Case surveyed_case(const HostOutcome& host, Ending ending, bool raw_commands) {
    Case result;
    if (ending == Ending::passed) return result;
    result.type = not_tried(host) ? "not_begun" : to_string(host.verdict);
    result.message = host.error ? error_text(*host.error) : reasons_of(host);
    if (!not_tried(host)) result.details = details_of(host, raw_commands);
    return result;
}

Case asked_case(const HostOutcome& host, Ending ending) {
    Case result;
    if (ending == Ending::failure) result.type = "failed";
    if (ending == Ending::error)
        result.type = host.verdict == Verdict::unreachable ? "unreachable" : "not_asked";
    result.message = ending_of(host);
    if (host.error && !host.error->remedy.empty()) result.details = "-> " + printable(host.error->remedy);
    for (const CommandAction& command : host.commands) {
        result.output += printable_lines(command.out);
        if (command.err.empty()) continue;
        if (!result.output.empty() && !result.output.ends_with('\n')) result.output += '\n';
        result.output += "stderr:\n" + printable_lines(command.err);
    }
    return result;
}

std::string_view tag_of(Ending ending) {
    switch (ending) {
        case Ending::passed:
            return "";
        case Ending::failure:
            return "failure";
        case Ending::error:
            return "error";
    }
    return "";
}

std::string text_of(const HostOutcome& host, Ending ending, const Case& result, std::string_view group) {
    std::string body;
    if (const std::string_view tag = tag_of(ending); !tag.empty()) {
        body += fmt::format("<{}", tag);
        body += attribute("type", result.type) + attribute("message", result.message);
        body += result.details.empty() ? "/>" : fmt::format(">{}</{}>", xml(result.details), tag);
        body += '\n';
    }
    if (!result.output.empty()) body += "<system-out>" + xml(result.output) + "</system-out>\n";
    const std::string head = "<testcase" + attribute("name", host.name) + attribute("classname", group) +
                             attribute("time", seconds(host.took));
    return body.empty() ? head + "/>\n" : head + ">\n" + body + "</testcase>\n";
}

std::string property(std::string_view name, std::string_view value) {
    if (value.empty()) return {};
    return "<property" + attribute("name", name) + attribute("value", value) + "/>\n";
}

std::string properties_of(const Report& report) {
    const auto worst = summarize(report).verdict;
    return "<properties>\n" + property("command", report.command) + property("playbook", report.playbook) +
           property("inventory", report.inventory) + property("limit", report.limit) +
           property("dry_run", report.dry_run ? "true" : "false") +
           property("verdict", worst ? to_string(*worst) : "") +
           property("exit_status", std::to_string(report.exit_status)) + "</properties>\n";
}

}  // namespace

void write_junit(const Report& report, bool raw_commands, const Sink& sink) {
    const std::vector<HostOutcome>& hosts = report.result.hosts;
    std::size_t counts[3] = {};
    for (const HostOutcome& host : hosts) ++counts[static_cast<std::size_t>(ending_of_case(report, host))];
    const auto count = [&](Ending ending) {
        return std::to_string(counts[static_cast<std::size_t>(ending)]);
    };
    const std::string totals = attribute("tests", std::to_string(hosts.size())) +
                               attribute("failures", count(Ending::failure)) +
                               attribute("errors", count(Ending::error));
    const std::string took = attribute("time", seconds(report.took));
    // Readers of the format know no zone behind a time: it is UTC.
    std::string_view started = report.started;
    if (started.ends_with('Z')) started.remove_suffix(1);
    sink("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", "cleanslate") +
         totals + took + ">\n<testsuite" + attribute("id", "0") + attribute("package", "cleanslate") +
         attribute("name", "cleanslate " + report.command) + attribute("hostname", "localhost") +
         attribute("timestamp", started) + totals + attribute("skipped", "0") + took + ">\n" +
         properties_of(report));
    const std::string group = report.inventory.empty() ? "cleanslate" : report.inventory;
    for (const HostOutcome& host : hosts) {
        const Ending ending = ending_of_case(report, host);
        const Case result =
            report.is_run() ? asked_case(host, ending) : surveyed_case(host, ending, raw_commands);
        sink(text_of(host, ending, result, group));
    }
    sink("<system-out/>\n<system-err/>\n</testsuite>\n</testsuites>\n");
}

}  // namespace cleanslate::controller
