// Which GPUs are reset, and whether a host may be rebooted. shm_choice.cpp has the files of /dev/shm.

#include "agentless/resets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "agentless/holder.hpp"
#include "agentless/nvidia_smi_cells.hpp"
#include "agentless/process_name.hpp"
#include "agentless/sight.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

// "00000000:17:00.0": it becomes a part of a command.
bool is_bus_id(std::string_view text) {
    return text.size() <= 16 && text.find(':') != std::string_view::npos &&
           text.find_first_not_of("0123456789abcdef:.") == std::string_view::npos;
}

// What the driver asks for; empty where it shows none.
std::string recovery_action(const GpuVerdict& gpu) {
    for (const auto& cell : gpu.optional)
        if (cell.column == "gpu_recovery_action") return lowered(cell.cell);
    return {};
}

bool asks_for_reset(std::string_view action) {
    return action == "reset" || action == "gpu reset" || action == "drain and reset";
}

enum class Cure { reset, reboot, neither };
Cure cure_of(std::string_view code, const GpuVerdict& gpu) {
    constexpr std::array<std::string_view, 5> curable{"gpu-requires-reset", "gpu-unknown-error",
                                                      "row-remap-pending", "retired-pages-pending",
                                                      "ecc-uncorrected"};
    if (code == "gpu-lost") return Cure::reboot;
    if (code == "recovery-action") {
        const auto action = recovery_action(gpu);
        return asks_for_reset(action)                       ? Cure::reset
               : action.find("reboot") != std::string::npos ? Cure::reboot
                                                            : Cure::neither;
    }
    return std::ranges::find(curable, code) != curable.end() ? Cure::reset : Cure::neither;
}

// A holder that lives, or may live where it cannot be seen. A dead one's heirs are holders of their own.
bool may_live(const Holder& holder) { return !holder.ghost; }

class Resetter {
  public:
    Resetter(const playbooks::ResetStep& step, const Evidence& evidence, const HostVerdict& verdict,
             const ChoicePolicy& policy)
        : step_(step), evidence_(evidence), verdict_(verdict), policy_(policy) {}

    ResetChoice choose() {
        const auto everywhere = why_none();
        for (const auto& gpu : verdict_.gpus) {
            if (!gpu.judged) continue;
            std::string why;
            std::optional<std::string> withheld;
            if (gpu.verdict == Verdict::sick)
                withheld = judge_sick(gpu, why);
            else if (!is_dirty_with_memory(gpu, why))
                continue;
            if (!withheld) withheld = everywhere;
            if (!withheld) withheld = why_not(gpu);
            if (!withheld && policy_.consent != nullptr && !policy_.consent->resets.contains(gpu.bus_id))
                withheld = "not in the plan that was agreed to";
            if (withheld)
                choice_.withheld.push_back({named(gpu), std::move(*withheld)});
            else
                choice_.gpus.push_back({gpu.bus_id, gpu.index, std::move(why)});
        }
        return std::move(choice_);
    }

  private:
    static std::string named(const GpuVerdict& gpu) {
        if (gpu.index) return fmt::format("GPU {}", *gpu.index);
        return gpu.bus_id.empty() ? "a GPU without an index" : "GPU " + printable(gpu.bus_id);
    }
    static std::optional<std::string> judge_sick(const GpuVerdict& gpu, std::string& why);
    static bool is_dirty_with_memory(const GpuVerdict& gpu, std::string& why);
    std::optional<std::string> why_none() const;
    std::optional<std::string> being_torn_down() const;
    bool evidence_lists(Pid pid) const;
    std::optional<std::string> why_not(const GpuVerdict& gpu) const;
    std::optional<std::string> client_of(const GpuVerdict& gpu) const;
    std::optional<std::string> peer_in_use() const;
    std::optional<std::string> holder_of(const GpuVerdict& gpu) const;
    bool is_stopped_for_it(Pid pid) const;
    bool may_use(const Process& process, int minor) const;

    const playbooks::ResetStep& step_;
    const Evidence& evidence_;
    const HostVerdict& verdict_;
    const ChoicePolicy& policy_;
    ResetChoice choice_;
};

