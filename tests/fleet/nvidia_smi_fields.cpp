#include "tests/fleet/nvidia_smi_fields.hpp"

namespace cleanslate::simulated {

const std::vector<Field>& gpu_fields() {
    static const std::vector<Field> fields{
        {"timestamp", "", "", true, ""},
        {"driver_version", "", "", true, ""},
        {"count", "", "", true, ""},
        {"name", "", "", true, "gpu_name"},
        {"serial", "", "1650000000000", true, "gpu_serial"},
        {"uuid", "", "", true, "gpu_uuid"},
        {"pci.bus_id", "", "", true, "gpu_bus_id"},
        {"vbios_version", "", "96.00.A5.00.1A", true, ""},
        {"inforom.img", "", "G520.0282.02.02", false, "inforom.image"},
        {"index", "", "", true, ""},
        {"memory.total", "MiB", "", true, ""},
        {"memory.reserved", "MiB", "", true, ""},
        {"memory.used", "MiB", "", true, ""},
        {"memory.free", "MiB", "", true, ""},
        {"accounting.mode", "", "Disabled", false, ""},
        {"addressing_mode", "", "None", false, ""},
        {"clocks_event_reasons.supported", "", "0x00000000000001FF", false,
         "clocks_throttle_reasons.supported"},
        {"clocks_event_reasons.active", "", "0x0000000000000001", false, "clocks_throttle_reasons.active"},
        {"clocks_event_reasons.gpu_idle", "", "Active", false, "clocks_throttle_reasons.gpu_idle"},
        {"clocks_event_reasons.applications_clocks_setting", "", "Not Active", false,
         "clocks_throttle_reasons.applications_clocks_setting"},
        {"clocks_event_reasons.sw_power_cap", "", "Not Active", false,
         "clocks_throttle_reasons.sw_power_cap"},
        {"clocks_event_reasons.hw_slowdown", "", "Not Active", false, "clocks_throttle_reasons.hw_slowdown"},
        {"clocks_event_reasons.hw_thermal_slowdown", "", "Not Active", false,
         "clocks_throttle_reasons.hw_thermal_slowdown"},
        {"clocks_event_reasons.hw_power_brake_slowdown", "", "Not Active", false,
         "clocks_throttle_reasons.hw_power_brake_slowdown"},
        {"clocks_event_reasons.sw_thermal_slowdown", "", "Not Active", false,
         "clocks_throttle_reasons.sw_thermal_slowdown"},
        {"clocks_event_reasons.sync_boost", "", "Not Active", false, "clocks_throttle_reasons.sync_boost"},
        {"compute_mode", "", "Default", false, ""},
        {"display_active", "", "Disabled", false, ""},
        {"display_mode", "", "[Requested functionality has been deprecated]", false, ""},
        {"ecc.errors.corrected.volatile.total", "", "0", false, ""},
        {"ecc.errors.uncorrected.aggregate.total", "", "0", false, ""},
        {"ecc.errors.uncorrected.volatile.total", "", "0", false, ""},
        {"ecc.mode.current", "", "Enabled", false, ""},
        {"fabric.state", "", "N/A", false, ""},
        {"fabric.status", "", "N/A", false, ""},
        {"gpu_recovery_action", "", "", false, ""},
        {"gsp.mode.current", "", "Enabled", false, ""},
        {"mig.mode.current", "", "Disabled", false, ""},
        {"mig.mode.pending", "", "Disabled", false, ""},
        {"pcie.link.gen.current", "", "5", false, ""},
        {"pcie.link.width.current", "", "16", false, ""},
        {"persistence_mode", "", "Enabled", false, ""},
        {"power.draw", "W", "77.73", false, ""},
        {"power.limit", "W", "700.00", false, ""},
        {"pstate", "", "P0", false, ""},
        {"remapped_rows.correctable", "", "0", false, ""},
        {"remapped_rows.failure", "", "No", false, ""},
        {"remapped_rows.pending", "", "", false, ""},
        {"remapped_rows.uncorrectable", "", "0", false, ""},
        {"retired_pages.pending", "", "[N/A]", false, ""},
        {"retired_pages.sbe", "", "[N/A]", false, ""},
        {"temperature.gpu", "", "35", false, ""},
        {"temperature.memory", "", "34", false, ""},
        {"utilization.gpu", "%", "0", false, ""},
        {"utilization.memory", "%", "0", false, ""},
    };
    return fields;
}

const std::vector<Field>& app_fields() {
    static const std::vector<Field> fields{
        {"timestamp", "", "", true, ""},        {"gpu_name", "", "", true, ""},
        {"gpu_bus_id", "", "", true, ""},       {"gpu_serial", "", "1650000000000", true, ""},
        {"gpu_uuid", "", "", true, ""},         {"pid", "", "", true, ""},
        {"process_name", "", "", true, "name"}, {"used_gpu_memory", "MiB", "", true, "used_memory"},
    };
    return fields;
}

const Field* find_field(const std::vector<Field>& fields, std::string_view name) {
    for (const auto& field : fields)
        if (field.name == name || (!field.alias.empty() && field.alias == name)) return &field;
    return nullptr;
}

}  // namespace cleanslate::simulated
