#include "tests/fleet/nvidia_smi_cells.hpp"

#include <time.h>

#include <cstdio>

#include "tests/fleet/launch.hpp"
#include "tests/fleet/nvidia_smi_failures.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

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

std::string with_unit(std::string value, const Field& field, bool units) {
    const bool number = value.find_first_not_of("0123456789.") == std::string::npos;
    if (units && number && !field.unit.empty()) value += " " + std::string(field.unit);
    return value;
}

std::string usual_cell(const Host& host, const Gpu& gpu, const Field& field, long used) {
    const bool mig = !gpu.instances.empty();
    if (field.name == "timestamp") return timestamp();
    if (field.name == "driver_version") return host.driver_version;
    if (field.name == "count") return std::to_string(host.gpus.size());
    if (field.name == "name") return host.model;
    if (field.name == "uuid") return gpu.uuid;
    if (field.name == "pci.bus_id") return gpu.bus_id;
    if (field.name == "index") return std::to_string(gpu.index);
    if (field.name == "memory.total") return std::to_string(host.total_mib);
    if (field.name == "memory.reserved") return std::to_string(reserved_mib);
    if (field.name == "memory.used") return std::to_string(used);
    // Rounding up the reserved part: total 143771 = reserved 616 + used + free 143156 - 1 on the real one.
    if (field.name == "memory.free")
        return std::to_string(host.total_mib - reserved_mib + (used == 0 ? 1 : 2) - used);
    if (field.name == "gpu_recovery_action") return gpu.state == "requires-reset" ? "Reset" : "None";
    if (field.name == "remapped_rows.pending") return gpu.state == "remap-pending" ? "Yes" : "No";
    if (mig && (field.name == "mig.mode.current" || field.name == "mig.mode.pending")) return "Enabled";
    return std::string(field.value);
}

// What the driver calls the process: its first argument; it knows nothing of a dead one. It learned the name
// when the process came, so one whose arguments cannot be read has one too.
std::string process_name(const Host& host, pid_t pid) {
    const auto stat = stat_of(pid);
    if (!stat) return "[Not Found]";
    if (stat->state == 'Z') return "Unknown Error";
    const std::string mark = std::to_string(pid) + " ";
    for (const auto& line : split(read_file(started_file()).value_or(""), '\n')) {
        const auto* spec = line.starts_with(mark) ? host.find(line.substr(mark.size())) : nullptr;
        if (spec != nullptr && !spec->unreadable.empty()) return spec->exe;
    }
    const auto line = read_file("/proc/" + std::to_string(pid) + "/cmdline");
    if (!line || line->empty()) return "[Not Found]";
    return line->substr(0, line->find('\0'));
}

}  // namespace

std::string gpu_cell(const Host& host, const Gpu& gpu, const Field& field, long used, bool units) {
    if (gone(gpu)) return "[Unknown Error]";
    const auto other = gpu.fields.find(std::string(field.name));
    if (other != gpu.fields.end()) return with_unit(other->second, field, units);
    const bool needs_reset = gpu.state == "requires-reset";
    if (needs_reset && !field.identity && field.name != "gpu_recovery_action") return "[GPU requires reset]";
    return with_unit(usual_cell(host, gpu, field, needs_reset ? 0 : used), field, units);
}

std::string app_cell(const Host& host, const Gpu& gpu, const Allocation& app, const Field& field,
                     bool units) {
    std::string value(field.value);
    if (field.name == "timestamp") value = timestamp();
    if (field.name == "gpu_name") value = host.model;
    if (field.name == "gpu_bus_id") value = gpu.bus_id;
    if (field.name == "gpu_uuid") value = gpu.uuid;
    if (field.name == "pid") value = std::to_string(app.pid);
    if (field.name == "process_name") value = process_name(host, app.pid);
    if (field.name == "used_gpu_memory") value = std::to_string(app.mib);
    return with_unit(value, field, units);
}

}  // namespace cleanslate::simulated
