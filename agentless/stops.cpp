#include "agentless/stops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "agentless/cgroup_path.hpp"
#include "agentless/matcher.hpp"
#include "agentless/mps_stop.hpp"
#include "agentless/process_name.hpp"
#include "agentless/selectors.hpp"
#include "agentless/sight.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

class Stopper {
  public:
    Stopper(const playbooks::StopStep& step, const Evidence& evidence, const ChoicePolicy& policy)
        : step_(step),
          evidence_(evidence),
          policy_(policy),
          lineage_(evidence),
          matcher_(step.match, evidence, lineage_) {}

    StopChoice choose() {
        auto chosen = agentless::choose(step_.match, evidence_, policy_);
        for (const auto& target : chosen.targets) {
            targets_.insert(target.key);
            if (target.supervisor && is_asked_for(target.supervisor->kind)) group(target);
        }
        for (auto& one : groups_) {
            if (one.supervisor.kind == SupervisorKind::login_session) continue;  // that it stays is no news
            auto why = why_left(one);
            if (why)
                result_.left.push_back({one.supervisor.name, std::move(*why)});
            else
                take(std::move(one));
        }
        if (step_.mps) choose_mps(step_, evidence_, policy_, lineage_, targets_, result_);
        result_.spared = std::move(chosen.spared);
        return std::move(result_);
    }

  private:
    struct Group {
        Supervisor supervisor;
        std::vector<ProcessKey> processes;
        std::string first_rule;
    };

    bool is_asked_for(SupervisorKind kind) const;
    void group(const Target& target);
    void take(Group group);
    std::optional<std::string> why_left(const Group& group) const;
    std::optional<std::string> why_not_at_all(const Supervisor& supervisor) const;
    std::optional<std::string> why_it_lives(const Group& group) const;
    std::vector<const Process*> members(const Supervisor& supervisor) const;
    std::vector<ProcessKey> ends_of(const Group& group) const;
    bool in_same_job(const Process& process, const Supervisor& job) const;
    bool is_agreed_to(const Group& group) const;
    bool is_its_own_daemon(const Supervisor& supervisor, const Process& member) const;
    std::optional<std::string> why_unmeant(const Process& member) const;

    const playbooks::StopStep& step_;
    const Evidence& evidence_;
    const ChoicePolicy& policy_;
    const Lineage lineage_;
    const Matcher matcher_;
    std::set<ProcessKey> targets_;
    std::vector<Group> groups_;
    StopChoice result_;
};

bool Stopper::is_asked_for(SupervisorKind kind) const {
    switch (kind) {
        case SupervisorKind::systemd_unit:
        case SupervisorKind::user_unit:
        case SupervisorKind::login_session:
            return step_.units;
        case SupervisorKind::container:
            return step_.containers;
        case SupervisorKind::slurm_job:
            return step_.slurm_jobs;
        case SupervisorKind::pod:
        case SupervisorKind::none:
            break;
    }
    return false;
}

void Stopper::group(const Target& target) {
    const auto& supervisor = *target.supervisor;
    const auto same = std::ranges::find_if(groups_, [&](const Group& there) {
        return there.supervisor.kind == supervisor.kind && there.supervisor.name == supervisor.name &&
               there.supervisor.path == supervisor.path;
    });
    if (same == groups_.end())
        groups_.push_back({supervisor, {target.key}, target.rule});
    else
        same->processes.push_back(target.key);
}

void Stopper::take(Group group) {
    const auto more = group.processes.size() - 1;
    const auto rule = fmt::format("supervisor of {}{} ({})", group.processes.front().pid,
                                  more == 0 ? "" : fmt::format(" and {} more", more), group.first_rule);
    // One that is known by two paths, as a job by its cgroup and by its slurmstepd, is stopped once.
    const auto same = std::ranges::find(result_.stops, group.supervisor.stop_command, &StopTarget::command);
    if (same != result_.stops.end()) {
        same->processes.insert(same->processes.end(), group.processes.begin(), group.processes.end());
        for (const auto key : ends_of(group))
            if (std::ranges::find(same->ends, key) == same->ends.end()) same->ends.push_back(key);
        return;
    }
    auto ends = ends_of(group);
    auto command = group.supervisor.stop_command;
    result_.stops.push_back(
        {std::move(group.supervisor), std::move(group.processes), std::move(ends), std::move(command), rule});
}

std::optional<std::string> Stopper::why_left(const Group& group) const {
    if (auto why = why_not_at_all(group.supervisor)) return why;
    return why_it_lives(group);
}

