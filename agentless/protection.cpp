#include "agentless/protection.hpp"

#include <algorithm>

#include "agentless/cgroup_path.hpp"
#include "agentless/lineage.hpp"
#include "agentless/process_name.hpp"
#include "agentless/supervisor.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

constexpr std::uint32_t root = 0;

bool listed(const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

std::optional<std::string> never_signalled(const Process& process, const Evidence& evidence) {
    const auto pid = process.key.pid;
    if (pid <= 0) return "no process";  // kill(2) takes 0 and less for groups of processes
    if (pid == 1) return "pid 1";
    // Pid 2 is kthreadd, whose parent is nobody; in a pid namespace of its own it is any process.
    if (process.kernel_thread || (pid == 2 && process.parent == 0)) return "kernel thread";
    if (std::ranges::find(evidence.session_ancestors, pid) != evidence.session_ancestors.end())
        return "the session's own ancestor";
    return std::nullopt;
}

bool anybody(const ProtectedEntry& entry) { return entry.owners == "any"; }

// Run by root or by a system account that the entry names. Where anybody may run it, only root is sure.
bool run_by_system(const ProtectedEntry& entry, const Process& process) {
    if (!process.uid) return false;
    const auto owners = split(entry.owners, ' ');
    const bool root_counts = anybody(entry) || std::ranges::find(owners, "root") != owners.end();
    if (*process.uid == root) return root_counts;
    return !process.user.empty() && process.user != "root" && process.user != "any" &&
           std::ranges::find(owners, process.user) != owners.end();
}

bool file_told(const Process& process) { return process.exe && process.exe_owner; }

bool name_fits(const ProtectedEntry& entry, const Process& process) {
    if (!process.exe) return fits_comm(entry.exe, process.comm);
    return fits(entry.exe,
                entry.exe.starts_with('/') ? std::string_view(*process.exe) : base_name(*process.exe));
}

// A unit of the host's own systemd that is sandboxed (PrivateTmp= and the like) has a mount namespace of its
// own.
bool in_host_unit(const Process& process) {
    return process.cgroup && supervisor_of(*process.cgroup).kind == SupervisorKind::systemd_unit;
}

bool place_fits(const ProtectedEntry& entry, const Process& process) {
    if (process.host_mount_ns) return true;
    // Elsewhere the path may be anything that was mounted there, so that only root's word and that of a
    // system account count.
    return run_by_system(entry, process) && (entry.in_containers || in_host_unit(process));
}

bool system_file(const Process& process) {
    return process.exe_owner == root && !process.exe_writable_by_others;
}

// What the driver lists computes, and neither a monitor nor a way in does that: somebody has loaded a library
// of his own (LD_PRELOAD) into the system's program.
bool computes(const Process& process, const Evidence& evidence) {
    return process.opens_device() && std::ranges::any_of(evidence.apps, [&](const ComputeApp& app) {
               return app.pid && *app.pid == process.key.pid;
           });
}

bool daemon_fits(const ProtectedEntry& entry, const Process& process, const Evidence& evidence) {
    if (!name_fits(entry, process)) return false;
    if (run_by_system(entry, process))
        return !file_told(process) || (system_file(process) && place_fits(entry, process));
    return anybody(entry) && file_told(process) && system_file(process) && place_fits(entry, process) &&
           (entry.on_gpus || !computes(process, evidence));
}

// A pid that the driver lists, or one it may mean: a row without pid, or with one that no longer lives.
bool may_hold_memory(const Process& process, const Evidence& evidence) {
    return std::ranges::any_of(evidence.apps, [&](const ComputeApp& app) {
        if (!app.pid || *app.pid == process.key.pid) return true;
        return std::ranges::none_of(evidence.processes, [&](const Process& owner) {
            return owner.key.pid == *app.pid && !has_ended(owner);
        });
    });
}

// A script's name stands in argv, where anybody can write it. It counts for a python of the system that was
// seen to look only: it has no device file mapped, and no memory that it could be the holder of.
bool script_fits(const ProtectedEntry& entry, const Process& process, const Evidence& evidence) {
    const auto script = python_script(process);
    if (!script || !fits(entry.exe, *script)) return false;
    return file_told(process) && system_file(process) && process.host_mount_ns && process.fds_readable &&
           process.maps_readable && process.mapped_minors.empty() && !process.maps_control &&
           !may_hold_memory(process, evidence);
}

bool file_or_argument_fits(std::string_view entry, std::string_view path) {
    return fits(entry, entry.find('/') == std::string_view::npos ? base_name(path) : path);
}

bool is_unit_entry(std::string_view entry) {
    return entry.ends_with(".service") || entry.ends_with(".scope") || entry.ends_with(".slice");
}

bool in_unit(std::string_view entry, std::string_view cgroup) {
    return std::ranges::any_of(split_cgroup(cgroup).parts, [&](std::string_view part) {
        return part == entry || unit_name(part) == entry;
    });
}

// Who asks for protection gets it for whoever calls itself so: of any owner, from any file.
bool asked_for(std::string_view entry, const Process& process) {
    if (process.exe ? file_or_argument_fits(entry, *process.exe) : fits_comm(entry, process.comm))
        return true;
    if (is_unit_entry(entry) && process.cgroup && in_unit(entry, *process.cgroup)) return true;
    if (!process.argv || process.argv->empty() || !is_interpreter(process)) return false;
    return std::any_of(process.argv->begin() + 1, process.argv->end(),
                       [&](const std::string& argument) { return file_or_argument_fits(entry, argument); });
}

}  // namespace

std::optional<std::string> protected_by(const Process& process, const Evidence& evidence,
                                        const ProtectionRules& rules) {
    if (auto always = never_signalled(process, evidence)) return always;
    for (const auto& entry : protected_entries()) {
        if (listed(rules.unprotect, entry.exe)) continue;
        if (entry.script ? script_fits(entry, process, evidence) : daemon_fits(entry, process, evidence))
            return "built-in: " + std::string(entry.exe);
    }
    for (const auto& entry : rules.protect)
        if (asked_for(entry, process)) return "asked for by protect: " + printable(entry);
    return std::nullopt;
}

std::optional<std::string> may_be_protected(const Process& process, const ProtectionRules& rules) {
    if (file_told(process) && process.uid) return std::nullopt;
    for (const auto& entry : protected_entries()) {
        if (entry.script || listed(rules.unprotect, entry.exe) || !name_fits(entry, process)) continue;
        if (anybody(entry) || !process.uid || run_by_system(entry, process)) return std::string(entry.exe);
    }
    return std::nullopt;
}

}  // namespace cleanslate::agentless