std::optional<std::string> Resetter::judge_sick(const GpuVerdict& gpu, std::string& why) {
    std::set<std::string> codes, cured;
    for (const auto& found : gpu.findings) {
        if (found.severity != Severity::sick) continue;
        codes.insert(found.code);
        const auto cure = cure_of(found.code, gpu);
        if (cure == Cure::reboot) return fmt::format("only a reboot cures it: {}", found.code);
        if (cure == Cure::reset) cured.insert(found.code);
    }
    if (cured.empty())
        return fmt::format("a reset does not cure it: {}", codes.empty() ? "sick" : *codes.begin());
    why = fmt::format("sick: {}", *cured.begin());
    return std::nullopt;
}

bool Resetter::is_dirty_with_memory(const GpuVerdict& gpu, std::string& why) {
    const auto found = [&](std::string_view code) {
        return std::ranges::find(gpu.findings, code, &Finding::code) != gpu.findings.end();
    };
    if (gpu.verdict != Verdict::dirty || !(found("memory-in-use") || found("ghost"))) return false;
    why = gpu.used ? fmt::format("{} MiB without a holder", gpu.used->count)
                   : "a dead process's memory without a holder";
    return true;
}

// What holds for every GPU of the host.
std::optional<std::string> Resetter::why_none() const {
    if (!evidence_.root) return "the login is not root";
    if (policy_.consent != nullptr && policy_.consent->boot_id != evidence_.boot_id)
        return "the host has booted since the plan";
    if (!evidence_.stuck.empty())
        return fmt::format("nvidia-smi hangs in the kernel: pid {}", evidence_.stuck.front());
    if (!evidence_.holders_visible || evidence_.proc_hides_others)
        return "not every process could be looked at, so who uses it is not known";
    if (auto who = being_torn_down()) return who;
    for (const auto& found : verdict_.findings)
        if (found.code == "holder-not-placed")
            return "the driver lists a holder on a GPU that is not known here: " + found.text;
    return std::nullopt;
}

// One that the driver lists no more: which GPU it had is not to be seen. What has no memory map and no
// executable left is past its end, and in state D not out of the kernel. A zombie's threads may be there.
std::optional<std::string> Resetter::being_torn_down() const {
    for (const auto& process : evidence_.processes) {
        if (process.kernel_thread || evidence_lists(process.key.pid)) continue;
        const bool signalled =
            std::ranges::find(evidence_.signalled, process.key) != evidence_.signalled.end();
        const bool emptied = process.argv && process.argv->empty() && !process.exe;
        if (process.state == 'D' && (signalled || emptied))
            return fmt::format("{} is still being torn down", title_of(process));
        if (process.state == 'Z' && signalled)
            return fmt::format(
                "{} has ended and was not reaped, so a thread of it may still be torn down: end its parent",
                title_of(process));
    }
    return std::nullopt;
}

bool Resetter::evidence_lists(Pid pid) const {
    return std::ranges::find(evidence_.apps, std::optional(pid), &ComputeApp::pid) != evidence_.apps.end();
}

std::optional<std::string> Resetter::why_not(const GpuVerdict& gpu) const {
    if (!is_bus_id(gpu.bus_id)) return "its bus id is not known";
    if (std::ranges::count(verdict_.gpus, gpu.bus_id, &GpuVerdict::bus_id) != 1)
        return "another GPU has its bus id";
    for (const auto& instance : gpu.instances)
        for (const auto& key : instance.holders)
            if (!is_stopped_for_it(key.pid))
                return fmt::format("its MIG instance {} is in use by pid {}",
                                   instance.profile.empty() ? instance.uuid : instance.profile, key.pid);
    for (const auto& holder : gpu.holders)
        if (is_being_torn_down(holder)) return fmt::format("pid {} is still being torn down", holder.key.pid);
    if (auto who = holder_of(gpu)) return fmt::format("held by {}", *who);
    if (auto who = client_of(gpu)) return fmt::format("its device file is open in {}", *who);
    if (evidence_.nvswitches == 0) return std::nullopt;
    if (auto who = peer_in_use())
        return fmt::format("{} GPU of it is in use by {}",
                           evidence_.nvswitches ? "the host has NVSwitches, and a"
                                                : "whether the host has NVSwitches is not known, and a",
                           *who);
    return std::nullopt;
}

std::optional<std::string> Resetter::holder_of(const GpuVerdict& gpu) const {
    for (const auto& holder : gpu.holders) {
        if (!may_live(holder) || is_stopped_for_it(holder.key.pid)) continue;
        if (holder.key.pid == 0) return "a process without pid";
        if (holder.state == 'Z' || holder.state == 'X')
            return fmt::format("pid {}, which has ended and was not reaped: end its parent", holder.key.pid);
        return fmt::format("pid {}{}{}", holder.key.pid,
                           holder.exe ? fmt::format(" ({})", base_name(*holder.exe)) : "",
                           holder.is_protected ? ", protected" : "");
    }
    return std::nullopt;
}

