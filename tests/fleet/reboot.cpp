#include "tests/fleet/reboot.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

bool end_everything() {
    bool any = false;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
        const auto pid = to_number(entry.path().filename().string());
        const auto stat = pid && *pid > 2 ? stat_of(static_cast<pid_t>(*pid)) : std::nullopt;
        if (!stat) continue;
        any = true;
        ::kill(static_cast<pid_t>(*pid), SIGKILL);
    }
    errno = 0;
    return !any;
}

void begin_anew(const Host& host) {
    if (host.reboot != "same") {
        const auto id = read_file("/proc/sys/kernel/random/uuid");
        need(id.has_value(), "cannot make a boot id");
        write_file("/proc/sys/kernel/random/boot_id", *id, 0444);
    }
    std::string indexes;
    for (const auto& gpu : host.gpus) indexes += std::to_string(gpu.index) + "\n";
    write_file(reset_file(), indexes);
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", none))
        std::filesystem::remove_all(entry.path(), none);
    std::filesystem::remove_all("/run/cleanslate", none);
    std::filesystem::remove("/run/sshd.pid", none);
    errno = 0;
}

void note_boot(const char* what) {
    const std::string line = std::string(what) + " " + std::to_string(now_ns()) + "\n";
    const Fd file(::open((std::string(host_folder) + "/boots").c_str(),
                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    need(file && ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()),
         "cannot note a boot");
}

}  // namespace cleanslate::simulated
