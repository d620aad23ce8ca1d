// Which scheduler runs work on a host.
#include "agentless/ownership.hpp"
#include "agentless/process_name.hpp"
#include "agentless/roles.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

struct Daemon {
    std::string_view exe;     // basename; may end in *
    std::string_view owners;  // account names
};

const std::vector<Daemon> daemons = {{"slurmd", "root"},
                                     {"slurmd-wlm", "root"},  // Debian's
                                     {"slurmstepd", "root"},
                                     {"slurmstepd-wlm", "root"},
                                     {"kubelet", "root"},
                                     {"k3s*", "root"},
                                     {"rke2*", "root"},
                                     {"pbs_mom", "root"},
                                     {"sge_execd", "root sge sgeadmin"},
                                     {"sbatchd", "root lsfadmin"},
                                     {"res", "root lsfadmin"},
                                     {"lim", "root lsfadmin"},
                                     {"condor_master", "root condor"},
                                     {"condor_startd", "root condor"},
                                     {"condor_starter", "root condor"}};

bool run_by(std::string_view owners, const Process& process) {
    if (process.uid == 0U) return true;
    if (!process.uid || process.user.empty() || process.user == "root") return false;
    for (const auto name : split(owners, ' '))
        if (name == process.user) return true;
    return false;
}

bool in_no_container(const Process& process) {
    if (!process.cgroup) return false;
    const auto supervisor = supervisor_of(*process.cgroup);
    return !supervisor.in_container && supervisor.kind != SupervisorKind::pod;
}

// That a host has a scheduler lets a sweep act there: nothing less than root's file, seen to be it, says so.
bool runs_as(const Daemon& daemon, const Process& process) {
    return process.exe && fits(daemon.exe, base_name(*process.exe)) && run_by(daemon.owners, process) &&
           !has_ended(process) && !process.kernel_thread && runs_system_file(process) &&
           in_no_container(process);
}

}  // namespace

std::optional<std::string> scheduler_of(const Evidence& evidence) {
    for (const auto& daemon : daemons)
        for (const auto& process : evidence.processes)
            if (runs_as(daemon, process)) {
                std::string name(daemon.exe);
                if (name.ends_with('*')) name.pop_back();
                return name;
            }
    return std::nullopt;
}

}  // namespace cleanslate::agentless
