#include "agentless/after_kill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "agentless/supervisor.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

const Process* find(const Evidence& evidence, ProcessKey key) {
    const Process* process = evidence.find(key.pid);
    return process != nullptr && process->key == key ? process : nullptr;
}

std::string title(const Process& process) {
    return fmt::format("pid {} ({})", process.key.pid, ellipsize(printable(process.comm), 24));
}

// Why `now` is `then` started anew: the same unit, the same living parent, or the same program of the same
// user.
bool takes_the_place_of(const Process& now, const Process& then) {
    if (now.uid != then.uid) return false;
    if (now.cgroup && now.cgroup == then.cgroup && supervisor_of(*now.cgroup).respawns()) return true;
    if (now.parent == then.parent && now.parent > 1) return true;
    return now.exe && now.exe == then.exe && now.argv && now.argv == then.argv;
}

struct Origin {
    std::string who;
    std::string remedy;
};

Origin origin_of(const Process& process, const Evidence& after) {
    if (process.cgroup) {
        const auto supervisor = supervisor_of(*process.cgroup);
        if (supervisor.kind != SupervisorKind::none && supervisor.kind != SupervisorKind::login_session)
            return {supervisor.name, supervisor.stop_command.empty()
                                         ? fmt::format("stop {} first, then clear again", supervisor.name)
                                         : fmt::format("`{}`, then clear again", supervisor.stop_command)};
    }
    if (const Process* parent = after.find(process.parent); parent != nullptr && process.parent > 1)
        return {"its parent " + title(*parent),
                fmt::format("stop pid {} first, or match it with `tree: true`, then clear again",
                            process.parent)};
    return {"something that is not its parent any more",
            "find who starts it (cron, a login loop), then clear again"};
}

std::vector<Holder> unprotected_holders(const HostVerdict& verdict) {
    std::map<ProcessKey, Holder> holders;
    const auto add = [&](const std::vector<Holder>& some) {
        for (const auto& h : some)
            if (!h.is_protected && !h.ghost && !h.foreign_pid) holders.emplace(h.key, h);
    };
    for (const auto& gpu : verdict.gpus) add(gpu.holders);
    add(verdict.openers);
    std::vector<Holder> result;
    for (auto& [key, holder] : holders) result.push_back(std::move(holder));
    return result;
}

std::optional<Mebibytes> used_by(const Evidence& evidence, Pid pid) {
    std::optional<Mebibytes> sum;
    for (const auto& app : evidence.apps)
        if (app.pid == pid && app.used) sum = sum.value_or(Mebibytes{}) + *app.used;
    return sum;
}

Finding finding_of_survivor(const SignalAction& action, const Process& process, const Evidence& before,
                            const Evidence& after) {
    const auto who = title(process);
    if (process.state == 'Z') {
        const Process* parent = after.find(process.parent);
        return {Severity::note, "zombie",
                fmt::format("{} has ended, but its parent {} does not reap it", who,
                            parent ? title(*parent) : fmt::format("pid {}", process.parent)),
                "end the parent: a zombie itself cannot be killed"};
    }
    if (process.state == 'D') {
        const auto then = used_by(before, process.key.pid);
        const auto now = used_by(after, process.key.pid);
        if (then && now && *now < *then)
            return {Severity::dirty, "slow-teardown",
                    fmt::format("{} is still being torn down by the driver: {} of {} MiB left", who,
                                now->count, then->count),
                    "wait, then `cleanslate check` again"};
        return {
            Severity::dirty, "unkillable",
            fmt::format("{} is in uninterruptible sleep (D) after {} and gave no memory back", who,
                        action.signal),
            "the driver or a file system holds it: look at dmesg for Xid lines; a reboot is the usual cure"};
    }
    return {Severity::dirty, "survived-kill",
            fmt::format("{} is still alive (state {}) after KILL", who, process.state),
            "if it is stopped or traced, end its tracer; then clear again"};
}

}  // namespace

std::vector<Finding> findings_of_respawns(const Evidence& before, const Evidence& after,
                                          const HostVerdict& verdict, const std::set<ProcessKey>& signalled) {
    std::vector<Finding> findings;
    for (const auto& holder : unprotected_holders(verdict)) {
        const Process* now = find(after, holder.key);
        if (now == nullptr || find(before, holder.key) != nullptr || signalled.contains(holder.key)) continue;
        const auto origin = origin_of(*now, after);
        const auto replaced = std::ranges::find_if(signalled, [&](ProcessKey key) {
            const Process* then = find(before, key);
            return then != nullptr && takes_the_place_of(*now, *then);
        });
        if (replaced != signalled.end())
            findings.push_back({Severity::dirty, "respawned",
                                fmt::format("{} came back after pid {} was ended: started again by {}",
                                            title(*now), replaced->pid, origin.who),
                                origin.remedy});
        else
            findings.push_back(
                {Severity::dirty, "new-holder",
                 fmt::format("{} appeared during the sweep, under {}", title(*now), origin.who),
                 "look whether it is meant to run, then clear again"});
    }
    return findings;
}

std::vector<Finding> findings_of_survivors(const Evidence& before, const Evidence& after,
                                           const HostOutcome& outcome) {
    std::map<ProcessKey, const SignalAction*> last;  // of each process
    for (const auto& action : outcome.signals) last[action.process.key] = &action;
    std::vector<Finding> findings;
    for (const auto& [key, action] : last) {
        const Process* process = find(after, key);
        if (process == nullptr) continue;
        if (action->result == SignalResult::not_permitted)
            findings.push_back({Severity::note, "not-permitted",
                                fmt::format("{} may not be signalled by this login", title(*process)),
                                "log in as root or as its owner"});
        else if (process->state == 'Z' || process->state == 'D' || action->signal == "KILL")
            findings.push_back(finding_of_survivor(*action, *process, before, after));
    }
    return findings;
}

}  // namespace cleanslate::agentless
