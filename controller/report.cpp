#include "controller/report.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "agentless/account_trouble.hpp"
#include "base/text.hpp"

namespace cleanslate::controller {

using agentless::Finding;
using agentless::HostOutcome;
using agentless::SignalResult;
using agentless::Verdict;

bool is_clean_in_part(const HostOutcome& host) {
    return host.verdict == Verdict::clean && host.last &&
           std::ranges::any_of(host.last->gpus, [](const agentless::GpuVerdict& gpu) {
               return !gpu.judged && gpu.verdict != Verdict::clean;
           });
}

bool not_tried(const HostOutcome& host) { return host.error && host.error->kind == "not_tried"; }

Asked asked(const HostOutcome& host) {
    if (host.error || host.commands.empty()) return Asked::not_asked;
    const auto ended = [](const auto& command) { return command.ran_to_end; };
    if (!std::ranges::all_of(host.commands, ended)) return Asked::not_asked;
    const auto ok = [](const auto& command) { return command.ok; };
    return std::ranges::all_of(host.commands, ok) ? Asked::ok : Asked::failed;
}

std::optional<Verdict> verdict_of(const Report& report, const HostOutcome& host) {
    if (!report.is_run()) return host.verdict;
    if (host.verdict == Verdict::unreachable || not_tried(host)) return host.verdict;
    return std::nullopt;
}

Summary summarize(const Report& report) {
    Summary summary;
    for (const HostOutcome& host : report.result.hosts) {
        if (report.is_run()) ++summary.asked[static_cast<std::size_t>(asked(host))];
        if (const auto verdict = verdict_of(report, host)) {
            ++summary.hosts[static_cast<std::size_t>(*verdict)];
            summary.verdict = summary.verdict ? worse(*summary.verdict, *verdict) : *verdict;
        }
        if (!host.last) continue;
        for (const auto& gpu : host.last->gpus) ++summary.gpus[static_cast<std::size_t>(gpu.verdict)];
    }
    return summary;
}

std::vector<Finding> findings_of(const HostOutcome& host) {
    std::vector<Finding> findings;
    if (host.last) findings = host.last->findings;
    std::set<std::pair<std::string_view, std::string_view>> said;
    if (host.last)
        for (const Finding& finding : host.last->findings) said.emplace(finding.code, finding.text);
    for (const Finding& finding : host.findings)
        if (said.emplace(finding.code, finding.text).second) findings.push_back(finding);
    return findings;
}

bool repeats_error(const HostOutcome& host, const Finding& finding) {
    return host.error &&
           (finding.code == agentless::finding_code_of(*host.error) || finding.text == host.error->message);
}

std::string shown_command(const std::string& command, bool raw) {
    if (raw) return printable(command);
    // As one argument, since a secret may have blanks in it; one that does not begin with NAME=, since that
    // would be the value of NAME to its end.
    return agentless::masked_command({" " + command}).substr(1);
}

void mask_commands(Report& report) {
    const auto mask = [](agentless::Holder& holder) {
        if (holder.command) holder.command = shown_command(*holder.command, false);
    };
    const auto mask_all = [&](std::vector<agentless::Holder>& holders) {
        std::ranges::for_each(holders, mask);
    };
    for (HostOutcome& host : report.result.hosts) {
        if (host.last) {
            for (agentless::GpuVerdict& gpu : host.last->gpus) mask_all(gpu.holders);
            mask_all(host.last->openers);
        }
        for (agentless::SignalAction& action : host.signals) mask(action.process);
        mask_all(host.spared_holders);
        for (agentless::PlannedStep& step : host.plan_steps) mask_all(step.target_holders);
    }
}

bool was_not_sent(const agentless::CommandAction& action) { return action.not_sent; }

bool is_planned(const agentless::CommandAction& action) {
    return action.planned && !action.withheld && !was_not_sent(action);
}

bool has_plan(const HostOutcome& host) {
    const auto planned_signal = [](const auto& action) { return action.result == SignalResult::planned; };
    return std::ranges::any_of(host.signals, planned_signal) ||
           std::ranges::any_of(host.commands, is_planned);
}

bool has_withheld(const HostOutcome& host) {
    return std::ranges::any_of(host.commands, [](const auto& action) { return action.withheld; });
}

}  // namespace cleanslate::controller
