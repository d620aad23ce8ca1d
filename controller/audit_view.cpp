#include "controller/audit_view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/units.hpp"
#include "controller/json_text.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t command_shown = 600;  // code points

std::string outcome_of(const AuditedAct& act) {
    static const std::map<std::string, std::string> words = {
        {"alive", "outlived the step's wait"},
        {"zombie", "a zombie: dead, and not reaped by its parent"},
        {"changed", "not signalled: its pid was another process's"},
        {"not_permitted", "not permitted"},
        {"not_sent", "not sent"},
        {"not_ended", "did not come to its end"},
    };
    if (!act.ended) return "sent; what became of it was not recorded";
    if (act.result.empty()) return "sent; what became of it was not seen";
    const auto found = words.find(act.result);
    std::string text = found == words.end() ? act.result : found->second;
    if (act.exit_status) text += fmt::format(" (exit {})", *act.exit_status);
    return text;
}

// The longest: no log makes a duration overflow.
std::string after_text(std::optional<double> took, bool several) {
    if (!took || !(*took >= 0)) return {};
    const auto ms = static_cast<std::int64_t>(std::min(*took, 1e9) * 1000);
    return (several ? " after at most " : " after ") + format_duration(Milliseconds{ms});
}

struct Group {
    const AuditedAct* first = nullptr;
    std::optional<double> longest;
    std::vector<const AuditedAct*> acts;
};

std::vector<Group> groups_of(const AuditedSweep& sweep) {
    std::vector<Group> groups;
    std::map<std::vector<std::string>, std::size_t> place;
    for (const AuditedAct& act : sweep.acts) {
        const std::vector<std::string> key{std::to_string(act.step.value_or(-1)),
                                           act.signal,
                                           act.kind,
                                           act.command,
                                           act.owner,
                                           act.rule,
                                           outcome_of(act),
                                           act.intended ? "" : "result only"};
        const auto [found, fresh] = place.emplace(key, groups.size());
        if (fresh) groups.push_back({&act, std::nullopt, {}});
        Group& group = groups[found->second];
        group.acts.push_back(&act);
        if (act.took) group.longest = std::max(group.longest.value_or(0), *act.took);
    }
    return groups;
}

// "gpu01: pid 812, 813; gpu02: pid 990", "gpu[01-64] (64)".
std::string members_of(const Group& group) {
    std::vector<std::string> hosts;
    std::map<std::string, std::string> pids;
    for (const AuditedAct* act : group.acts) {
        if (!pids.contains(act->host)) hosts.push_back(act->host);
        std::string& text = pids[act->host];
        if (act->pid) text += (text.empty() ? "pid " : ", ") + std::to_string(*act->pid);
    }
    if (group.first->signal.empty()) {
        const std::string names = inventory::fold(hosts);
        return hosts.size() == 1 ? names : fmt::format("{} ({})", names, hosts.size());
    }
    std::string text;
    for (const std::string& host : hosts) text += (text.empty() ? "" : "; ") + host + ": " + pids[host];
    return text;
}

std::string times_of(const Group& group) {
    const std::string& first = group.acts.front()->time;
    const std::string& last = group.acts.back()->time;
    return first == last ? first : first + " to " + last;
}

void write_group(Page& page, const Group& group) {
    const AuditedAct& act = *group.first;
    const std::string what = act.signal.empty() ? act.kind : act.signal;
    const std::string step = act.step && *act.step > 0 ? fmt::format("step {} ", *act.step) : std::string();
    page.boxed(4, step + what + ": " + ellipsize(act.command, command_shown));
    std::string how = outcome_of(act) + after_text(group.longest, group.acts.size() > 1);
    if (!act.intended) how += "; its intent is not in this part of the log";
    page.boxed(8, how);
    page.boxed(8, members_of(group));
    std::string why = times_of(group);
    if (!act.owner.empty()) why += ", of " + act.owner;
    if (!act.rule.empty()) why += ": " + act.rule;
    page.boxed(8, why, Style::dim);
}

std::string head_of(const AuditedSweep& sweep) {
    std::string head = sweep.by.empty() ? "somebody" : sweep.by;
    if (!sweep.from.empty()) head += "@" + sweep.from;
    if (!sweep.login.empty() && sweep.login != sweep.by) head += " (logged in as " + sweep.login + ")";
    if (sweep.by_pid) head += fmt::format(", pid {}", *sweep.by_pid);
    if (sweep.continued) return head + ", continued";
    if (sweep.ended.empty()) return head + ": no end was recorded: it still runs, or was cut";
    head += ": " + (sweep.why.empty() ? "ended" : sweep.why) + " at " + sweep.ended;
    if (sweep.exit_status) head += fmt::format(", exit {}", *sweep.exit_status);
    return head;
}

Json act_json(const AuditedAct& act) {
    return {{"time", text_or_null(act.time)},
            {"host", text_or_null(act.host)},
            {"address", text_or_null(act.address)},
            {"boot_id", text_or_null(act.boot_id)},
            {"step", number_or_null(act.step)},
            {"signal", text_or_null(act.signal)},
            {"kind", act.signal.empty() ? text_or_null(act.kind) : Json(nullptr)},
            {"pid", number_or_null(act.pid)},
            {"start", text_or_null(act.start)},
            {"owner", text_or_null(act.owner)},
            {"exe", text_or_null(act.exe)},
            {"unit", text_or_null(act.unit)},
            {"command", text_or_null(act.command)},
            {"rule", text_or_null(act.rule)},
            {"intended", act.intended},
            {"recorded", act.ended},
            {"result", text_or_null(act.result)},
            {"exit_status", number_or_null(act.exit_status)},
            {"seconds", number_or_null(act.took)}};
}

}  // namespace

std::string fate_of(const AuditedAct& act) { return outcome_of(act) + after_text(act.took, false); }

void write_audited_sweep(Page& page, const AuditedSweep& sweep) {
    const std::string began =
        sweep.began.empty() ? "(its beginning is not in this part of the log)" : sweep.began;
    page.boxed(0, began + " " + head_of(sweep), Style::bold);
    if (!sweep.command_line.empty()) page.boxed(4, sweep.command_line);
    for (const Group& group : groups_of(sweep)) write_group(page, group);
    if (sweep.acts.empty() && !sweep.continued) page.line(4, {{"nothing was sent", Style::dim}});
}

Json audited_sweep_json(const AuditedSweep& sweep) {
    Json acts = Json::array();
    for (const AuditedAct& act : sweep.acts) acts.push_back(act_json(act));
    return {{"sweep", printable(sweep.id)},           {"by", text_or_null(sweep.by)},
            {"from", text_or_null(sweep.from)},       {"login", text_or_null(sweep.login)},
            {"by_pid", number_or_null(sweep.by_pid)}, {"command_line", text_or_null(sweep.command_line)},
            {"began", text_or_null(sweep.began)},     {"ended", text_or_null(sweep.ended)},
            {"why", text_or_null(sweep.why)},         {"exit_status", number_or_null(sweep.exit_status)},
            {"continued", sweep.continued},           {"acts", std::move(acts)}};
}

}  // namespace cleanslate::controller