// By its unit, of the system's own systemd.
bool Resetter::is_stopped_for_it(Pid pid) const {
    const Process* process = evidence_.find(pid);
    if (process == nullptr || !process->cgroup) return false;
    const auto supervisor = supervisor_of(*process->cgroup);
    return supervisor.kind == SupervisorKind::systemd_unit &&
           std::ranges::any_of(step_.daemons, [&](const std::string& daemon) {
               return daemon == supervisor.name || daemon + ".service" == supervisor.name;
           });
}

bool Resetter::may_use(const Process& process, int minor) const {
    const auto has = [&](const std::vector<int>& minors) {
        return std::ranges::find(minors, minor) != minors.end();
    };
    if (has(process.open_minors) || has(process.mapped_minors)) return true;
    return std::ranges::any_of(evidence_.mig_caps, [&](const MigCapability& cap) {
        return cap.gpu_minor == minor &&
               std::ranges::find(process.open_caps, cap.cap_minor) != process.open_caps.end();
    });
}

// Everybody with the device file open, whatever for. Where it is not known which one that is, any.
std::optional<std::string> Resetter::client_of(const GpuVerdict& gpu) const {
    std::optional<int> minor;
    if (evidence_.driver_gpus)
        for (const auto& known : *evidence_.driver_gpus)
            if (known.bus_id == gpu.bus_id) minor = known.minor;
    for (const auto& process : evidence_.processes) {
        if (has_ended(process) || process.kernel_thread || is_stopped_for_it(process.key.pid)) continue;
        const bool uses = minor ? may_use(process, *minor)
                                : !process.open_minors.empty() || !process.mapped_minors.empty() ||
                                      !process.open_caps.empty();
        if (!uses) continue;
        const auto rule = protected_by(process, evidence_, policy_.protection);
        return title_of(process) + (rule ? ", protected" : "");
    }
    return std::nullopt;
}

// A reset takes down the links of all GPUs behind the same switches. A monitor that only looks at another one
// is none of their users.
std::optional<std::string> Resetter::peer_in_use() const {
    for (const auto& gpu : verdict_.gpus)
        if (auto who = holder_of(gpu)) return who;
    for (const auto& process : evidence_.processes) {
        if (has_ended(process) || process.kernel_thread || is_stopped_for_it(process.key.pid)) continue;
        if (process.open_minors.empty() && process.mapped_minors.empty()) continue;
        if (!protected_by(process, evidence_, policy_.protection)) return title_of(process);
    }
    return std::nullopt;
}

}  // namespace

std::string daemon_command(std::string_view verb, std::string_view unit) {
    return fmt::format("systemctl {} {}", verb, printable(unit));
}

ResetChoice choose_resets(const playbooks::ResetStep& step, const Evidence& evidence,
                          const HostVerdict& verdict, const ChoicePolicy& policy) {
    if (!evidence.complete) return {};
    return Resetter(step, evidence, verdict, policy).choose();
}

std::optional<std::string> reboot_withheld(const Evidence& evidence, const ChoicePolicy& policy) {
    if (!evidence.complete) return "the last look at the host did not come to its end";
    if (!evidence.root) return "the login is not root";
    if (policy.consent != nullptr && policy.consent->boot_id != evidence.boot_id)
        return "the host has booted since the plan";
    if (evidence.proc_hides_others)
        return "/proc shows only some processes, so whose work runs here is not known";
    if (policy.include_jobs) return std::nullopt;
    if (!lists_all(evidence))
        return "the list of its processes was cut, so whose work runs here is not known; --include-jobs "
               "would include it";
    const Lineage lineage(evidence);
    for (const auto& process : evidence.processes) {
        if (has_ended(process) || process.kernel_thread) continue;
        const auto supervisor = supervisor_of(process, lineage);
        if (!supervisor.scheduled()) continue;
        if (policy.own_job && !supervisor.job_id.empty() && *policy.own_job == supervisor.job_id) continue;
        return fmt::format("{} of {} runs in {}; --include-jobs would include it", title_of(process),
                           owner_of(process), supervisor.name);
    }
    return std::nullopt;
}

}  // namespace cleanslate::agentless
