#include "agentless/mps_stop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "agentless/ownership.hpp"
#include "agentless/process_name.hpp"
#include "agentless/selectors.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

constexpr std::string_view control_name = "nvidia-cuda-mps-control";
constexpr std::string_view server_name = "nvidia-cuda-mps-server";
constexpr std::string_view quit = "echo quit | nvidia-cuda-mps-control";

struct Mps {
    std::vector<const Process*> controls, servers;
    bool has(Pid pid) const {
        const auto same = [&](const Process* process) { return process->key.pid == pid; };
        return std::ranges::any_of(controls, same) || std::ranges::any_of(servers, same);
    }
};

// The real ones: what merely calls itself so is a process like any other.
Mps find_mps(const Evidence& evidence) {
    Mps mps;
    for (const auto& process : evidence.processes) {
        if (has_ended(process)) continue;
        const auto rule = protected_by(process, evidence, {});
        if (rule == fmt::format("built-in: {}", control_name)) mps.controls.push_back(&process);
        if (rule == fmt::format("built-in: {}", server_name)) mps.servers.push_back(&process);
    }
    return mps;
}

bool is_listed(const Process& process, const Evidence& evidence) {
    return std::ranges::any_of(evidence.apps,
                               [&](const ComputeApp& app) { return app.pid == process.key.pid; });
}

bool is_at_a_gpu(const Process& process, const Evidence& evidence) {
    return process.opens_device() || is_listed(process, evidence);
}

// Whose daemon it is: root's serves everybody, an ordinary user's is his own.
std::optional<std::string> why_not_this_owner(const playbooks::Match& match, const Process& daemon,
                                              const Evidence& evidence, const ChoicePolicy& policy,
                                              const Lineage& lineage) {
    if (!daemon.uid) return fmt::format("the owner of {} could not be read", title_of(daemon));
    if (!evidence.root && *daemon.uid != evidence.uid)
        return fmt::format("it belongs to {}, and the login is not root", owner_of(daemon));
    if (!fits_owner(match, daemon))
        return fmt::format("it belongs to {}, whom the match does not mean", owner_of(daemon));
    const auto supervisor = supervisor_of(daemon, lineage);
    const bool own = policy.own_job && !supervisor.job_id.empty() && *policy.own_job == supervisor.job_id;
    if (supervisor.scheduled() && !policy.include_jobs && !own)
        return fmt::format("it runs in {} of {}; --include-jobs would include it", supervisor.name,
                           owner_of(daemon));
    // Asked for over and above the table, which says to quit it by its own command.
    auto rules = policy.protection;
    rules.unprotect = {std::string(control_name), std::string(server_name)};
    if (const auto rule = protected_by(daemon, evidence, rules))
        return fmt::format("{} is protected ({})", title_of(daemon), *rule);
    return std::nullopt;
}

bool agreed_to(const Mps& mps, const Evidence& evidence, const ChoicePolicy& policy, const Lineage& lineage) {
    if (policy.consent == nullptr) return true;
    return std::ranges::any_of(mps.controls, [&](const Process* control) {
        return covers(*policy.consent, *control, evidence, lineage);
    });
}

// Which of its GPUs' holders are its clients is not to be seen, so each of them counts as one.
std::optional<std::string> why_of_its_clients(const Mps& mps, const Evidence& evidence,
                                              const ChoicePolicy& policy,
                                              const std::set<ProcessKey>& targets) {
    if (!evidence.holders_visible || evidence.proc_hides_others)
        return "its clients are not known: not every process could be looked at";
    if (evidence.app_query.exit_status != 0 || !evidence.app_problems.empty() ||
        !evidence.app_name_rests.empty())
        return "its clients are not known: the driver's list of holders could not be read";
    for (const auto& app : evidence.apps) {
        if (!app.pid) return "the driver lists a holder without its pid, which may be its client";
        const Process* process = evidence.find(*app.pid);
        if (mps.has(*app.pid) || process == nullptr || has_ended(*process)) continue;
        if (!targets.contains(process->key))
            return fmt::format("{} may be its client, and is not chosen", title_of(*process));
    }
    for (const auto& process : evidence.processes) {
        if (has_ended(process) || mps.has(process.key.pid) || targets.contains(process.key)) continue;
        if (process.opens_device() && !protected_by(process, evidence, policy.protection))
            return fmt::format("{} may be its client, and is not chosen", title_of(process));
    }
    return std::nullopt;
}

std::optional<std::string> why_left(const Mps& mps, const playbooks::StopStep& step, const Evidence& evidence,
                                    const ChoicePolicy& policy, const Lineage& lineage,
                                    const std::set<ProcessKey>& targets) {
    if (mps.controls.empty()) return "its control daemon, which could quit it, does not run";
    // Without root the names of others' executables cannot be read, and comm is too short to tell them apart.
    const auto foreign = [&](const Process* control) { return control->uid != evidence.uid; };
    if (!evidence.root && std::ranges::all_of(mps.controls, foreign))
        return fmt::format("it belongs to {}, and the login is not root", owner_of(*mps.controls.front()));
    if (mps.controls.size() > 1)
        return "several control daemons run, and which of them answers in the usual directory is not known";
    if (policy.needs_scheduler && !scheduler_of(evidence)) return "no scheduler was recognised on this host";
    for (const auto* some : {&mps.controls, &mps.servers})
        for (const Process* daemon : *some)
            if (auto why = why_not_this_owner(step.match, *daemon, evidence, policy, lineage)) return why;
    if (!step.match.gpus.empty())
        return "it is asked to quit as a whole, and only some GPUs of the host are meant";
    if (!agreed_to(mps, evidence, policy, lineage)) return "not in the plan that was agreed to";
    return why_of_its_clients(mps, evidence, policy, targets);
}

}  // namespace

void choose_mps(const playbooks::StopStep& step, const Evidence& evidence, const ChoicePolicy& policy,
                const Lineage& lineage, const std::set<ProcessKey>& targets, StopChoice& result) {
    const auto mps = find_mps(evidence);
    const Process* at_gpu = nullptr;
    for (const auto* some : {&mps.controls, &mps.servers})
        for (const Process* daemon : *some)
            if (is_at_a_gpu(*daemon, evidence)) at_gpu = daemon;
    if (at_gpu == nullptr) return;
    if (auto why = why_left(mps, step, evidence, policy, lineage, targets)) {
        result.left.push_back({"MPS", std::move(*why)});
        return;
    }
    StopTarget stop;
    stop.supervisor.name = "MPS";
    for (const auto* some : {&mps.controls, &mps.servers})
        for (const Process* daemon : *some) stop.processes.push_back(daemon->key);
    stop.command = quit;
    stop.rule = fmt::format("{} is at a GPU; asked in the usual directory, since its own is not to be seen",
                            title_of(*at_gpu));
    stop.ends = stop.processes;
    result.stops.push_back(std::move(stop));
}

}  // namespace cleanslate::agentless
