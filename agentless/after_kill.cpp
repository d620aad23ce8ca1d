#include "agentless/after_kill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "agentless/ipc_consumers.hpp"
#include "agentless/launchers.hpp"
#include "agentless/supervisor.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

class Finder {
  public:
    explicit Finder(const Evidence& evidence) {
        for (const auto& process : evidence.processes) by_key_.emplace(process.key, &process);
    }
    const Process* find(ProcessKey key) const {
        const auto found = by_key_.find(key);
        return found == by_key_.end() ? nullptr : found->second;
    }

  private:
    std::map<ProcessKey, const Process*> by_key_;
};

std::string title(const Process& process) {
    return fmt::format("pid {} ({})", process.key.pid, ellipsize(printable(process.comm), 24));
}

// Why `now` is `then` started anew: the same unit, the same living parent, or the same program of the same
// user.
bool takes_the_place_of(const Process& now, const Process& then, bool in_respawner) {
    if (now.uid != then.uid) return false;
    if (in_respawner && now.cgroup == then.cgroup) return true;
    if (now.parent == then.parent && now.parent > 1) return true;
    return now.exe && now.exe == then.exe && now.argv && now.argv == then.argv;
}

bool is_named(const Supervisor& supervisor) {
    return supervisor.kind != SupervisorKind::none && supervisor.kind != SupervisorKind::login_session;
}

struct Origin {
    std::string who;
    std::string remedy;
};

