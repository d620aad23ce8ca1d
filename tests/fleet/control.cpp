// The simulated host's systemctl, docker, podman, scancel, nvidia-cuda-mps-control, reboot and shutdown: one
// program under all these names, as far as something is stopped, started or asked for with them. What the
// real ones say and how they end is kept where it matters.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "tests/fleet/description.hpp"
#include "tests/fleet/launch.hpp"
#include "tests/fleet/managed.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {
namespace {

constexpr std::int64_t grace_ns = 1'000'000'000;  // from TERM to KILL
constexpr std::int64_t patience_ns = 60'000'000'000;

[[noreturn]] void end(int status, const std::string& error = "") {
    std::fputs(error.c_str(), stderr);
    std::fflush(nullptr);
    ::_exit(status);
}

std::string trouble_with(const Host& host, const std::string& name) {
    const auto found = host.managed.find(name);
    if (found != host.managed.end()) return found->second;
    // docker stop takes the beginning of an id.
    for (const auto& [known, trouble] : host.managed)
        if (name.size() >= 12 && known.starts_with(name)) return trouble;
    return {};
}

// True once nothing of it lives.
bool wait_until_gone(Managed kind, const std::string& name, std::int64_t limit) {
    const auto end_at = now_ns() + limit;
    while (!members_of(kind, name).empty()) {
        if (now_ns() > end_at) return false;
        ::poll(nullptr, 0, 5);
    }
    return true;
}

// TERM, then KILL, and nothing starts it again.
bool stop(Managed kind, const std::string& name) {
    ask_init("stop " + to_word(kind) + " " + name);
    for (const pid_t pid : members_of(kind, name)) ::kill(pid, SIGTERM);
    if (wait_until_gone(kind, name, grace_ns)) return true;
    for (const pid_t pid : members_of(kind, name)) ::kill(pid, SIGKILL);
    return wait_until_gone(kind, name, patience_ns);
}

// Only the owner of what runs there, or root, may.
bool may_stop(Managed kind, const std::string& name) {
    if (::geteuid() == 0) return true;
    for (const pid_t pid : members_of(kind, name))
        if (::kill(pid, 0) != 0) return false;
    return true;
}

void stumble(const std::string& trouble, const std::string& text) {
    if (trouble == "stop-hangs")
        while (true) ::pause();
    if (trouble == "stop-fails") end(1, text + "\n");
}

int stop_units(const Host& host, const std::vector<std::string>& units) {
    for (const auto& unit : units) {
        if (!may_stop(Managed::unit, unit))
            end(1, "Failed to stop " + unit + ": Interactive authentication required.\n");
        stumble(trouble_with(host, unit), "Failed to stop " + unit + ": Connection timed out");
        const bool known = !members_of(Managed::unit, unit).empty() ||
                           std::any_of(host.processes.begin(), host.processes.end(), [&](const auto& spec) {
                               return is_managed_by(spec.cgroup, Managed::unit, unit);
                           });
        if (!known) end(5, "Failed to stop " + unit + ": Unit " + unit + " not loaded.\n");
        if (!stop(Managed::unit, unit)) end(1, "Job for " + unit + " canceled.\n");
    }
    return 0;
}

int start_units(const Host& host, const std::vector<std::string>& units) {
    for (const auto& unit : units) {
        if (trouble_with(host, unit) == "start-fails")
            end(1, "Job for " + unit + " failed because the control process exited with error code.\n");
        ask_init("start unit " + unit);
    }
    return 0;
}

int reboot(const Host& host) {
    if (::geteuid() != 0) end(1, "Call to Reboot failed: Interactive authentication required.\n");
    if (host.reboot == "fails") end(1, "Call to Reboot failed: Operation inhibited by \"backup\".\n");
    ask_init("reboot");
    return 0;
}

int systemctl(const Host& host, const std::vector<std::string>& words) {
    if (words.empty()) end(1, "This stand-in knows stop, start, is-active and reboot.\n");
    if (!host.systemd)
        end(1, "System has not been booted with systemd as init system (PID 1). Can't operate.\n");
    const std::vector<std::string> units(words.begin() + 1, words.end());
    if (words[0] == "stop") return stop_units(host, units);
    if (words[0] == "start") return start_units(host, units);
    if (words[0] == "reboot") return reboot(host);
    if (words[0] != "is-active") end(1, "Unknown command verb " + words[0] + ".\n");
    int status = 3;
    for (const auto& unit : units) {
        const bool active = !members_of(Managed::unit, unit).empty();
        std::printf("%s\n", active ? "active" : "inactive");
        if (active) status = 0;
    }
    return status;
}

int stop_containers(const Host& host, const std::vector<std::string>& words) {
    if (words.empty() || words[0] != "stop") end(1, "This stand-in knows stop.\n");
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (!may_stop(Managed::container, words[i])) end(1, "permission denied\n");
        stumble(trouble_with(host, words[i]),
                "Error response from daemon: cannot stop container: " + words[i] +
                    ": tried to kill container, "
                    "but did not receive an exit event");
        if (members_of(Managed::container, words[i]).empty())
            end(1, "Error response from daemon: No such container: " + words[i] + "\n");
        if (!stop(Managed::container, words[i])) end(1, "Error response from daemon: timeout\n");
        std::printf("%s\n", words[i].c_str());
    }
    return 0;
}

