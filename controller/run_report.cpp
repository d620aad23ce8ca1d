#include <fmt/core.h>

#include <map>

#include "base/text.hpp"
#include "base/units.hpp"
#include "controller/host_block.hpp"
#include "controller/text_report.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

// What is said of a host. Output lines are indented by the page, so that none of them can pass for a
// headline.
struct Answer {
    int order = 0;  // what went wrong first
    std::string ending, remedy, out, err;
    friend auto operator<=>(const Answer&, const Answer&) = default;
};

Answer answer_of(const HostOutcome& host) {
    Answer answer;
    answer.order = -static_cast<int>(asked(host));
    answer.ending = ending_of(host);
    if (host.error) answer.remedy = host.error->remedy;
    if (!host.commands.empty()) {
        answer.out = printable_lines(host.commands.back().out);
        answer.err = printable_lines(host.commands.back().err);
    }
    return answer;
}

// Of printable lines.
void write_stream(Page& page, std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.empty()) return;
    for (const std::string_view line : split(text, '\n')) {
        std::string shown;
        for (const char c : line) c == '\t' ? shown.append(8 - width_of(shown) % 8, ' ') : shown += c;
        page.line(4, {{shown}});
    }
}

}  // namespace

std::string ending_of(const HostOutcome& host) {
    if (host.error) {
        // A command that went out may have done its work, whatever became of its answer.
        const bool sent = !host.commands.empty() && host.error->phase != "audit";
        const std::string_view how = host.verdict == Verdict::unreachable ? "unreachable: "
                                     : sent                               ? "no answer: "
                                                                          : "not asked: ";
        return std::string(how) + error_text(*host.error);
    }
    if (host.commands.empty()) return "not asked";
    const CommandAction& command = host.commands.back();
    if (!command.ran_to_end) return "did not come to its end";
    if (!command.exit_signal.empty()) return "ended by " + command.exit_signal;
    return command.exit_status ? fmt::format("exit {}", *command.exit_status)
                               : std::string("ended without a status");
}

void write_run_text(const Report& report, const TextOptions& options, const Sink& sink) {
    std::map<Answer, std::vector<std::string>> answers;
    for (const HostOutcome& host : report.result.hosts) answers[answer_of(host)].push_back(host.name);
    Page page(options.columns, options.color);
    for (const auto& [answer, names] : answers) {
        const Style style = answer.order == 0 ? Style::green : Style::red;
        const std::string folded = inventory::fold(names);
        page.flow(0, 4,
                  {{names.size() == 1 ? folded : fmt::format("{} ({})", folded, names.size()), Style::bold,
                    Breaks::at_commas_too},
                   {": "},
                   {answer.ending, style}});
        if (!answer.remedy.empty()) page.wrapped(4, "-> " + answer.remedy, Style::dim);
        write_stream(page, answer.out);
        if (!answer.err.empty()) page.line(2, {{"stderr:", Style::dim}});
        write_stream(page, answer.err);
        sink(page.take());
    }
    write_summary(page, report, options.elsewhere);
    sink(page.take());
}

}  // namespace cleanslate::controller
