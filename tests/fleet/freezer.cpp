#include "tests/fleet/freezer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

const std::string frozen = "/sys/fs/cgroup/freezer/frozen";

// cgroup files are not truncated and not created.
bool put(const std::string& file, const std::string& text) {
    const Fd opened(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    return opened && ::write(opened.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

void make_frozen_cgroup() {
    need(::access("/sys/fs/cgroup/freezer/cgroup.procs", F_OK) == 0,
         "this machine has no v1 freezer cgroup, which 'frozen' needs");
    make_folder(frozen);
    need(::chmod((frozen + "/cgroup.procs").c_str(), 0666) == 0 && put(frozen + "/freezer.state", "FROZEN"),
         "cannot freeze " + frozen);
}

void freeze() {
    if (!put(frozen + "/cgroup.procs", "0")) errno = 0;
}

void freeze_readers(pid_t pid) {
    const std::string wanted = "/proc/" + std::to_string(pid) + "/";
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
        const auto reader = to_number(entry.path().filename().string());
        const auto stat = reader ? stat_of(static_cast<pid_t>(*reader)) : std::nullopt;
        if (!stat || stat->state != 'D' || *reader == pid) continue;
        for (const auto& file : std::filesystem::directory_iterator(entry.path() / "fd", none))
            if (std::filesystem::read_symlink(file.path(), none).string().starts_with(wanted))
                put(frozen + "/cgroup.procs", std::to_string(*reader));
    }
    errno = 0;
}

void thaw(const std::string& folder) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none))
        if (entry.is_directory(none)) thaw(entry.path().string());
    // The root of the hierarchy has no state.
    if (!put(folder + "/freezer.state", "THAWED")) errno = 0;
}

}  // namespace cleanslate::simulated
