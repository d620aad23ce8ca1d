#include "controller/plan_view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/units.hpp"
#include "controller/acts.hpp"
#include "controller/host_block.hpp"
#include "controller/plan_steps.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;
using Kind = CommandAction::Kind;

constexpr std::size_t reasons_named = 10;  // of a host that is left as it is

// The host as it is left when its plan is told: what was seen and what is spared.
HostOutcome without_plan(const HostOutcome& host) {
    HostOutcome rest = host;
    std::erase_if(rest.signals, [](const SignalAction& a) { return a.result == SignalResult::planned; });
    std::erase_if(rest.commands, [](const CommandAction& c) { return c.planned || c.withheld; });
    return rest;
}

// "Signal 12 processes, stop 2 supervisors and run 1 command"
std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i)
        text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
    return text;
}

std::string capitalized(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

// Why a host that is not clean would be left as it is.
void write_left_host(Page& page, const HostOutcome& host) {
    page.line(0, {{host.name, Style::bold}, {" "}, word_of(host.verdict), {": nothing to do"}});
    for (const GpuVerdict& gpu : host.last->gpus) {
        if (gpu.verdict == Verdict::clean) continue;
        std::string why;
        for (const Finding& finding : gpu.findings)
            if (finding.severity != Severity::note)
                why += (why.empty() ? ": " : "; ") + finding.code + ": " + finding.text;
        page.boxed(4, fmt::format("GPU {} {}{}", gpu.index ? std::to_string(*gpu.index) : "?",
                                  to_string(gpu.verdict), why));
    }
    const auto findings = findings_of(host);
    for (std::size_t i = 0; i < findings.size() && i < reasons_named; ++i)
        page.boxed(4, findings[i].code + ": " + findings[i].text);
    for (std::size_t i = 0; i < host.spared.size() && i < reasons_named; ++i) {
        const Holder who = i < host.spared_holders.size() ? host.spared_holders[i] : Holder{};
        page.boxed(4, fmt::format("leaves alone: {}: {}: {}", holder_text(who), host.spared[i].code,
                                  host.spared[i].why));
    }
    if (host.spared.size() > reasons_named)
        page.line(4, {{fmt::format("and {} more", host.spared.size() - reasons_named)}});
}

std::string plan_body(const HostOutcome& host, std::size_t columns, bool color, bool raw_commands) {
    Page page(columns, color);
    const Listed listed = write_plan_steps(page, host, raw_commands);
    if (!has_plan(host)) page.line(4, {{"nothing to do"}});
    write_host_details(page, without_plan(host), raw_commands, listed);
    return page.take();
}

}  // namespace

void write_planned_hosts(Page& page, const std::vector<const HostOutcome*>& hosts, bool raw_commands) {
    std::vector<std::string> names;
    Milliseconds longest{0};
    for (const HostOutcome* host : hosts) {
        names.push_back(host->name);
        longest = std::max(longest, host->took);
    }
    const std::string folded = inventory::fold(names);
    const bool one = hosts.size() == 1;
    page.flow(
        0, 4,
        {{one ? folded : fmt::format("{} ({})", folded, names.size()), Style::bold, Breaks::at_commas_too},
         {" "},
         word_of(hosts.front()->verdict),
         {(one ? ", " : ", at most ") + format_duration(longest)}});
    page.add(plan_body(*hosts.front(), page.columns(), page.color(), raw_commands));
}