Origin origin_of(const Process& process, const Evidence& after, const std::vector<SparedSupervisor>& left) {
    if (process.cgroup) {
        const auto supervisor = supervisor_of(*process.cgroup);
        const auto spared = std::ranges::find(left, supervisor.name, &SparedSupervisor::name);
        if (is_named(supervisor) && spared != left.end())
            return {supervisor.name,
                    fmt::format("not {} as a whole: {}; find what starts it in there, stop that first, then "
                                "clear again",
                                supervisor.stop_command.empty() ? printable(supervisor.name)
                                                                : "`" + supervisor.stop_command + "`",
                                spared->why)};
        if (is_named(supervisor))
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

constexpr std::size_t most_origins = 10;

// Processes of one origin that were not there before.
struct Arrival {
    std::string first;  // its title
    std::size_t count = 1;
    Origin origin;
    Pid replaced = 0;  // whom the first took the place of
    std::string who() const { return count == 1 ? first : fmt::format("{} and {} more", first, count - 1); }
};

class Arrivals {
  public:
    void add(const Process& process, Origin origin, Pid replaced) {
        if (const auto there = place_.find(origin.who); there != place_.end()) {
            ++arrivals_[there->second].count;
            return;
        }
        place_.emplace(origin.who, arrivals_.size());
        arrivals_.push_back({title(process), 1, std::move(origin), replaced});
    }
    // The first of them one by one, then how many more there are.
    template <class Make>
    void report(std::string_view code, std::vector<Finding>& findings, Make make) const {
        std::size_t more = 0;
        for (std::size_t i = 0; i < arrivals_.size(); ++i) {
            if (i < most_origins)
                findings.push_back(make(arrivals_[i]));
            else
                more += arrivals_[i].count;
        }
        if (more > 0)
            findings.push_back({Severity::dirty, std::string(code),
                                fmt::format("and {} more: they are started faster than they are ended", more),
                                "find who starts them, and stop that first"});
    }

  private:
    std::map<std::string, std::size_t> place_;
    std::vector<Arrival> arrivals_;
};

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

// False only where the list was read to its end.
bool is_listed(const Evidence& evidence, Pid pid) {
    return evidence.app_query.exit_status != 0 || !evidence.app_problems.empty() ||
           !evidence.app_name_rests.empty() ||
           std::ranges::find(evidence.apps, std::optional(pid), &ComputeApp::pid) != evidence.apps.end();
}

Finding finding_of_zombie(const Process& process, const Evidence& after) {
    const Process* parent = after.find(process.parent);
    auto who = parent ? title(*parent) : fmt::format("pid {}", process.parent);
    std::string remedy = "end the parent: a zombie itself cannot be killed";
    if (parent != nullptr && parent->cgroup)
        if (const auto supervisor = supervisor_of(*parent->cgroup); is_named(supervisor)) {
            who += " in " + supervisor.name;
            if (!supervisor.stop_command.empty())
                remedy = fmt::format(
                    "end the parent, or stop what it runs in (`{}`): a zombie itself cannot be "
                    "killed",
                    supervisor.stop_command);
        }
    return {Severity::note, "zombie",
            fmt::format("{} has ended, but its parent {} does not reap it", title(process), who), remedy};
}

Finding finding_of_survivor(const SignalAction& action, const Process& process, const Evidence& before,
                            const Evidence& after) {
    const auto who = title(process);
    if (process.state == 'Z') return finding_of_zombie(process, after);
    if (process.state == 'D') {
        const auto then = used_by(before, process.key.pid);
        auto now = used_by(after, process.key.pid);
        // Out of a list that was read: all of it is back.
        if (!now && !is_listed(after, process.key.pid)) now = Mebibytes{};
        if (then && now && *now < *then)
            return {Severity::dirty, "slow-teardown",
                    fmt::format("{} is still being torn down by the driver: {} of {} MiB left", who,
                                now->count, then->count),
                    "wait, then `cleanslate check` again"};
        return {Severity::dirty, "unkillable",
                fmt::format(
                    "{} is in uninterruptible sleep (D) after {} and gave no memory back; what it waits for "
                    "is not known",
                    who, action.signal),
                "the driver, a file system or a frozen cgroup holds it: look at dmesg for Xid lines, thaw or "
                "stop "
                "its container; a reboot is the usual cure"};
    }
    return {Severity::dirty, "survived-kill",
            fmt::format("{} is still alive (state {}) after KILL", who, process.state),
            "if it is stopped or traced, end its tracer; then clear again"};
}

}  // namespace

std::vector<Finding> findings_of_respawns(const Evidence& before, const Evidence& after,
                                          const HostVerdict& verdict, const std::set<ProcessKey>& signalled,
                                          const std::vector<SparedSupervisor>& left) {
    const Finder then(before), now(after);
    std::vector<const Process*> ended;
    for (const auto& key : signalled)
        if (const Process* process = then.find(key)) ended.push_back(process);
    Arrivals respawned, appeared;
    for (const auto& holder : unprotected_holders(verdict)) {
        const Process* process = now.find(holder.key);
        if (process == nullptr || then.find(holder.key) != nullptr || signalled.contains(holder.key))
            continue;
        const bool in_respawner = process->cgroup && supervisor_of(*process->cgroup).respawns();
        const auto replaced = std::ranges::find_if(
            ended, [&](const Process* one) { return takes_the_place_of(*process, *one, in_respawner); });
        auto origin = origin_of(*process, after, left);
        if (replaced != ended.end())
            respawned.add(*process, std::move(origin), (*replaced)->key.pid);
        else
            appeared.add(*process, std::move(origin), 0);
    }
    std::vector<Finding> findings;
    respawned.report("respawned", findings, [](const Arrival& one) {
        return Finding{Severity::dirty, "respawned",
                       fmt::format("{} came back after pid {} was ended: started again by {}", one.who(),
                                   one.replaced, one.origin.who),
                       one.origin.remedy};
    });
    appeared.report("new-holder", findings, [](const Arrival& one) {
        return Finding{Severity::dirty, "new-holder",
                       fmt::format("{} appeared during the sweep, under {}", one.who(), one.origin.who),
                       "look whether it is meant to run, then clear again"};
    });
    return findings;
}

std::vector<Finding> findings_of_survivors(const Evidence& before, const Evidence& after,
                                           const HostOutcome& outcome) {
    std::map<ProcessKey, const SignalAction*> last;  // of each process
    for (const auto& action : outcome.signals) last[action.process.key] = &action;
    std::vector<Finding> findings;
    const Finder there(after);
    for (const auto& [key, action] : last) {
        const Process* process = there.find(key);
        if (process == nullptr) continue;
        if (action->result == SignalResult::not_permitted)
            findings.push_back({Severity::note, "not-permitted",
                                fmt::format("{} may not be signalled by this login", title(*process)),
                                "log in as root or as its owner"});
        else if (process->state == 'Z' || process->state == 'D' || action->signal == "KILL")
            findings.push_back(finding_of_survivor(*action, *process, before, after));
    }
    std::set<ProcessKey> signalled;
    for (const auto& [key, action] : last) signalled.insert(key);
    add_consumers(before, after, signalled, findings);
    return findings;
}

std::vector<Finding> findings_of_launchers(const Evidence& before, const std::set<ProcessKey>& signalled) {
    const Lineage lineage(before);
    const Finder finder(before);
    std::map<ProcessKey, const Process*> left;  // and one whom it started
    for (const auto& key : signalled) {
        const Process* process = finder.find(key);
        if (process == nullptr || supervisor_of(*process, lineage).respawns()) continue;
        const Process* parent = possible_restarter(*process, lineage);
        if (parent != nullptr && !signalled.contains(parent->key)) left.emplace(parent->key, process);
    }
    constexpr std::size_t most = 10;
    std::vector<Finding> findings;
    for (const auto& [key, child] : left) {
        if (findings.size() == most) {
            findings.back().text += fmt::format(", and {} more launchers", left.size() - most);
            break;
        }
        findings.push_back({Severity::note, "launcher-left",
                            fmt::format("{} started {} and was not signalled: it may start it again",
                                        title(*finder.find(key)), title(*child)),
                            "end it too, with `tree: true` in the match or by hand, then check again"});
    }
    return findings;
}

}  // namespace cleanslate::agentless
