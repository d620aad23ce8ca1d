// Property: where a whole survey is judged clean, a naive second reader of the same text finds in it: begin
// and end with the nonce; both queries ended with 0; for every expected index exactly one row, whose used
// memory is a plain number within the limit, what the driver lists of that GPU's processes taken off; and
// nobody but what may be protected has a device file open or is listed by the driver.
//
// An input is a survey as it is; or, where it begins with "== ", what the queries printed, in sections
// ("== gpu 0": of the GPU query, which ended with 0), from which the survey of a healthy host is made.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "agentless/remote.hpp"
#include "agentless/verdict.hpp"
#include "tests/fuzz/naive_survey.hpp"

namespace {

namespace cs = cleanslate::agentless;
using naive::digits;
using naive::pieces;
using naive::strip;

constexpr long limit = 100;

void check(bool holds) {
    if (!holds) std::abort();
}

// --- the naive reader -------------------------------------------------------------------------------------

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
    std::size_t drivers = 0, nodes = 0;
    bool drivers_shown = false, nodes_shown = false;
};

void read_stat(const std::string& pid, const std::string& text, Process& process) {
    const auto open = text.find('('), close = text.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open) return;
    process.comm = text.substr(open + 1, close - open - 1);
    const auto fields = pieces(strip(text.substr(close + 1)), ' ');
    if (fields.size() < 7) return;
    process.parent = fields[1];
    process.kernel = (std::strtoul(fields[6].c_str(), nullptr, 10) & 0x200000UL) != 0;
    if (pid == "2" && process.parent == "0") process.kernel = true;
}

Survey read(const std::vector<naive::Record>& records) {
    Survey survey;
    for (const auto& record : records) {
        const auto& word = record.word;
        const auto value = [&](std::size_t i) {
            return i < record.values.size() ? record.values[i] : std::string();
        };
        if (word == "tool") survey.tools[value(0)].push_back(value(1));
        if (word == "gpu" || word == "app") survey.printed[word] += value(0) + "\n";
        if (word == "meta" && value(0) == "shell") survey.shell = value(1);
        if (word == "driver" && value(0) != "version") ++survey.drivers;
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

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// What docs/protected.md has in its table, by the begin of its name. Longer than need be: the property is
// that nobody else is passed over.
bool has_protected_name(const Process& process) {
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

bool may_be_protected(const std::string& pid, const Survey& survey) {
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

long as_number(std::string cell) {
    if (cell.ends_with(" MiB")) cell.resize(cell.size() - 4);
    while (cell.size() > 1 && cell.front() == '0') cell.erase(cell.begin());
    return digits(cell) && cell.size() <= 13 ? std::atol(cell.c_str()) : -1;
}

std::vector<std::vector<std::string>> rows(std::string text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    std::vector<std::vector<std::string>> all;
    for (const auto& line : pieces(text, '\n')) {
        all.emplace_back();
        for (const auto& cell : pieces(line, ',')) all.back().push_back(strip(cell));
    }
    return all;
}

// Memory that the driver's list explains, on the GPU with this uuid, or on any.
long listed_on(const std::string& uuid, const Survey& survey) {
    long sum = 0;
    const auto text = survey.printed.find("app");
    if (text == survey.printed.end()) return 0;
    for (const auto& row : rows(text->second))
        for (std::size_t i = 0; i < row.size(); ++i)
            if (std::find(row.begin(), row.end(), uuid) != row.end() && as_number(row[i]) > 0)
                sum += as_number(row[i]);
    return sum;
}

bool has_one_good_row(int index, const Survey& survey) {
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
bool apps_are_protected(const Survey& survey) {
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

bool ended_well(const Survey& survey, const std::string& query) {
    const auto how = survey.tools.find(query);
    return how != survey.tools.end() && how->second.size() == 1 && !how->second[0].empty() &&
           how->second[0].find_first_not_of('0') == std::string::npos;
}

void expect_proof(std::string_view text, std::size_t count) {
    const auto frame = naive::frame(text);
    check(frame.begun && frame.complete);
    const auto survey = read(frame.records);
    check(ended_well(survey, "gpu") && ended_well(survey, "app"));
    for (std::size_t i = 0; i < count; ++i) check(has_one_good_row(static_cast<int>(i), survey));
    for (const auto& [pid, process] : survey.processes) {
        auto files = process.files;
        files.erase("");
        if (!files.empty()) check(may_be_protected(pid, survey));
    }
    check(apps_are_protected(survey));
}

// --- surveys ----------------------------------------------------------------------------------------------

void judge(std::string_view text) {
    const auto evidence = cs::read_survey(text, "n");
    if (!evidence) return;
    check(evidence->gpus.size() <= 1024 && evidence->messages.size() <= 257);
    cs::Expectations expectations;
    expectations.max_used = cleanslate::Mebibytes{limit};
    for (int count = 1; count <= 8; ++count) {
        expectations.gpus = count;
        if (cs::judge(*evidence, expectations).clean()) expect_proof(text, static_cast<std::size_t>(count));
    }
    expectations.gpus.reset();
    if (!cs::judge(*evidence, expectations).clean()) return;
    const auto survey = read(naive::frame(text).records);
    check(survey.drivers_shown || survey.nodes_shown);
    const auto count = survey.drivers_shown ? survey.drivers : survey.nodes;
    check(count > 0);
    expect_proof(text, count);
}

std::string escaped(std::string_view bytes) {
    if (bytes.empty()) return "-";
    constexpr std::string_view hex = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (c > ' ' && c <= '~' && c != '%' && bytes != "-") {
            text += c;
        } else {
            text += '%';
            text += hex[byte >> 4];
            text += hex[byte & 15];
        }
    }
    return text;
}

// A healthy idle host with two GPUs, and what the input says that its queries printed.
std::string wrapped(std::string_view input) {
    std::string text =
        "motd\nbegin n 1\nmeta boot b\nmeta uid 0\nmeta ticks 100\nmeta uptime 500.00\nmeta shell 20\nnodes\n"
        "node 0\nnode 1\ndrivers\n";
    std::string word, status;
    const auto close = [&] {
        if (!status.empty()) text += "tool " + word + " " + escaped(status) + "\n";
    };
    for (const auto& line : pieces(input, '\n')) {
        if (line.starts_with("== ")) {
            close();
            const auto parts = pieces(line, ' ');
            word = parts[1];
            status = parts.size() > 2 ? parts[2] : "";
        } else if (word == "raw") {
            text += line + "\n";
        } else if (!word.empty()) {
            text += word + " " + escaped(line) + "\n";
        }
    }
    close();
    const std::string stat = " 20 20 0 -1 0 0 0 0 0 0 0 0 0 0 20 0 1 0 ";
    text += "done queries\nproc 1 0 " + escaped("1 (init) S 0" + stat + "1 0 0") + "\nmount 1 m\nproc 20 0 " +
            escaped("20 (sh) S 1" + stat + "99 0 0") + "\nmount 20 m\ndone files\ndone maps\ndone argv\n";
    for (const char* minor : {"0", "1"})
        text += "driver 0000:0" + std::string(minor) + ":00.0\ninfo " +
                escaped("GPU UUID: \t GPU-0000000" + std::string(minor) + "-1111-2222-3333-444444444444") +
                "\ninfo " + escaped("Device Minor: \t " + std::string(minor)) + "\n";
    return text + "done driver\ndone exe\nend n\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    judge(text.starts_with("== ") ? wrapped(text) : std::string(text));
    return 0;
}
