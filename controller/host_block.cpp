#include "controller/host_block.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/units.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

constexpr std::size_t gpu_indent = 4;
constexpr std::size_t detail_indent = 8;

std::string index_text(const GpuVerdict& gpu) {
    if (gpu.index) return std::to_string(*gpu.index);
    if (!gpu.bus_id.empty()) return gpu.bus_id;
    return gpu.uuid.empty() ? "?" : gpu.uuid;
}

std::string memory_text(const GpuVerdict& gpu) {
    const std::string used = gpu.used ? std::to_string(gpu.used->count) : "?";
    return gpu.total ? fmt::format("{} / {} MiB", used, gpu.total->count) : used + " MiB";
}

// A clean GPU about which nothing needs to be said.
bool is_plain(const GpuVerdict& gpu) {
    return gpu.verdict == Verdict::clean && gpu.findings.empty() && !gpu.repaired && gpu.index;
}

void write_gpu_line(Page& page, const std::string& which, Verdict verdict, const std::string& rest) {
    const std::string word(to_string(verdict));
    page.cut(gpu_indent, {{fmt::format("GPU {:<7} ", which)},
                          {word, style_of(verdict)},
                          {std::string(word.size() < 8 ? 8 - word.size() : 1, ' ')},
                          {rest}});
}

void write_holder(Page& page, std::size_t indent, std::string_view role, const Holder& holder) {
    page.cut(indent, {{std::string(role) + holder_text(holder) + ": "}, {command_text(holder)}});
    std::vector<std::string> remarks;
    if (holder.is_protected) remarks.push_back("protected: " + holder.protected_by);
    if (holder.unit) remarks.push_back("in " + *holder.unit);
    if (holder.ghost) remarks.push_back("the driver lists it, but it no longer lives");
    if (holder.inherited) remarks.push_back("keeps a dead process's memory through inherited descriptors");
    if (holder.foreign_pid) remarks.push_back("in another pid namespace");
    std::string text;
    for (const std::string& remark : remarks) text += (text.empty() ? "" : "; ") + remark;
    if (!text.empty()) page.wrapped(indent + 4, text, Style::dim);
}

void write_plain_gpus(Page& page, const std::vector<GpuVerdict>& gpus) {
    std::vector<int> indexes;
    std::int64_t most = 0;
    for (const GpuVerdict& gpu : gpus) {
        if (!is_plain(gpu)) continue;
        indexes.push_back(*gpu.index);
        if (gpu.used) most = std::max(most, gpu.used->count);
    }
    if (!indexes.empty())
        write_gpu_line(page, fold_numbers(indexes), Verdict::clean, fmt::format("at most {} MiB", most));
}

void write_gpus(Page& page, const std::vector<GpuVerdict>& gpus) {
    for (const GpuVerdict& gpu : gpus) {
        if (is_plain(gpu)) continue;
        std::string rest = memory_text(gpu);
        if (gpu.repaired) rest += "  (repaired: its row was fused to printed pids)";
        if (!gpu.name.empty()) rest += "  " + gpu.name;
        write_gpu_line(page, index_text(gpu), gpu.verdict, rest);
        for (const Holder& holder : gpu.holders) write_holder(page, detail_indent, "", holder);
        for (const Finding& finding : gpu.findings) write_finding(page, detail_indent, finding);
    }
    write_plain_gpus(page, gpus);
}

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

// What ended is counted; what did not is named.
void write_signals(Page& page, const std::vector<SignalAction>& signals) {
    std::map<std::pair<int, std::string>, std::pair<std::size_t, Milliseconds>> ended;
    for (const SignalAction& action : signals) {
        if (action.result != SignalResult::ended) continue;
        auto& [count, longest] = ended[{action.step, action.signal}];
        ++count;
        longest = std::max(longest, action.took.value_or(Milliseconds{0}));
    }
    for (const SignalAction& action : signals) {
        const std::string head = fmt::format("step {} {}: ", action.step, action.signal);
        if (action.result != SignalResult::ended) {
            page.cut(gpu_indent, {{head + holder_text(action.process) + ": " + result_text(action) + ": "},
                                  {command_text(action.process)}});
            continue;
        }
        const auto group = ended.find({action.step, action.signal});
        if (group == ended.end()) continue;
        const auto [count, longest] = group->second;
        page.cut(gpu_indent,
                 {{fmt::format("{}{} ended, the last after {}", head, count_of(count, "process", "processes"),
                               format_duration(longest))}});
        ended.erase(group);
    }
}

void write_commands(Page& page, const HostOutcome& host, bool raw) {
    for (const CommandAction& action : host.commands) {
        std::string how = "planned";
        if (!action.planned && !action.ran_to_end)
            how = "did not come to its end";
        else if (!action.planned && action.exit_status)
            how = fmt::format("exit {}", *action.exit_status);
        else if (!action.planned && !action.exit_signal.empty())
            how = "ended by " + action.exit_signal;
        if (action.took) how += " after " + format_duration(*action.took);
        page.cut(gpu_indent, {{fmt::format("step {} run: {}: ", action.step, how)},
                              {shown_command(action.command, raw)}});
        if (action.ok || action.planned) continue;
        for (const std::string* stream : {&action.out, &action.err})
            for (std::string_view line : split(trim(*stream), '\n'))
                if (!trim(line).empty()) page.cut(detail_indent, {{std::string(trim(line)), Style::dim}});
    }
}

void write_spared(Page& page, const HostOutcome& host) {
    for (std::size_t i = 0; i < host.spared.size(); ++i) {
        const Spared& spared = host.spared[i];
        Holder holder;
        holder.key = spared.key;
        if (i < host.spared_holders.size()) holder = host.spared_holders[i];
        page.cut(gpu_indent, {{"left alone: " + holder_text(holder) + ": "}, {command_text(holder)}});
        page.wrapped(detail_indent, spared.code + (spared.why.empty() ? "" : ": " + spared.why), Style::dim);
    }
}

}  // namespace

void write_host_details(Page& page, const HostOutcome& host, bool raw_commands) {
    if (host.error) {
        page.wrapped(gpu_indent, error_text(*host.error));
        if (!host.error->remedy.empty()) page.wrapped(detail_indent, "-> " + host.error->remedy, Style::dim);
    }
    if (host.last) write_gpus(page, host.last->gpus);
    if (host.last)
        for (const Holder& opener : host.last->openers) write_holder(page, gpu_indent, "opener ", opener);
    for (const Finding& finding : findings_of(host)) write_finding(page, gpu_indent, finding);
    write_spared(page, host);
    write_signals(page, host.signals);
    write_commands(page, host, raw_commands);
}

void write_finding(Page& page, std::size_t indent, const Finding& finding) {
    page.wrapped(indent, finding.code + ": " + finding.text);
    if (!finding.remedy.empty()) page.wrapped(indent + 4, "-> " + finding.remedy, Style::dim);
}

std::string error_text(const Error& error) {
    return error.phase.empty() || error.phase == error.message ? error.message
                                                               : error.phase + ": " + error.message;
}

std::string holder_text(const Holder& holder) {
    std::string text = fmt::format("pid {}", holder.key.pid);
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
    const auto ran = std::ranges::count_if(host.commands, [](const CommandAction& c) { return !c.planned; });
    if (ran > 0)
        text += (text.empty() ? "" : ", ") + count_of(static_cast<std::size_t>(ran), "command") + " run";
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
