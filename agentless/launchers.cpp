#include "agentless/launchers.hpp"

#include <algorithm>

#include "agentless/process_name.hpp"

namespace cleanslate::agentless {

namespace {

const std::vector<std::string_view> ways_in = {"sshd",  "sshd-session", "sshd-auth", "dropbear",
                                               "login", "agetty",       "su",        "sudo",
                                               "doas",  "runuser",      "telnetd",   "in.telnetd"};

const std::vector<std::string_view> never_launchers = {
    // terminal multiplexers and what keeps a terminal over a lost connection
    "tmux*", "screen*", "SCREEN", "zellij", "dtach", "abduco", "dvtm", "mosh-server", "etserver",
    "etterminal",
    // init, in a container too, and supervisors of services
    "systemd", "init", "tini*", "docker-init", "podman-init", "dumb-init", "catatonit", "runit*", "runsv*",
    "s6-*", "supervise*", "openrc*", "monit", "cron", "crond", "CRON", "atd", "xinetd", "inetd",
    // of jobs
    "slurmd", "slurmstepd", "pbs_mom", "sge_execd", "sge_shepherd", "condor_*", "sbatchd", "res",
    // of containers
    "containerd*", "dockerd", "conmon", "podman", "runc", "crun", "crio", "kubelet", "k3s*", "lxc*", "incus*",
    "starter", "starter-suid", "apptainer", "singularity*", "enroot*",
    // of desktops
    "gnome-session*", "gnome-shell", "startplasma*", "plasma_session", "plasmashell", "ksmserver", "kdeinit*",
    "xfce4-session", "cinnamon*", "lxsession", "lxqt-session", "xinit", "Xorg", "gdm*", "sddm*", "lightdm*"};

// Supervisors that are python scripts.
const std::vector<std::string_view> supervising_scripts = {"supervisord", "circusd", "salt-minion",
                                                           "salt-call", "byobu*"};

bool never_launches(const Process& process) {
    if (is_shell(process) || fits_any(ways_in, name_of(process)) ||
        fits_any(never_launchers, name_of(process)))
        return true;
    // What a launcher calls itself counts as well here: sparing one too many is the safe side.
    if (process.comm == "tmux: server" || process.comm == "supervisord" || process.comm == "salt-minion")
        return true;
    const auto script = python_script(process);
    return script && fits_any(supervising_scripts, *script);
}

bool same_user_and_cgroup(const Process& a, const Process& b) {
    return a.uid && a.uid == b.uid && a.cgroup && a.cgroup == b.cgroup;
}

bool leads_a_session(const Process& process) { return process.session == process.key.pid; }

enum class ShellUse { command, script, person };

// What a shell was started for, by its arguments.
ShellUse use_of_shell(const std::vector<std::string>& argv) {
    for (std::size_t i = 1; i < argv.size(); ++i) {
        const std::string_view argument = argv[i];
        if (!argument.starts_with('-') && !argument.starts_with('+')) return ShellUse::script;
        if (argument == "--init-file" || argument == "--rcfile" || argument == "-o" || argument == "-O") ++i;
        const bool letters = !argument.starts_with("--");
        if (argument == "--command" || (letters && argument.find('c') != std::string_view::npos))
            return ShellUse::command;
    }
    return ShellUse::person;
}

// "-bash", `bash -l`, or one that leads its session and was given no command and no script.
bool is_login_shell(const Process& process) {
    if (!is_shell(process) || !process.argv || process.argv->empty()) return false;
    const auto& argv = *process.argv;
    const auto use = use_of_shell(argv);
    if (use == ShellUse::command) return false;
    if (argv.front().starts_with('-')) return true;
    const auto login = [](const std::string& argument) {
        return argument == "--login" || (!argument.starts_with("--") && argument.starts_with('-') &&
                                         argument.find('l') != std::string::npos);
    };
    return use == ShellUse::person &&
           (leads_a_session(process) || std::any_of(argv.begin() + 1, argv.end(), login));
}

}  // namespace

std::vector<const Process*> launchers_of(const Process& target, const Evidence& evidence,
                                         const Lineage& lineage, const ProtectionRules& rules) {
    std::vector<const Process*> launchers;
    for (const Process* above : lineage.ancestors(target)) {
        if (!same_user_and_cgroup(*above, target) || never_launches(*above) || has_ended(*above) ||
            protected_by(*above, evidence, rules) || may_be_protected(*above, rules))
            break;
        launchers.push_back(above);
        if (leads_a_session(*above)) break;
    }
    return launchers;
}

bool is_way_in(const Process& process) {
    if (is_login_shell(process)) return true;
    if (!fits_any(ways_in, name_of(process))) return false;
    // An ordinary user's own program of that name is just a program.
    return process.uid == 0U || process.exe_owner == 0U || !process.exe_owner;
}

}  // namespace cleanslate::agentless