// scancel returns at once; slurmd ends the job meanwhile.
int scancel(const Host& host, const std::vector<std::string>& jobs) {
    for (const auto& job : jobs) {
        stumble(trouble_with(host, job), "scancel: error: Kill job error on job id " + job +
                                             ": Unable to contact slurm controller (connect failure)");
        if (!may_stop(Managed::job, job))
            end(1, "scancel: error: Kill job error on job id " + job + ": Access/permission denied\n");
        if (members_of(Managed::job, job).empty())
            end(1, "scancel: error: Kill job error on job id " + job + ": Invalid job id specified\n");
        const pid_t child = ::fork();
        need(child >= 0, "fork");
        if (child > 0) continue;
        ::setsid();
        for (int fd = 0; fd < 3; ++fd) ::close(fd);
        stop(Managed::job, job);
        ::_exit(0);
    }
    return 0;
}

std::string read_input() {
    std::string text;
    char buffer[256];
    for (ssize_t got = 0; (got = ::read(STDIN_FILENO, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(got));
    return text;
}

// The pids of MPS itself, or of its clients too, as they were started here.
std::vector<pid_t> mps_processes(const Host& host, bool clients) {
    std::vector<pid_t> pids;
    for (const auto& line : split(read_file(started_file()).value_or(""), '\n')) {
        const auto words = split(line, ' ');
        const auto* spec = words.size() == 2 ? host.find(words[1]) : nullptr;
        if (spec == nullptr) continue;
        const auto pid = static_cast<pid_t>(to_number(words[0]).value_or(0));
        const auto stat = stat_of(pid);
        const bool part = spec->exe.find("/nvidia-cuda-mps-") != std::string::npos;
        if (stat && stat->state != 'Z' && (clients ? spec->mps : part)) pids.push_back(pid);
    }
    errno = 0;
    return pids;
}

int mps_control(const Host& host) {
    const auto order = split(trim(read_input()), ' ');
    auto own = mps_processes(host, false);
    if (own.empty()) end(1, "Cannot find MPS control daemon process\n");
    if (order.empty() || order[0] != "quit") end(1, "This stand-in knows quit.\n");
    stumble(trouble_with(host, "mps"), "Failed to quit");
    for (const bool clients : {true, false})
        for (const pid_t pid : mps_processes(host, clients))
            if (::kill(pid, SIGKILL) != 0 && errno == EPERM) end(1, "Insufficient permissions\n");
    const auto end_at = now_ns() + patience_ns;
    while (!mps_processes(host, false).empty() && now_ns() < end_at) ::poll(nullptr, 0, 5);
    return 0;
}

int play(const std::string& called, const std::vector<std::string>& given) {
    const Host host = this_host();
    std::vector<std::string> words;
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (called != "systemctl" && (given[i] == "-t" || given[i] == "--time"))
            ++i;
        else if (!given[i].starts_with("-"))
            words.push_back(given[i]);
    }
    if (called == "systemctl") return systemctl(host, words);
    if (called == "docker" || called == "podman") return stop_containers(host, words);
    if (called == "scancel") return scancel(host, words);
    if (called == "nvidia-cuda-mps-control") return mps_control(host);
    const bool restart = std::find(given.begin(), given.end(), "-r") != given.end();
    if (called == "reboot" || (called == "shutdown" && restart)) return reboot(host);
    end(1, "This stand-in does not know how to be " + called + ".\n");
}

}  // namespace
}  // namespace cleanslate::simulated

int main(int argc, char** argv) {
    const std::string path = argv[0];
    return cleanslate::simulated::play(path.substr(path.rfind('/') + 1), {argv + 1, argv + argc});
}
