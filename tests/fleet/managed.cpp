#include "tests/fleet/managed.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "tests/fleet/description.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

bool fits(std::string_view part, Managed kind, std::string_view name) {
    if (kind == Managed::unit) return part == name;
    if (kind == Managed::job) return part == "job_" + std::string(name);
    for (const std::string_view prefix : {"docker-", "libpod-", "cri-containerd-", "crio-", ""})
        if (part.starts_with(prefix) && part.substr(prefix.size()).starts_with(name))
            return name.size() >= 12;
    return false;
}

}  // namespace

bool is_managed_by(std::string_view cgroup, Managed kind, std::string_view name) {
    for (const auto& part : split(cgroup, '/'))
        if (fits(part, kind, name)) return true;
    return false;
}

std::vector<pid_t> members_of(Managed kind, std::string_view name) {
    std::vector<pid_t> pids;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
        const auto pid = to_number(entry.path().filename().string());
        if (!pid || *pid == ::getpid()) continue;
        const auto stat = stat_of(static_cast<pid_t>(*pid));
        if (!stat || stat->state == 'Z' || stat->state == 'X') continue;
        for (const auto& line : split(read_file(entry.path() / "cgroup").value_or(""), '\n')) {
            if (!is_managed_by(line.substr(line.rfind(':') + 1), kind, name)) continue;
            pids.push_back(static_cast<pid_t>(*pid));
            break;
        }
    }
    errno = 0;
    return pids;
}

std::string control_socket() { return std::string(host_folder) + "/control"; }

std::string to_word(Managed kind) {
    return kind == Managed::unit ? "unit" : kind == Managed::container ? "container" : "job";
}

void ask_init(const std::string& request) {
    const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un own{};
    own.sun_family = AF_UNIX;
    need(socket && ::bind(socket.get(), reinterpret_cast<sockaddr*>(&own), sizeof own.sun_family) == 0,
         "bind a socket for the answer");
    sockaddr_un init{};
    init.sun_family = AF_UNIX;
    control_socket().copy(init.sun_path, sizeof init.sun_path - 1);
    need(::sendto(socket.get(), request.data(), request.size(), 0, reinterpret_cast<sockaddr*>(&init),
                  sizeof init) >= 0,
         "cannot reach init");
    char answer[8];
    need(::recv(socket.get(), answer, sizeof answer, 0) > 0, "no answer from init");
}

}  // namespace cleanslate::simulated
