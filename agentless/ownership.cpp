#include "agentless/ownership.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/cgroup_path.hpp"
#include "agentless/process_name.hpp"
#include "agentless/protection.hpp"
#include "agentless/roles.hpp"
#include "agentless/sight.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

constexpr std::string_view scope_prefix = "session-";
constexpr std::string_view scope_suffix = ".scope";

std::string owner(const Process& process) {
    if (!process.user.empty()) return printable(process.user);
    return fmt::format("uid {}", process.uid.value_or(0));
}

// "3" of session-3.scope; empty: it is none.
std::string_view session_id(std::string_view unit) {
    if (!unit.starts_with(scope_prefix) || !unit.ends_with(scope_suffix)) return {};
    if (unit.size() <= scope_prefix.size() + scope_suffix.size()) return {};
    unit.remove_prefix(scope_prefix.size());
    unit.remove_suffix(scope_suffix.size());
    return unit;
}

// PBS, LSF, Grid Engine, HTCondor and Flux put their jobs into groups of their own, which no supervisor here
// is read from.
bool in_a_batch_job(std::string_view cgroup) {
    static const std::vector<std::string_view> groups = {"pbs*",      "sge*",  "lsf*", "condor*",
                                                         "htcondor*", "flux*", "job*", "slurm*"};
    return std::ranges::any_of(split_cgroup(cgroup).parts,
                               [](std::string_view part) { return fits_any(groups, part); });
}

void add_word(std::string& words, const std::string& more) {
    if (words.find(more) == std::string::npos) words.append(", ").append(more);
}

}  // namespace

bool Ownership::is_manager(const Process& process) const {
    return name_of(process) == "systemd" && runs_system_file(process) && process.argv &&
           std::ranges::find(*process.argv, "--user") != process.argv->end();
}

bool Ownership::manager_lives(const std::string& uid) const {
    if (any_manager_may_live_) return true;
    const auto number = parse_number(uid);
    return !number || *number > UINT32_MAX || managers_.contains(static_cast<std::uint32_t>(*number));
}

std::optional<Ownership::Chain> Ownership::chain_above(const Process& process) const {
    Chain chain{{&process}, true};
    while (chain.processes.size() <= Lineage::deepest) {
        const Process& last = *chain.processes.back();
        const Process* parent = lineage_.parent(last);
        if (parent == nullptr || has_ended(*parent)) return std::nullopt;
        if (lineage_.given_away(last.key.pid) || lineage_.given_away(parent->key.pid)) return std::nullopt;
        if (parent->key.pid == 1) {
            const bool left_over = is_init(*parent) && last.key.start > main_start_;
            return left_over ? std::optional(std::move(chain)) : std::nullopt;
        }
        if (!parent->uid || parent->uid != process.uid) return std::nullopt;
        if (is_manager(*parent)) {
            chain.of_init = false;
            return chain;
        }
        chain.processes.push_back(parent);
    }
    return std::nullopt;
}

// By its name it starts others, or lets people in.
bool Ownership::stands_alone(const Process& process) const {
    const auto [known, is_new] = alone_.emplace(&process, false);
    if (is_new) {
        const ProtectionRules built_in;
        known->second = !process.kernel_thread && !lets_people_in(process) && !supervises(process) &&
                        !protected_by(process, evidence_, built_in) && !may_be_protected(process, built_in);
    }
    return known->second;
}

Ownership::Place Ownership::login_place(const Process& process, const Supervisor& login,
                                        std::string& words) const {
    const auto id = session_id(login.name);
    if (id.empty()) {  // sshd's own unit, where PAM opens no sessions
        if (is_logged_in(*process.uid)) return Place::owned;
        add_word(words, owner(process) + " is not logged in");
        return Place::left;
    }
    if (!evidence_.sessions || living_scopes_.contains(login.path)) return Place::owned;
    bool known = false;
    for (const auto& session : *evidence_.sessions) {
        if (session.id != id) continue;
        known = true;
        const Process* leader = session.leader ? lineage_.find(*session.leader) : nullptr;
        const bool leader_lives = leader != nullptr && !has_ended(*leader) &&
                                  (!leader->cgroup || supervisor_of(*leader->cgroup).path == login.path);
        if (!session.closing || leader_lives) return Place::owned;
    }
    add_word(words, fmt::format("session {} is {}", printable(id), known ? "closed" : "not known to logind"));
    return Place::left;
}

Ownership::Place Ownership::place_of(const Process& process, std::string& words) const {
    if (!process.cgroup) return Place::owned;
    const auto supervisor = supervisor_of(process, lineage_);
    switch (supervisor.kind) {
        case SupervisorKind::none:
            return in_a_batch_job(*process.cgroup) ? Place::owned : Place::nobodys;
        case SupervisorKind::login_session:
            return login_place(process, supervisor, words);
        case SupervisorKind::slurm_job:
        case SupervisorKind::pod:
            return Place::owned;
        case SupervisorKind::container:
        case SupervisorKind::systemd_unit:
        case SupervisorKind::user_unit:
            break;
    }
    // What a user makes below his own systemd lives no longer than that.
    if (supervisor.user_manager.empty()) return Place::owned;
    if (manager_lives(supervisor.user_manager)) {
        // Right in the manager's own group nothing of its owns it.
        const bool own_group = supervisor.kind == SupervisorKind::systemd_unit;
        if (!own_group || is_logged_in(*process.uid)) return Place::owned;
        add_word(words, owner(process) + " is not logged in");
        return Place::left;
    }
    add_word(words, fmt::format("the systemd of uid {} is gone", supervisor.user_manager));
    return Place::left;
}

std::optional<std::string> Ownership::orphaned(const Process& process) const {
    if (!process.uid || process.key.pid <= 1 || process.kernel_thread || has_ended(process) ||
        !lists_all(evidence_))
        return std::nullopt;
    const auto chain = chain_above(process);
    if (!chain) return std::nullopt;
    const Process& topmost = *chain->processes.back();
    std::string words = chain->processes.size() == 1
                            ? "orphaned: its parent is "
                            : fmt::format("orphaned: the parent of its launcher {} is ", topmost.key.pid);
    words += chain->of_init ? "init" : fmt::format("the systemd of {}", owner(process));
    bool keeps_on = false, left = false;
    for (const Process* one : chain->processes) {
        if (!stands_alone(*one)) return std::nullopt;
        const auto place = place_of(*one, words);
        if (place == Place::owned) return std::nullopt;
        left = left || place == Place::left;
        keeps_on = keeps_on || one->ignores_hangup || one->tty != 0 || keeps_terminals(*one);
    }
    if (keeps_on) {
        if (is_logged_in(*process.uid)) return std::nullopt;
        add_word(words, owner(process) + " is not logged in");
        left = true;
    }
    // A script that started it and still runs in its session has not left it behind.
    if (process.session <= 0) return std::nullopt;
    if (const Process* leader = lineage_.find(process.session);
        leader != nullptr && !has_ended(*leader) && leader->key.pid != 1 &&
        std::ranges::find(chain->processes, leader) == chain->processes.end() &&
        (leader->session != leader->key.pid || leader->uid != process.uid || !orphaned(*leader)))
        return std::nullopt;
    if (!left) add_word(words, "no unit, container, job or login session owns it");
    return words;
}

std::optional<std::string> orphaned(const Process& process, const Evidence& evidence,
                                    const Lineage& lineage) {
    return Ownership(evidence, lineage).orphaned(process);
}

}  // namespace cleanslate::agentless