void write_plan(Page& page, const Report& report, bool raw_commands) {
    std::vector<std::string> idle, lost;
    std::vector<const HostOutcome*> left;
    for (const HostOutcome& host : report.result.hosts) {
        if (has_plan(host)) continue;
        if (!host.last || host.error)
            lost.push_back(host.name);
        else if (host.verdict == Verdict::clean)
            idle.push_back(host.name);
        else
            left.push_back(&host);
    }
    page.line(0, {{fmt::format("Plan of playbook {}:", report.playbook), Style::bold}});
    const auto folded = [&](const std::vector<std::string>& names, std::string_view text) {
        if (!names.empty())
            page.flow(0, 4,
                      {{fmt::format("{} ({}): {}", inventory::fold(names), names.size(), text), Style::plain,
                        Breaks::at_commas_too}});
    };
    folded(idle, "nothing to do");
    folded(lost, "no plan, will be left alone (see the report)");
    for (const HostOutcome* host : left) write_left_host(page, *host);
    std::vector<const HostOutcome*> planned;
    for (const HostOutcome& host : report.result.hosts)
        if (has_plan(host)) planned.push_back(&host);
    for (const auto& group : same_plans(planned, page.columns(), raw_commands))
        write_planned_hosts(page, group, raw_commands);
}

std::vector<std::vector<const HostOutcome*>> same_plans(const std::vector<const HostOutcome*>& hosts,
                                                        std::size_t columns, bool raw_commands) {
    std::vector<std::vector<const HostOutcome*>> groups;
    std::map<std::string, std::size_t> place;
    for (const HostOutcome* host : hosts) {
        // Others differ in pids and ages at least.
        const bool alike = host->verdict == Verdict::clean && !host->error;
        if (alike) {
            const auto [found, fresh] =
                place.emplace(plan_body(*host, columns, false, raw_commands), groups.size());
            if (!fresh) {
                groups[found->second].push_back(host);
                continue;
            }
        }
        groups.push_back({host});
    }
    return groups;
}

PlanSize size_of_plan(const std::vector<HostOutcome>& hosts) {
    PlanSize size;
    for (const HostOutcome& host : hosts) {
        if (!has_plan(host)) continue;
        ++size.hosts;
        std::set<ProcessKey> processes;
        for (const SignalAction& action : host.signals)
            if (action.result == SignalResult::planned) processes.insert(action.process.key);
        size.processes += processes.size();
        bool reboots = false, perhaps = false;
        for (const CommandAction& action : host.commands) {
            if (!is_planned(action)) continue;
            switch (action.kind) {
                case Kind::stop:
                    ++size.stops;
                    break;
                case Kind::reset:
                    ++(action.conditional ? size.perhaps_resets : size.resets);
                    break;
                case Kind::clean_shm:
                    size.files.push_back(&action);
                    break;
                case Kind::reboot:
                    (action.conditional ? perhaps : reboots) = true;
                    break;
                case Kind::run:
                case Kind::before:
                case Kind::after:
                    ++size.commands;
                    break;
            }
        }
        size.reboots += reboots ? 1 : 0;
        size.perhaps_reboots += perhaps && !reboots ? 1 : 0;
    }
    return size;
}

std::string question_for(const PlanSize& size) {
    std::vector<std::string> parts, perhaps;
    if (size.processes > 0) parts.push_back("signal " + count_of(size.processes, "process", "processes"));
    if (size.stops > 0) parts.push_back("stop " + count_of(size.stops, "supervisor"));
    if (size.resets > 0) parts.push_back("reset " + count_of(size.resets, "GPU"));
    if (!size.files.empty()) parts.push_back("remove " + files_text(size.files));
    if (size.commands > 0) parts.push_back("run " + count_of(size.commands, "command"));
    if (size.perhaps_resets > 0) perhaps.push_back("reset " + count_of(size.perhaps_resets, "GPU"));
    if (size.perhaps_reboots > 0) perhaps.push_back("reboot " + count_of(size.perhaps_reboots, "host"));
    std::string text;
    if (size.reboots == 0)
        text = fmt::format("{} on {}", capitalized(joined(parts)), count_of(size.hosts, "host"));
    else if (parts.empty())
        text = fmt::format("Reboot {}", count_of(size.reboots, "host"));
    else
        text = fmt::format("{} on {}, and reboot {} of them", capitalized(joined(parts)),
                           count_of(size.hosts, "host"), size.reboots);
    return perhaps.empty() ? text + "?" : text + ", and perhaps " + joined(perhaps) + "?";
}

}  // namespace cleanslate::controller
