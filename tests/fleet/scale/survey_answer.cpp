#include "tests/fleet/scale/survey_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/fleet/kernel_view.hpp"
#include "tests/fleet/nvidia_smi_fields.hpp"
#include "tests/fleet/scale/driver_answer.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

// A process as the survey shows it.
struct Shown {
    long pid = 0, parent = 0, session = 0;
    uid_t uid = 0, owner = 0;  // owner: of its executable
    std::string comm, exe, cgroup, opened, mapped;
    std::vector<std::string> argv;
    std::uint64_t start = 0;
    bool nohup = false;
};

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// A list of device files, as the survey has it: c for those that are no GPU's.
std::string devices_of(const Host& host, Devices devices, bool context) {
    if (devices == Devices::none) return {};
    std::string list = "c";
    if (devices == Devices::control) return list;
    if (context || devices == Devices::monitor) list += ",cap1,cap2";
    for (const auto& gpu : host.gpus) list += fmt::format(",{}", gpu.minor);
    return list;
}

std::string mappings_of(const Host& host, Devices devices) {
    if (devices != Devices::cuda) return {};
    std::string list = "c";
    for (const auto& gpu : host.gpus) list += fmt::format(",{}", gpu.minor);
    return list;
}

std::size_t index_of(const Host& host, std::string_view name) {
    const auto found = std::ranges::find(host.processes, name, &ProcessSpec::name);
    return static_cast<std::size_t>(found - host.processes.begin());
}

Shown shown(const Host& host, const std::vector<Life>& lives, std::size_t index) {
    const auto& spec = host.processes[index];
    Shown out;
    out.pid = out.session = pid_of(index);
    out.start = start_of(index);
    out.parent = init_pid;
    out.cgroup = spec.cgroup;
    if (!spec.parent.empty()) {
        const auto parent = index_of(host, spec.parent);
        const auto above = shown(host, lives, parent);
        if (lives[parent] == Life::alive) out.parent = above.pid;
        if (!spec.own_session) out.session = above.session;
        if (out.cgroup.empty()) out.cgroup = above.cgroup;
    }
    out.uid = find_user(spec.user)->uid;
    out.owner = spec.exe.starts_with("/home/") ? out.uid : 0;
    out.comm = base_name(spec.exe).substr(0, 15);
    out.exe = spec.exe;
    out.argv = spec.argv.empty() ? std::vector<std::string>{spec.exe} : spec.argv;
    out.opened = devices_of(host, spec.devices, !spec.memory.empty());
    out.mapped = mappings_of(host, spec.devices);
    out.nohup = spec.ignores_hangup;
    return out;
}

// Init, the login that asks, and what of the described processes a survey shows: those with a device file
// open and what is above them, or all.
std::vector<Shown> all_shown(const Host& host, const std::vector<Life>& lives, bool all) {
    const std::string ssh = "/system.slice/ssh.service";
    const long server = sshd_pid(host), login = login_pid(host), shell = shell_pid(host);
    std::vector<Shown> processes{{init_pid,
                                  0,
                                  0,
                                  0,
                                  0,
                                  "systemd",
                                  "/usr/lib/systemd/systemd",
                                  "/init.scope",
                                  "",
                                  "",
                                  {"/sbin/init"},
                                  1,
                                  false},
                                 {shell,
                                  login,
                                  shell,
                                  0,
                                  0,
                                  "sh",
                                  "/usr/bin/dash",
                                  ssh,
                                  "",
                                  "",
                                  {"/bin/sh", "-s"},
                                  first_start + 900,
                                  false},
                                 {login,
                                  server,
                                  login,
                                  0,
                                  0,
                                  "sshd",
                                  "/usr/sbin/sshd",
                                  ssh,
                                  "",
                                  "",
                                  {"sshd: root@notty"},
                                  first_start + 890,
                                  false},
                                 {server,
                                  init_pid,
                                  server,
                                  0,
                                  0,
                                  "sshd",
                                  "/usr/sbin/sshd",
                                  ssh,
                                  "",
                                  "",
                                  {"sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups"},
                                  first_start - 100,
                                  false}};
    std::vector<Shown> chosen;
    std::set<long> wanted;
    for (std::size_t i = host.processes.size(); i-- > 0;) {
        if (lives[i] != Life::alive) continue;
        auto process = shown(host, lives, i);
        if (!all && process.opened.empty() && !wanted.contains(process.pid)) continue;
        wanted.insert(process.parent);
        chosen.push_back(std::move(process));
    }
    processes.insert(processes.end(), chosen.rbegin(), chosen.rend());
    return processes;
}

