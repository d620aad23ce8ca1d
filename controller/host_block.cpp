#include "controller/host_block.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "controller/acts.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

constexpr std::size_t gpu_indent = 4;
constexpr std::size_t detail_indent = 8;

std::string result_text(const SignalAction& action) {
    const std::string after = action.took ? " after " + format_duration(*action.took) : "";
    switch (action.result) {
        case SignalResult::ended:
            return "ended" + after;
        case SignalResult::alive:
            return (action.state == '?' ? std::string("still alive")
                                        : fmt::format("still alive ({})", action.state)) +
                   after;
        case SignalResult::zombie:
            return "a zombie" + after;
        case SignalResult::changed:
            return "not signalled: another process has its pid now";
        case SignalResult::not_permitted:
            return "not permitted";
        case SignalResult::planned:
            return "planned";
        case SignalResult::not_sent:
            return "not sent";
        case SignalResult::sent:
            return "sent; what became of it was not seen";
    }
    return "";
}

struct Ended {
    std::size_t count = 0;
    Milliseconds longest{0};
    bool written = false;
};

// What ended is counted, what did not (and one alone) is named.
void write_signals(Page& page, const std::vector<SignalAction>& signals) {
    std::map<std::pair<int, std::string>, Ended> rounds;
    for (const SignalAction& action : signals) {
        if (action.result != SignalResult::ended) continue;
        Ended& ended = rounds[{action.step, action.signal}];
        ++ended.count;
        ended.longest = std::max(ended.longest, action.took.value_or(Milliseconds{0}));
    }
    for (const SignalAction& action : signals) {
        const std::string head = fmt::format("step {} {}: ", action.step, action.signal);
        Ended& ended = rounds[{action.step, action.signal}];
        if (action.result != SignalResult::ended || ended.count == 1) {
            page.cut(gpu_indent, {{head + holder_text(action.process) + ": " + result_text(action) + ": "},
                                  {command_text(action.process)}});
        } else if (!std::exchange(ended.written, true)) {
            page.cut(gpu_indent, {{fmt::format("{}{} ended, the last after {}", head,
                                               count_of(ended.count, "process", "processes"),
                                               format_duration(ended.longest))}});
        }
    }
}

// Openers that stand neither in the plan above nor among those left alone below.
void write_openers(Page& page, const HostOutcome& host, const Listed& listed) {
    for (const Holder& opener : host.last->openers) {
        const auto same = [&](const Spared& spared) { return spared.key == opener.key; };
        if (listed.contains(opener.key) || std::ranges::any_of(host.spared, same)) continue;
        write_holder(page, gpu_indent, "opener ", opener);
    }
}

void write_spared(Page& page, const HostOutcome& host) {
    for (std::size_t i = 0; i < host.spared.size(); ++i) {
        const Spared& spared = host.spared[i];
        Holder holder;
        holder.key = spared.key;
        if (i < host.spared_holders.size()) holder = host.spared_holders[i];
        page.cut(gpu_indent, {{"left alone: " + holder_text(holder) + ": "}, {command_text(holder)}});
        const bool names_its_code = spared.why.starts_with(spared.code);
        page.wrapped(detail_indent, names_its_code ? spared.why : spared.code + ": " + spared.why,
                     Style::dim);
    }
}

}  // namespace

void write_host_details(Page& page, const HostOutcome& host, bool raw_commands, const Listed& listed) {
    if (host.error) {
        page.wrapped(gpu_indent, error_text(*host.error));
        if (!host.error->remedy.empty()) page.wrapped(detail_indent, "-> " + host.error->remedy, Style::dim);
    }
    if (host.last) write_gpus(page, host.last->gpus, listed);
    if (host.last) write_openers(page, host, listed);
    std::vector<Finding> findings;
    for (Finding& finding : findings_of(host)) {
        if (shown_as_holder(finding) || repeats_error(host, finding)) continue;
        // Next to others of its code.
        const auto last = std::find_if(findings.rbegin(), findings.rend(),
                                       [&](const Finding& other) { return other.code == finding.code; });
        findings.insert(last == findings.rend() ? findings.end() : last.base(), std::move(finding));
    }
    write_findings(page, gpu_indent, findings);
    write_spared(page, host);
    write_signals(page, host.signals);
    write_acts(page, gpu_indent, host, raw_commands);
}

void write_findings(Page& page, std::size_t indent, const std::vector<Finding>& findings) {
    for (std::size_t i = 0; i < findings.size(); ++i) {
        const Finding& finding = findings[i];
        page.wrapped(indent, finding.code + ": " + finding.text);
        const bool said_again = i + 1 < findings.size() && findings[i + 1].code == finding.code &&
                                findings[i + 1].remedy == finding.remedy;
        if (!finding.remedy.empty() && !said_again)
            page.wrapped(indent + 4, "-> " + finding.remedy, Style::dim);
    }
}

std::string error_text(const Error& error) {
    return error.phase.empty() || error.phase == error.message ? error.message
                                                               : error.phase + ": " + error.message;
}

std::string pid_text(const ProcessKey& key) {
    return key.pid == 0 ? "a process without pid" : fmt::format("pid {}", key.pid);
}

std::string holder_text(const Holder& holder) {
    std::string text = pid_text(holder.key);
    if (!holder.user.empty()) text += " " + holder.user;
    if (holder.state != '?') text += fmt::format(" {}", holder.state);
    if (holder.age_s)
        text += ", " +
                format_duration(Milliseconds{
                    static_cast<std::int64_t>(std::min<std::uint64_t>(*holder.age_s, 4'000'000'000)) * 1000});
    if (holder.used) text += fmt::format(", {} MiB", holder.used->count);
    return text;
}

std::string command_text(const Holder& holder) {
    if (holder.ghost) return "(ghost: the driver lists it, it no longer lives)";
    if (holder.command && !holder.command->empty()) return *holder.command;
    if (holder.exe && !holder.exe->empty()) return "[" + *holder.exe + "]";
    return "(command line not seen)";
}

std::string work_text(const HostOutcome& host) {
    struct Round {
        std::size_t sent = 0;
        std::size_t ended = 0;
    };
    std::map<std::pair<int, std::string>, Round> rounds;
    for (const SignalAction& action : host.signals) {
        if (action.result == SignalResult::planned || action.result == SignalResult::not_sent) continue;
        Round& round = rounds[{action.step, action.signal}];
        ++round.sent;
        if (action.result == SignalResult::ended) ++round.ended;
    }
    std::string text;
    for (const auto& [key, round] : rounds) {
        const std::string how =
            round.ended == round.sent ? std::string("ended") : fmt::format("{} ended", round.ended);
        text += fmt::format("{}{} to {} ({})", text.empty() ? "" : ", ", key.second, round.sent, how);
    }
    if (const std::string acts = acts_text(host); !acts.empty()) text += (text.empty() ? "" : ", ") + acts;
    return text;
}

std::string fold_numbers(const std::vector<int>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(numbers[i]);
        if (last > i) text += "-" + std::to_string(numbers[last]);
        i = last + 1;
    }
    return text;
}

}  // namespace cleanslate::controller
