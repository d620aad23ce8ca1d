#include "tests/fleet/nvidia_smi_failures.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "tests/fleet/freezer.hpp"
#include "tests/fleet/system.hpp"
#include "tests/fleet/wedge.hpp"

namespace cleanslate::simulated {

namespace {

[[noreturn]] void hang() {
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::signal(number, SIG_IGN);
    while (true) ::pause();
}

bool asks_for(const Options& options, const std::string& what) {
    if (what == "-L") return options.query == Query::list;
    if (options.query != Query::gpus) return false;
    for (const auto& field : split(options.fields, ','))
        if (trim(field) == what) return true;
    return false;
}

// A whole-command failure's words and exit status, as facts and bug trackers have them.
struct Failure {
    const char* state;
    int status;
    const char* text;
};
constexpr Failure failures[] = {
    {"not-loaded", 9,
     "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the "
     "latest "
     "NVIDIA driver is installed and running.\n"},
    {"mismatch", 18,
     "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.159"},
    {"nvml-unknown", 255, "Failed to initialize NVML: Unknown Error"},
    {"no-permission", 4, "Failed to initialize NVML: Insufficient Permissions"},
    {"no-library", 12,
     "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA "
     "Display Driver is properly installed and present in your system.\nPlease also try adding directory "
     "that contains libnvidia-ml.so to your system PATH."},
    {"no-devices", 6, "No devices were found"},
};

}  // namespace

void driver_failures(const Host& host, const Options& options) {
    if (host.slow_ms > 0) ::poll(nullptr, 0, static_cast<int>(host.slow_ms));
    if (host.driver == "hang") hang();
    if (!host.hang_on.empty() && asks_for(options, host.hang_on)) hang();
    if (host.driver == "wedged") get_wedged();
    if (host.driver == "frozen") freeze();
    for (const auto& failure : failures)
        if (host.driver == failure.state) refuse(failure.status, failure.text);
    if (host.gpus.empty()) refuse(6, "No devices were found");
}

bool gone(const Gpu& gpu) { return gpu.state == "lost" || gpu.state == "unknown-error"; }

Complaint complaint_of(const Gpu& gpu) {
    const std::string bus = gpu.bus_id.substr(4);
    if (gpu.state == "lost")
        return {15, "Unable to determine the device handle for GPU" + bus +
                        ": GPU is lost.  Reboot the system to recover this GPU\n"};
    if (gpu.state == "unknown-error")
        return {255, "Unable to determine the device handle for GPU " + bus + ": Unknown Error\n"};
    return {};
}

int complain(const Gpu& gpu) {
    const auto complaint = complaint_of(gpu);
    std::printf("%s", complaint.text.c_str());
    return complaint.status;
}

std::string warning_of(const Gpu& gpu) {
    if (gpu.state != "inforom") return {};
    return "WARNING: infoROM is corrupted at gpu " + gpu.bus_id.substr(4) + "\n";
}

}  // namespace cleanslate::simulated
