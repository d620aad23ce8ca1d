// The simulated host's nvidia-smi: the real one's command line for queries, its output byte for byte where
// the corpus shows it, over the memory that the processes of this host hold (gpu_memory.hpp).

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tests/fleet/gpu_memory.hpp"
#include "tests/fleet/nvidia_smi_fields.hpp"
#include "tests/fleet/nvidia_smi_options.hpp"
#include "tests/fleet/system.hpp"
#include "tests/fleet/wedge.hpp"

namespace cleanslate::simulated {
namespace {

// A whole-command failure of the driver, as facts and bug trackers have it.
void driver_failures(const Host& host) {
    if (host.slow_ms > 0) ::poll(nullptr, 0, static_cast<int>(host.slow_ms));
    const std::string& state = host.driver;
    if (state == "hang") {
        ::signal(SIGTERM, SIG_IGN);
        ::signal(SIGINT, SIG_IGN);
        ::signal(SIGHUP, SIG_IGN);
        while (true) ::pause();
    }
    if (state == "wedged") get_wedged();
    if (state == "not-loaded")
        refuse(9,
               "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that "
               "the "
               "latest NVIDIA driver is installed and running.\n");
    if (state == "mismatch")
        refuse(18,
               "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.159");
    if (state == "nvml-unknown") refuse(255, "Failed to initialize NVML: Unknown Error");
    if (state == "no-library")
        refuse(12,
               "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the "
               "NVIDIA "
               "Display Driver is properly installed and present in your system.\nPlease also try adding "
               "directory "
               "that contains libnvidia-ml.so to your system PATH.");
    if (state == "no-devices" || host.gpus.empty()) refuse(6, "No devices were found");
}

std::string timestamp() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    tm parts{};
    ::gmtime_r(&now.tv_sec, &parts);
    char text[64];
    const auto length = ::strftime(text, sizeof text, "%Y/%m/%d %H:%M:%S", &parts);
    std::snprintf(text + length, sizeof text - length, ".%03ld", now.tv_nsec / 1'000'000);
    return text;
}

// While it runs, nvidia-smi has the device files open itself, as any NVML client.
void open_devices(const Host& host) {
    for (const char* path : {"/dev/nvidiactl", "/dev/nvidia-uvm"})
        if (::open(path, O_RDWR | O_CLOEXEC) < 0) return;
    for (const auto& gpu : host.gpus)
        if (::open(("/dev/nvidia" + std::to_string(gpu.minor)).c_str(), O_RDWR | O_CLOEXEC) < 0) return;
}

bool gone(const Gpu& gpu) { return gpu.state == "lost" || gpu.state == "unknown-error"; }

std::string with_unit(std::string value, const Field& field, bool units) {
    if (units && !field.unit.empty()) value += " " + std::string(field.unit);
    return value;
}

std::string gpu_value(const Host& host, const Gpu& gpu, const Field& field, long used, bool units) {
    if (gone(gpu)) return "[Unknown Error]";
    const bool needs_reset = gpu.state == "requires-reset";
    if (needs_reset && !field.identity && field.name != "gpu_recovery_action") return "[GPU requires reset]";
    if (needs_reset) used = 0;
    std::string value(field.value);
    if (field.name == "timestamp") value = timestamp();
    if (field.name == "count") value = std::to_string(host.gpus.size());
    if (field.name == "name") value = host.model;
    if (field.name == "uuid") value = gpu.uuid;
    if (field.name == "pci.bus_id") value = gpu.bus_id;
    if (field.name == "index") value = std::to_string(gpu.index);
    if (field.name == "memory.total") value = std::to_string(host.total_mib);
    if (field.name == "memory.reserved") value = std::to_string(reserved_mib);
    if (field.name == "memory.used") value = std::to_string(used);
    // Rounding up the reserved part: total 143771 = reserved 616 + used + free 143156 - 1 on the real one.
    if (field.name == "memory.free")
        value = std::to_string(host.total_mib - reserved_mib + (used == 0 ? 1 : 2) - used);
    if (field.name == "gpu_recovery_action") value = needs_reset ? "Reset" : "None";
    if (field.name == "remapped_rows.pending") value = gpu.state == "remap-pending" ? "Yes" : "No";
    return with_unit(value, field, units);
}

// What the driver calls the process: its first argument; it knows nothing of a dead one.
std::string process_name(pid_t pid) {
    const auto stat = stat_of(pid);
    if (!stat) return "[Not Found]";
    if (stat->state == 'Z') return "Unknown Error";
    const auto line = read_file("/proc/" + std::to_string(pid) + "/cmdline");
    if (!line || line->empty()) return "[Not Found]";
    return line->substr(0, line->find('\0'));
}

std::string app_value(const Host& host, const Gpu& gpu, const Allocation& app, const Field& field,
                      bool units) {
    std::string value(field.value);
    if (field.name == "timestamp") value = timestamp();
    if (field.name == "gpu_name") value = host.model;
    if (field.name == "gpu_bus_id") value = gpu.bus_id;
    if (field.name == "gpu_uuid") value = gpu.uuid;
    if (field.name == "pid") value = std::to_string(app.pid);
    if (field.name == "process_name") value = process_name(app.pid);
    if (field.name == "used_gpu_memory") value = std::to_string(app.mib);
    return with_unit(value, field, units);
}

std::vector<const Field*> asked_fields(const std::vector<Field>& known, const std::string& asked) {
    std::vector<const Field*> fields;
    for (const auto& word : split(asked, ',')) {
        const Field* field = find_field(known, trim(word));
        if (field == nullptr) refuse(2, "Field \"" + trim(word) + "\" is not a valid field to query.\n");
        fields.push_back(field);
    }
    return fields;
}

bool same_bus(std::string wanted, std::string bus_id) {
    const auto lower = [](std::string& text) {
        for (auto& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    };
    lower(wanted);
    lower(bus_id);
    return wanted == bus_id ||
           (wanted.size() < bus_id.size() && wanted.size() >= 7 && bus_id.ends_with(wanted));
}

std::vector<const Gpu*> asked_gpus(const Host& host, const std::string& ids) {
    std::vector<const Gpu*> gpus;
    if (ids.empty()) {
        for (const auto& gpu : host.gpus) gpus.push_back(&gpu);
        return gpus;
    }
    for (const auto& id : split(ids, ',')) {
        const Gpu* found = nullptr;
        for (const auto& gpu : host.gpus)
            if (id == std::to_string(gpu.index) || id == gpu.uuid || same_bus(id, gpu.bus_id)) found = &gpu;
        if (found == nullptr) refuse(6, "No devices were found");
        gpus.push_back(found);
    }
    return gpus;
}

void print_header(const std::vector<const Field*>& fields) {
    std::string line;
    for (const auto* field : fields) {
        line += (line.empty() ? "" : ", ") + std::string(field->name);
        if (!field->unit.empty()) line += " [" + std::string(field->unit) + "]";
    }
    std::printf("%s\n", line.c_str());
}

// The sentence in front of a failed GPU's row; its own exit status, 0 for a GPU that answers.
int complain(const Gpu& gpu) {
    const std::string bus = gpu.bus_id.substr(4);
    if (gpu.state == "lost") {
        std::printf(
            "Unable to determine the device handle for GPU%s: GPU is lost.  Reboot the system to recover "
            "this "
            "GPU\n",
            bus.c_str());
        return 15;
    }
    if (gpu.state != "unknown-error") return 0;
    std::printf("Unable to determine the device handle for GPU %s: Unknown Error\n", bus.c_str());
    return 255;
}

int query_gpus(const Host& host, const Options& options) {
    const auto fields = asked_fields(gpu_fields(), options.fields);
    const auto gpus = asked_gpus(host, options.ids);
    const auto charged = charged_allocations(host);
    int status = 0;
    if (options.header) print_header(fields);
    for (const auto* gpu : gpus) {
        status = std::max(status, complain(*gpu));
        std::string row;
        for (const auto* field : fields)
            row += (row.empty() ? "" : ", ") +
                   gpu_value(host, *gpu, *field, used_mib(*gpu, charged), options.units);
        std::printf("%s\n", row.c_str());
    }
    for (const auto* gpu : gpus) {
        if (gpu->state != "inforom") continue;
        std::printf("WARNING: infoROM is corrupted at gpu %s\n", gpu->bus_id.substr(4).c_str());
        status = std::max(status, 14);
    }
    return status;
}

int query_apps(const Host& host, const Options& options) {
    const auto fields = asked_fields(app_fields(), options.fields);
    const auto gpus = asked_gpus(host, options.ids);
    const auto charged = charged_allocations(host);
    if (options.header) print_header(fields);
    for (const auto* gpu : gpus) {
        if (gone(*gpu)) continue;
        for (const auto& app : charged) {
            if (!app.listed || app.minor != gpu->minor) continue;
            std::string row;
            for (const auto* field : fields)
                row += (row.empty() ? "" : ", ") + app_value(host, *gpu, app, *field, options.units);
            std::printf("%s\n", row.c_str());
        }
    }
    return 0;
}

int list(const Host& host, const Options& options) {
    int status = 0;
    for (const auto* gpu : asked_gpus(host, options.ids)) {
        status = std::max(status, complain(*gpu));
        if (gone(*gpu)) continue;
        std::printf("GPU %d: %s (UUID: %s)\n", gpu->index, host.model.c_str(), gpu->uuid.c_str());
    }
    return status;
}

int help(const std::vector<Field>& fields, const char* option) {
    std::printf("List of valid properties to query for the switch \"%s\":\n\n", option);
    for (const auto& field : fields) {
        std::printf("\"%s\"", std::string(field.name).c_str());
        if (!field.alias.empty()) std::printf(" or \"%s\"", std::string(field.alias).c_str());
        std::printf("\n\n");
    }
    return 0;
}

int version() {
    std::printf(
        "NVIDIA-SMI version  : %s\nNVML version        : 580.159\nDRIVER version      : %s\n"
        "CUDA Version        : 13.0\n",
        std::string(driver_version).c_str(), std::string(driver_version).c_str());
    return 0;
}

int answer(int argc, char** argv) {
    const Options options = read_options(argc, argv);
    if (options.query == Query::help_gpus) return help(gpu_fields(), "--query-gpu");
    if (options.query == Query::help_apps) return help(app_fields(), "--query-compute-apps");
    const Host host = this_host();
    driver_failures(host);
    if (options.query == Query::version) return version();
    if (options.query == Query::reset) refuse(255, "This stand-in cannot reset a GPU.");
    open_devices(host);
    if (options.query == Query::list) return list(host, options);
    return options.query == Query::gpus ? query_gpus(host, options) : query_apps(host, options);
}

}  // namespace
}  // namespace cleanslate::simulated

int main(int argc, char** argv) { cleanslate::simulated::end(cleanslate::simulated::answer(argc, argv)); }
