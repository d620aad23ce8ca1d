#include "agentless/roles.hpp"

#include "agentless/process_name.hpp"
#include "agentless/supervisor.hpp"

namespace cleanslate::agentless {

namespace {

const std::vector<std::string_view> ways_in = {"sshd",  "sshd-session", "sshd-auth", "dropbear",
                                               "login", "agetty",       "su",        "sudo",
                                               "doas",  "runuser",      "telnetd",   "in.telnetd"};

const std::vector<std::string_view> terminal_keepers = {"tmux*",    "screen*",    "SCREEN", "zellij",
                                                        "dtach",    "abduco",     "dvtm",   "mosh-server",
                                                        "etserver", "etterminal", "byobu*"};

const std::vector<std::string_view> inits = {"systemd",     "init",      "tini*",     "docker-init",
                                             "podman-init", "dumb-init", "catatonit", "runit*",
                                             "s6-svscan",   "openrc*",   "busybox"};

const std::vector<std::string_view> container_inits = {"tini*", "docker-init", "podman-init", "dumb-init",
                                                       "catatonit"};

const std::vector<std::string_view> supervisors = {
    // init, in a container too, and supervisors of services
    "systemd", "init", "tini*", "docker-init", "podman-init", "dumb-init", "catatonit", "runit*", "runsv*",
    "s6-*", "supervise*", "openrc*", "monit", "cron", "crond", "CRON", "atd", "xinetd", "inetd",
    // of jobs
    "slurmd", "slurmd-wlm", "slurmstepd", "slurmstepd-wlm", "pbs_mom", "sge_execd", "sge_shepherd",
    "condor_*", "sbatchd", "res",
    // of containers
    "containerd*", "dockerd", "conmon", "podman", "runc", "crun", "crio", "kubelet", "k3s*", "lxc*", "incus*",
    "starter", "starter-suid", "apptainer", "singularity*", "enroot*",
    // of desktops
    "gnome-session*", "gnome-shell", "startplasma*", "plasma_session", "plasmashell", "ksmserver", "kdeinit*",
    "xfce4-session", "cinnamon*", "lxsession", "lxqt-session", "xinit", "Xorg", "gdm*", "sddm*", "lightdm*"};

// Supervisors that are python scripts.
const std::vector<std::string_view> supervising_scripts = {"supervisord", "circusd", "salt-minion",
                                                           "salt-call"};

bool runs_script(const Process& process, const std::vector<std::string_view>& scripts) {
    const auto script = python_script(process);
    return script && fits_any(scripts, *script);
}

bool names_a_supervising_script(const Process& process) {
    return process.comm == "supervisord" || process.comm == "salt-minion" ||
           runs_script(process, supervising_scripts);
}

bool calls_itself(const std::vector<std::string_view>& names, const Process& process) {
    if (fits_any(names, name_of(process)) || fits_any(names, process.comm)) return true;
    return process.argv && !process.argv->empty() && fits_any(names, base_name(process.argv->front()));
}

bool file_told(const Process& process) { return process.exe && process.exe_owner; }

// Root's word, or nothing that speaks against it.
bool trusted(const Process& process) {
    return process.uid == 0U || !process.uid || !file_told(process) || runs_system_file(process);
}

}  // namespace

bool runs_system_file(const Process& process) {
    if (!file_told(process) || *process.exe_owner != 0 || process.exe_writable_by_others) return false;
    return process.host_mount_ns ||
           (process.cgroup && supervisor_of(*process.cgroup).kind == SupervisorKind::systemd_unit);
}

bool is_named_as_way_in(const Process& process) { return fits_any(ways_in, name_of(process)); }

bool lets_people_in(const Process& process) {
    return is_named_as_way_in(process) &&
           (process.uid == 0U || process.exe_owner == 0U || !process.exe_owner);
}

bool keeps_terminals(const Process& process) {
    static const std::vector<std::string_view> scripts = {"byobu*"};
    return fits_any(terminal_keepers, name_of(process)) || process.comm == "tmux: server" ||
           runs_script(process, scripts);
}

bool is_named_as_supervisor(const Process& process) {
    return fits_any(supervisors, name_of(process)) || names_a_supervising_script(process);
}

bool supervises(const Process& process) {
    if (fits_any(supervisors, name_of(process))) return trusted(process);
    // A script's name stands in the arguments, and comm is whatever the process wrote there.
    return (process.uid == 0U || !process.uid) && names_a_supervising_script(process);
}

bool is_init(const Process& process) { return calls_itself(inits, process); }

bool is_container_init(const Process& process) { return calls_itself(container_inits, process); }

}  // namespace cleanslate::agentless
