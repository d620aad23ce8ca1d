#pragma once
// What a survey says of a host's processes and queries, read a second time and naively, for survey_fuzz to
// compare with. It knows docs/ and no code of the project.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/naive_survey.hpp"

namespace naive {

struct Process {
    std::string comm, exe, arguments, uid, parent, mode, file_owner;
    std::set<std::string> files;
    bool kernel = false;
};

struct Survey {
    std::map<std::string, std::vector<std::string>> tools;  // "gpu" -> how it ended, each time it was said
    std::map<std::string, std::string> printed;             // "gpu" -> its lines
    std::map<std::string, Process> processes;
    std::set<std::string> ancestors;
    std::string shell;
    std::vector<std::string> drivers, pci;  // bus ids
    std::vector<std::string> fields;
    std::size_t nodes = 0;
    bool drivers_shown = false, nodes_shown = false, hidden = false;
};

inline void read_stat(const std::string& pid, const std::string& text, Process& process) {
    const auto open = text.find('('), close = text.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open) return;
    process.comm = text.substr(open + 1, close - open - 1);
    const auto fields = pieces(strip(text.substr(close + 1)), ' ');
    if (fields.size() < 7) return;
    process.parent = fields[1];
    process.kernel = (std::strtoul(fields[6].c_str(), nullptr, 10) & 0x200000UL) != 0;
    if (pid == "2" && process.parent == "0") process.kernel = true;
}

inline std::string low(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

// "0000:0B:00.0" as rows have it: "00000000:0b:00.0".
inline std::string bus(std::string text) {
    const auto domain = text.find(':');
    if (domain != std::string::npos && domain < 8) text.insert(0, 8 - domain, '0');
    return low(std::move(text));
}

inline Survey read(const std::vector<naive::Record>& records) {
    Survey survey;
    for (const auto& record : records) {
        const auto& word = record.word;
        const auto value = [&](std::size_t i) {
            return i < record.values.size() ? record.values[i] : std::string();
        };
        if (word == "tool") survey.tools[value(0)].push_back(value(1));
        if (word == "gpu" || word == "app" || word == "opt" || word == "list")
            survey.printed[word] += value(0) + "\n";
        if (word == "meta" && value(0) == "shell") survey.shell = value(1);
        if (word == "meta" && (value(0) == "hidden" || value(0) == "foreign-proc")) survey.hidden = true;
        if (word == "driver" && value(0) != "version") survey.drivers.push_back(bus(value(0)));
        if (word == "pcigpu" && value(1) == "nvidia") survey.pci.push_back(bus(value(0)));
        if (word == "fields") survey.fields = pieces(value(0), ',');
        if (word == "drivers") survey.drivers_shown = true;
        if (word == "node") ++survey.nodes;
        if (word == "nodes") survey.nodes_shown = true;
        auto& process = survey.processes[value(0)];
        if (word == "proc") process.uid = value(1), read_stat(value(0), value(2), process);
        if (word == "exe") process.exe = value(1);
        if (word == "exefile") process.file_owner = value(1), process.mode = value(2);
        if (word == "argv") process.arguments = value(1);
        if (word == "open" || word == "mapped")
            for (const auto& file : pieces(value(1), ',')) process.files.insert(file);
    }
    for (auto pid = survey.shell; survey.ancestors.insert(pid).second;) pid = survey.processes[pid].parent;
    return survey;
}

inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// What docs/protected.md has in its table, by the begin of its name. Longer than need be: the property is
// that nobody else is passed over.
inline bool has_protected_name(const Process& process) {
    constexpr std::array<std::string_view, 55> names{
        "nvidia-persist",
        "nv-fabricmanag",
        "nvidia-imex",
        "nv-hostengine",
        "dcgm-exporter",
        "dcgmi",
        "nvidia-device-",
        "gpu-feature-di",
        "nvidia-mig-man",
        "nvidia-cuda-mp",
        "nvsm",
        "nvidia-vgpud",
        "nvidia-vgpu-mg",
        "nvidia-gridd",
        "nvidia-powerd",
        "gpud",
        "nvidia_gpu_exp",
        "node_exporter",
        "prometheus-nod",
        "collectd",
        "telegraf",
        "zabbix_agent",
        "nvidia-smi",
        "nvtop",
        "Xorg",
        "Xwayland",
        "gnome-shell",
        "mutter",
        "kwin_wayland",
        "kwin_x11",
        "plasmashell",
        "cinnamon",
        "sway",
        "weston",
        "gdm",
        "sddm",
        "lightdm",
        "sshd",
        "dropbear",
        "systemd",
        "dbus-daemon",
        "dbus-broker",
        "cron",
        "atd",
        "slurmd",
        "slurmstepd",
        "slurmctld",
        "munged",
        "pbs_mom",
        "kubelet",
        "k3s",
        "containerd",
        "dockerd",
        "conmon",
        "crio",
    };
    const auto name = process.exe.empty() ? process.comm : process.exe.substr(process.exe.rfind('/') + 1);
    if (process.exe.starts_with("/opt/datadog-agent/") || name.starts_with("snapd")) return true;
    if (contains(name, "python"))
        return contains(process.arguments, "nvitop") || contains(process.arguments, "gpustat");
    for (const auto known : names)
        if (name.starts_with(known)) return true;
    return false;
}

inline bool may_be_protected(const std::string& pid, const Survey& survey) {
    const auto found = survey.processes.find(pid);
    if (found == survey.processes.end()) return false;
    const auto& process = found->second;
    if (pid == "1" || process.kernel || survey.ancestors.contains(pid)) return true;
    if (!has_protected_name(process)) return false;
    // A file that is shown is root's, and nobody else may write to it.
    if (process.exe.empty() || process.mode.empty()) return process.uid != "1000";
    return process.file_owner == "0" && process.mode.size() >= 10 && process.mode[5] != 'w' &&
           process.mode[8] != 'w';
}

}  // namespace naive