void add_who(std::string& out, const Shown& p) {
    const auto stat = fmt::format("{} ({}) S {} {} {} 0 -1 4194560 66 0 0 0 0 0 0 0 20 0 1 0 {}", p.pid,
                                  p.comm, p.parent, p.session, p.session, p.start);
    out += fmt::format("proc {0} {1} {2}\ncgroup {0} {3}\n", p.pid, p.uid, escaped(stat),
                       escaped("0::" + p.cgroup + "\n"));
    if (p.nohup) out += fmt::format("nohup {}\n", p.pid);
    out += fmt::format("exe {0} {1}\nmount {0} mnt:[4026532180]\n", p.pid, escaped(p.exe));
}

void add_users(std::string& out, const std::vector<Shown>& processes) {
    std::set<uid_t> seen;
    for (const auto& process : processes) seen.insert(process.uid);
    for (const auto& user : users())
        if (seen.contains(user.uid)) out += fmt::format("user {} {}\n", user.uid, user.name);
}

void add_processes(std::string& out, const std::vector<Shown>& processes, bool shm) {
    for (const auto& process : processes) add_who(out, process);
    for (const auto& process : processes)
        if (!process.opened.empty()) out += fmt::format("open {} {}\n", process.pid, process.opened);
    add_users(out, processes);
    out += "done files\n";
    for (const auto& process : processes)
        if (!process.mapped.empty()) out += fmt::format("mapped {} {}\n", process.pid, process.mapped);
    out += "blind 0\n";
    if (shm) out += fmt::format("shm 0 {}\n", clock_mark);
    out += "done maps\n";
    for (const auto& process : processes) {
        std::string argv;
        for (const auto& word : process.argv)
            argv += (argv.empty() ? "" : "%00") + (word.empty() ? "" : escaped(word));
        out += fmt::format("argv {} {}\n", process.pid, argv);
    }
    out += "done argv\n";
}

// The lines of it that the survey shows.
void add_information(std::string& out, const std::string& text) {
    constexpr std::string_view keys[] = {
        "GPU UUID:", "Device Minor:", "Bus Location:", "GPU Excluded:", "NVRM version:"};
    for (const auto& line : split(text, '\n'))
        if (std::ranges::any_of(keys, [&](auto key) { return line.starts_with(key); }))
            out += fmt::format("info {}\n", escaped(line));
}

void add_driver(std::string& out, const Host& host) {
    out += "driver version\n";
    add_information(out, driver_version_text(host));
    for (const auto& gpu : host.gpus) {
        if (!gpu.in_driver) continue;
        out += fmt::format("driver {}\n", kernel_bus_id(gpu));
        add_information(out, gpu_information(host, gpu));
    }
    out += "done driver\n";
}

void add_pci(std::string& out, const Host& host) {
    out += "pci\n";
    for (const auto& gpu : host.gpus)
        if (gpu.on_pci) out += fmt::format("pcigpu {} nvidia\n", kernel_bus_id(gpu));
    for (const auto& device : host.pci_extras)
        if (!device.is_function && device.device_class.starts_with("0x0302"))
            out += fmt::format("pcigpu {} {}\n", device.bus_id, device.driver.empty() ? "-" : device.driver);
    out += fmt::format("nvswitches {}\n", host.nvswitch && !host.gpus.empty() ? 1 : 0);
}

void add_meta(std::string& out, const Host& host, bool all) {
    out += fmt::format("meta boot {}\nmeta uid 0\nmeta ticks {}\nmeta uptime {}\nmeta shell {}\nnodes\n",
                       boot_mark, ticks_a_second, uptime_mark, shell_pid(host));
    for (const auto& gpu : host.gpus) out += fmt::format("node {}\n", gpu.minor);
    out += "drivers\n";
    add_pci(out, host);
    if (all && host.systemd) out += "sessions\n";
}

}  // namespace

long pid_of(std::size_t process) { return first_pid + static_cast<long>(process); }
std::uint64_t start_of(std::size_t process) { return first_start + 10 * process; }
long sshd_pid(const Host& host) { return first_pid + static_cast<long>(host.processes.size()); }

std::string escaped(std::string_view text) {
    if (text.empty()) return "-";
    if (text == "-") return "%2d";
    std::string out;
    for (const char c : text) {
        if (c > ' ' && c < 127 && c != '%')
            out += c;
        else
            out += fmt::format("%{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
    return out;
}

std::string survey_answer(const Host& host, const std::vector<Life>& lives, const Script& survey) {
    const bool all = survey.value("all_processes") == "1";
    std::string out = fmt::format("\nbegin {} 1\n", nonce_mark);
    add_meta(out, host, all);
    out += driver_answer(host, lives, survey);
    const auto processes = all_shown(host, lives, all);
    add_processes(out, processes, !survey.value("shm_names").empty());
    add_driver(out, host);
    for (const auto& process : processes)
        out += fmt::format("exefile {} {} -rwxr-xr-x\n", process.pid, process.owner);
    out += fmt::format("done exe\nend {}\n", nonce_mark);
    return out;
}

}  // namespace cleanslate::simulated