std::optional<std::string> Stopper::why_not_at_all(const Supervisor& supervisor) const {
    if (supervisor.stop_command.empty())
        return supervisor.kind == SupervisorKind::systemd_unit ? "unrelated work runs in it too"
                                                               : "no command is known that stops it";
    if (supervisor.kind == SupervisorKind::systemd_unit && !evidence_.root)
        return "it is a unit of the system's, and the login is not root";
    if (!lists_all(evidence_)) return "the list of processes was cut, so what else runs in it is not known";
    // A user sees all that is in a unit of his own.
    if (evidence_.proc_hides_others && supervisor.kind != SupervisorKind::user_unit)
        return "/proc shows only some processes, so what else runs in it is not known";
    return std::nullopt;
}

// Of a Slurm that does not track its jobs by cgroup.
bool Stopper::in_same_job(const Process& process, const Supervisor& job) const {
    if (job.kind != SupervisorKind::slurm_job) return false;
    const auto own = supervisor_of(process, lineage_);
    return own.kind == job.kind && own.name == job.name;
}

// Everything that the supervisor's end would end. One whose cgroup could not be read may be in it.
std::vector<const Process*> Stopper::members(const Supervisor& supervisor) const {
    std::vector<const Process*> members;
    for (const auto& process : evidence_.processes) {
        if (has_ended(process) || process.kernel_thread) continue;
        const bool below = process.cgroup && is_at_or_below(*process.cgroup, supervisor.path);
        if (below || !process.cgroup || in_same_job(process, supervisor)) members.push_back(&process);
    }
    return members;
}

// What ends with it for sure: not those that may be in it, whose cgroup could not be read.
std::vector<ProcessKey> Stopper::ends_of(const Group& group) const {
    auto keys = group.processes;
    for (const Process* member : members(group.supervisor))
        if (member->cgroup && std::ranges::find(keys, member->key) == keys.end()) keys.push_back(member->key);
    return keys;
}

// A job's own slurmstepd ends with it, and reports its end.
bool Stopper::is_its_own_daemon(const Supervisor& supervisor, const Process& member) const {
    return supervisor.kind == SupervisorKind::slurm_job && member.uid == 0U && is_slurmstepd(member) &&
           member.cgroup && is_at_or_below(*member.cgroup, supervisor.path) &&
           std::ranges::find(evidence_.session_ancestors, member.key.pid) ==
               evidence_.session_ancestors.end();
}

// What the match excludes, and a supervisor's end would end too.
std::optional<std::string> Stopper::why_unmeant(const Process& member) const {
    if (!fits_owner(step_.match, member))
        return fmt::format("{} of {} runs in it, whom the match does not mean", title_of(member),
                           owner_of(member));
    if (const auto others = matcher_.other_gpus(member))
        return fmt::format("{} in it uses {}, which is not meant", title_of(member), *others);
    return std::nullopt;
}

// Who agreed to stop it agreed to all that is in it. One that only a later child has gone into was not there.
bool Stopper::is_agreed_to(const Group& group) const {
    const auto listed = [&](ProcessKey key) { return policy_.consent->listed.contains(key); };
    return policy_.consent == nullptr || policy_.consent->units.contains(group.supervisor.path) ||
           std::ranges::any_of(group.processes, listed);
}

// The reason is that of the first process of it that must live.
std::optional<std::string> Stopper::why_it_lives(const Group& group) const {
    const auto& supervisor = group.supervisor;
    playbooks::Match each;
    std::vector<const Process*> others;
    for (const Process* member : members(supervisor)) {
        if (auto why = why_unmeant(*member)) return why;
        if (targets_.contains(member->key) || is_its_own_daemon(supervisor, *member)) continue;
        others.push_back(member);
        each.pid.push_back(member->key.pid);
    }
    if (others.empty()) return std::nullopt;
    auto policy = policy_;
    if (is_agreed_to(group)) policy.consent = nullptr;
    const auto alone = agentless::choose(each, evidence_, policy);
    std::set<ProcessKey> may_end;
    for (const auto& target : alone.targets) may_end.insert(target.key);
    for (const auto& one : alone.spared) {
        const Process* member = evidence_.find(one.key.pid);
        if (targets_.contains(one.key) || member == nullptr || is_its_own_daemon(supervisor, *member))
            continue;
        return member->cgroup ? fmt::format("{} runs in it: {}", title_of(*member), one.why)
                              : fmt::format("{} may run in it, its cgroup could not be read: {}",
                                            title_of(*member), one.why);
    }
    for (const Process* member : others)
        if (!may_end.contains(member->key)) return fmt::format("{} runs in it", title_of(*member));
    return std::nullopt;
}

}  // namespace

StopChoice choose_stops(const playbooks::StopStep& step, const Evidence& evidence,
                        const ChoicePolicy& policy) {
    if (!evidence.complete) return {};
    return Stopper(step, evidence, policy).choose();
}

}  // namespace cleanslate::agentless
