#include "agentless/proc_text.hpp"

#include <algorithm>
#include <limits>

#include "agentless/supervisor.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::uint64_t kernel_thread_flag = 0x00200000;  // PF_KTHREAD

std::optional<Pid> as_pid(std::string_view text) {
    const auto number = parse_number(text);
    if (!number || *number > static_cast<std::uint64_t>(std::numeric_limits<Pid>::max())) return std::nullopt;
    return static_cast<Pid>(*number);
}

struct CgroupLine {
    std::string_view controllers;
    std::string_view path;
    bool v2 = false;
};

std::optional<CgroupLine> read_cgroup_line(std::string_view line) {
    const auto first = line.find(':');
    if (first == std::string_view::npos) return std::nullopt;
    const auto second = line.find(':', first + 1);
    if (second == std::string_view::npos || second + 1 >= line.size() || line[second + 1] != '/')
        return std::nullopt;
    CgroupLine found;
    found.controllers = line.substr(first + 1, second - first - 1);
    found.path = line.substr(second + 1);
    found.v2 = line.substr(0, first) == "0" && found.controllers.empty();
    return found;
}

// A line of v1 may tell of a job, pod or container where that of v2 or of systemd only names the daemon that
// started it (slurmd.service, containerd.service) or the login that it was adopted from: whose it is counts
// more. The first path is the one where no line does.
std::string_view owner_among(const std::vector<std::string_view>& paths) {
    constexpr int most = 2;
    const auto rank = [](std::string_view path) {
        const auto supervisor = supervisor_of(path);
        if (supervisor.scheduled()) return most;
        return supervisor.kind == SupervisorKind::container ? 1 : 0;
    };
    std::string_view best = paths.front(), last = best;
    int best_rank = rank(best);
    for (const auto path : paths) {
        if (best_rank == most) break;
        if (path == last || path == best || path == "/") continue;
        last = path;
        if (const int its = rank(path); its > best_rank) {
            best_rank = its;
            best = path;
        }
    }
    return best;
}

}  // namespace

bool read_stat(std::string_view text, Process& process) {
    const auto open = text.find(" (");
    const auto close = text.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) return false;
    if (close + 2 > text.size() || text[close + 1] != ' ') return false;
    const auto fields = split(trim(text.substr(close + 2)), ' ');  // from field 3, the state
    if (fields.size() < 20 || fields[0].size() != 1) return false;
    const auto pid = as_pid(text.substr(0, open));
    const auto parent = as_pid(fields[1]);
    const auto session = as_pid(fields[3]);
    const auto flags = parse_number(fields[6]);
    const auto start = parse_number(fields[19]);
    if (!pid || *pid == 0 || !parent || !flags || !start) return false;
    process.key = {*pid, *start};
    process.parent = *parent;
    process.session = session.value_or(0);  // -1 is possible where the leader is in another namespace
    // Not 0 where it cannot be read: who has no terminal may be an orphan.
    const auto tty = parse_number(fields[4]);
    process.tty = tty && *tty <= std::numeric_limits<int>::max() ? static_cast<int>(*tty) : -1;
    process.state = fields[0][0];
    // A leader that has ended while other threads live is no zombie: they have its files, and signals reach
    // them.
    if (process.state == 'Z' && parse_number(fields[17]).value_or(1) > 1) process.state = '?';
    process.kernel_thread = (*flags & kernel_thread_flag) != 0;
    process.comm = text.substr(open + 2, close - open - 2);
    return true;
}

std::optional<std::string> best_cgroup(std::string_view text) {
    std::vector<std::string_view> paths;
    std::optional<std::string_view> v2, systemd, longest;
    for (const auto line : split(text, '\n')) {
        const auto found = read_cgroup_line(line);
        if (!found) continue;
        paths.push_back(found->path);
        if (found->v2) v2 = found->path;
        if (found->controllers == "name=systemd") systemd = found->path;
        if (!longest || found->path.size() > longest->size()) longest = found->path;
    }
    if (!longest) return std::nullopt;
    std::optional<std::string_view> best;
    for (const auto& path : {v2, systemd, longest})
        if (!best && path && *path != "/") best = path;
    if (!best) return std::string(*longest);
    paths.insert(paths.begin(), *best);
    return std::string(owner_among(paths));
}

std::vector<std::string> split_arguments(std::string_view text) {
    while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
    std::vector<std::string> arguments;
    if (text.empty()) return arguments;
    for (const auto argument : split(text, '\0')) arguments.emplace_back(argument);
    return arguments;
}

std::optional<DeviceFiles> read_device_files(std::string_view text) {
    constexpr std::string_view cap = "cap";
    DeviceFiles files;
    for (auto part : split(text, ',')) {
        if (part == "c") {
            files.control = true;
            continue;
        }
        const bool is_cap = part.starts_with(cap);
        auto& numbers = is_cap ? files.caps : files.minors;
        if (is_cap) {
            part.remove_prefix(cap.size());
            files.control = true;
        }
        const auto number = parse_number(part);
        if (!number || *number > 1'000'000) return std::nullopt;
        numbers.push_back(static_cast<int>(*number));
    }
    for (auto* numbers : {&files.minors, &files.caps}) {
        std::ranges::sort(*numbers);
        const auto repeats = std::ranges::unique(*numbers);
        numbers->erase(repeats.begin(), repeats.end());
    }
    return files;
}

std::string driver_version_in(std::string_view line) {
    if (!line.starts_with("NVRM version:")) return {};
    for (const auto word : split(line, ' ')) {
        const auto parts = split(word, '.');
        if (parts.size() < 2 || parts.size() > 4) continue;
        if (std::ranges::all_of(parts, [](std::string_view part) { return parse_number(part).has_value(); }))
            return std::string(word);
    }
    return {};
}

}  // namespace cleanslate::agentless
