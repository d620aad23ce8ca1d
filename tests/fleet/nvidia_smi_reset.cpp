#include "tests/fleet/nvidia_smi_reset.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

bool is_open(const std::string& device) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
        const auto pid = to_number(entry.path().filename().string());
        if (!pid || *pid == ::getpid()) continue;
        for (const auto& file : std::filesystem::directory_iterator(entry.path() / "fd", none))
            if (std::filesystem::read_symlink(file.path(), none) == device) return true;
        for (const auto& line : split(read_file(entry.path() / "maps").value_or(""), '\n'))
            if (line.ends_with(" " + device)) return true;
    }
    return false;
}

int refused(const Gpu& gpu, int status, const std::string& why) {
    std::printf("The following GPUs could not be reset:\n  GPU %s: %s\n", gpu.bus_id.c_str(), why.c_str());
    return status;
}

int in_use(const Gpu& gpu) {
    refused(gpu, 0, "In use by another client");
    std::printf(
        "\n1 device is currently being used by one or more other processes (e.g., Fabric Manager, CUDA "
        "application, graphics application such as an X server, or a monitoring application such as another "
        "instance of nvidia-smi). Please first kill all processes using this device and all compute "
        "applications running in the system.\n");
    return 255;
}

int reset(const Gpu& gpu) {
    if (::geteuid() != 0) return refused(gpu, 4, "Insufficient Permissions");
    if (gpu.reset == "unsupported") {
        std::printf("Resetting GPU %s is not supported.\n", gpu.bus_id.c_str());
        return 3;
    }
    if (gpu.reset == "primary") {
        std::printf("GPU Reset couldn't run because GPU %s is the primary GPU.\n", gpu.bus_id.c_str());
        return 3;
    }
    if (gpu.reset == "hangs")
        while (true) ::pause();
    if (gpu.reset == "in-use" || is_open("/dev/nvidia" + std::to_string(gpu.minor))) return in_use(gpu);
    if (gpu.reset == "fails") return refused(gpu, 255, "Unknown Error");
    const std::string line = std::to_string(gpu.index) + "\n";
    const Fd file(::open(reset_file().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    need(file && ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()),
         "cannot write " + reset_file());
    std::printf("GPU %s was successfully reset.\n", gpu.bus_id.c_str());
    return 0;
}

}  // namespace

int reset_gpus(const Host& host, const std::vector<const Gpu*>& gpus) {
    int status = 0;
    for (const auto* gpu : gpus)
        if (const int got = reset(*gpu); got != 0) status = got;
    errno = 0;
    if (status == 0 && !host.gpus.empty()) std::printf("All done.\n");
    return status;
}

}  // namespace cleanslate::simulated
