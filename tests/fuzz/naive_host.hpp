#pragma once
// What a survey says of a host, read a second time and naively, for survey_fuzz to compare with. It knows
// docs/ and no code of the project.

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

constexpr long limit = 100;  // MiB

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

inline long as_number(std::string cell) {
    if (cell.ends_with(" MiB")) cell.resize(cell.size() - 4);
    while (cell.size() > 1 && cell.front() == '0') cell.erase(cell.begin());
    return digits(cell) && cell.size() <= 13 ? std::atol(cell.c_str()) : -1;
}

inline std::vector<std::vector<std::string>> rows(std::string text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    std::vector<std::vector<std::string>> all;
    for (const auto& line : pieces(text, '\n')) {
        all.emplace_back();
        for (const auto& cell : pieces(line, ',')) all.back().push_back(strip(cell));
    }
    return all;
}

// Memory that the driver's list explains, on the GPU with this uuid, or on any.
inline long listed_on(const std::string& uuid, const Survey& survey) {
    long sum = 0;
    const auto text = survey.printed.find("app");
    if (text == survey.printed.end()) return 0;
    for (const auto& row : rows(text->second))
        for (std::size_t i = 0; i < row.size(); ++i)
            if (std::find(row.begin(), row.end(), uuid) != row.end() && as_number(row[i]) > 0)
                sum += as_number(row[i]);
    return sum;
}

inline bool has_one_good_row(int index, const Survey& survey) {
    const auto text = survey.printed.find("gpu");
    if (text == survey.printed.end()) return false;
    int seen = 0;
    for (const auto& row : rows(text->second)) {
        if (row.front() != std::to_string(index) || row.size() < 8) continue;
        ++seen;
        const long used = as_number(row[3]);
        if (used < 0 || used - listed_on(row[1], survey) > limit) return false;
        for (const auto& cell : row)
            if (contains(cell, "Unknown Error") || contains(cell, "requires reset") ||
                contains(cell, "is lost") || cell == "ERR!")
                return false;
    }
    return seen == 1;
}

// Each line of the driver's list that has a number in a cell of its own has one of a protected process.
inline bool apps_are_protected(const Survey& survey) {
    const auto text = survey.printed.find("app");
    if (text == survey.printed.end()) return true;
    for (const auto& row : rows(text->second)) {
        bool number = false, good = false;
        for (const auto& cell : row)
            if (digits(cell)) {
                number = true;
                good = good || may_be_protected(cell, survey);
            }
        if (number && !good) return false;
    }
    return true;
}

inline bool ended_well(const Survey& survey, const std::string& query) {
    const auto how = survey.tools.find(query);
    return how != survey.tools.end() && how->second.size() == 1 && !how->second[0].empty() &&
           how->second[0].find_first_not_of('0') == std::string::npos;
}

inline bool is_bus(const std::string& text) { return text.size() == 16 && text[8] == ':'; }

// Rows whose cell in that place looks like what it should be; and whether there is any other row.
inline std::set<std::string> column(const Survey& survey, std::size_t place, bool& others) {
    std::set<std::string> seen;
    const auto text = survey.printed.find("gpu");
    if (text == survey.printed.end()) return seen;
    for (const auto& row : rows(text->second)) {
        if (row.size() < 8) continue;
        const auto cell = place == 2 ? bus(row[place]) : row[place];
        if (place == 2 ? is_bus(cell) : cell.starts_with("GPU-"))
            seen.insert(cell);
        else
            others = true;
    }
    return seen;
}

inline bool is_uuid(const std::string& text) {
    constexpr std::string_view shape = "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    return std::equal(text.begin(), text.end(), shape.begin(), shape.end(),
                      [](char c, char s) { return s == 'x' ? hex(low({c})[0]) >= 0 : c == s; });
}

// "GPU 0: NVIDIA H200 (UUID: GPU-...)".
inline std::string listed_uuid(const std::string& line) {
    const auto at = line.rfind("(UUID: GPU-");
    if (!line.starts_with("GPU ") || at == std::string::npos || !line.ends_with(')')) return "";
    const auto index = line.substr(4, line.find(':') - 4);
    if (!digits(index) || index.size() > 3 || (index.size() > 1 && index[0] == '0')) return "";
    if (strip(line.substr(0, at)).size() < index.size() + 7) return "";  // no name
    const auto uuid = line.substr(at + 7, line.size() - at - 8);
    return is_uuid(uuid) ? uuid : "";
}

// The uuids of a list that came to its end and has no other lines; none of any other.
inline std::set<std::string> listed(const Survey& survey) {
    std::set<std::string> uuids, indexes;
    const auto text = survey.printed.find("list");
    if (text == survey.printed.end() || !ended_well(survey, "list")) return uuids;
    for (const auto& line : pieces(text->second, '\n')) {
        if (strip(line).empty()) continue;
        if (listed_uuid(line).empty() || !uuids.insert(listed_uuid(line)).second) return {};
        if (!indexes.insert(line.substr(0, line.find(':'))).second) return {};
    }
    return uuids;
}

inline bool every_source_is_met(const Survey& survey) {
    bool others = false;
    const auto buses = column(survey, 2, others);
    const auto uuids = column(survey, 1, others);
    // A row that does not say which GPU it is of may be anyone's.
    if (others || survey.hidden) return true;
    for (const auto* source : {&survey.drivers, &survey.pci})
        for (const auto& id : *source)
            if (is_bus(id) && !buses.contains(id)) return false;
    for (const auto& uuid : listed(survey))
        if (!uuids.contains(uuid)) return false;
    return true;
}

// A row of the optional query that names its GPU as the row of the core query does, and is the only one to
// show that index, uuid or bus id.
inline bool optional_says_sick(const Survey& survey) {
    const auto text = survey.printed.find("opt");
    if (text == survey.printed.end()) return false;
    const auto all = rows(text->second);
    const auto core = rows(survey.printed.contains("gpu") ? survey.printed.at("gpu") : "");
    const auto alike = [](const std::vector<std::string>& a, const std::vector<std::string>& b) {
        return a.size() >= 3 && b.size() >= 3 && (a[0] == b[0] || a[1] == b[1] || bus(a[2]) == bus(b[2]));
    };
    for (const auto& row : all) {
        if (row.size() != survey.fields.size() + 3) continue;
        if (std::count_if(all.begin(), all.end(), [&](const auto& other) { return alike(row, other); }) != 1)
            continue;
        const auto of = std::count_if(core.begin(), core.end(), [&](const auto& other) {
            return other.size() >= 8 && row[0] == other[0] && row[1] == other[1] &&
                   bus(row[2]) == bus(other[2]);
        });
        if (of != 1) continue;
        for (std::size_t i = 0; i < survey.fields.size(); ++i) {
            const auto cell = low(row[i + 3]);
            if (survey.fields[i] == "gpu_recovery_action" && (cell == "reset" || cell == "reboot"))
                return true;
            if (survey.fields[i].starts_with("remapped_rows.") && cell == "yes") return true;
            if (contains(cell, "requires reset") || contains(cell, "is lost")) return true;
        }
    }
    return false;
}

}  // namespace naive
