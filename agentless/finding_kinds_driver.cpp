// The table of finding codes: what the driver says of a GPU. A code is stable once it was released.

#include "agentless/finding_kinds.hpp"

namespace cleanslate::agentless {

std::vector<FindingKind> driver_findings() {
    using enum Severity;
    return {
        // The driver says that a GPU is broken: no kill helps.
        {"gpu-requires-reset", sick, "the driver wants the GPU reset before it is used again",
         "a cell of the GPU's row, or a line that names its bus id, says `GPU requires reset`",
         "clear its holders, then nvidia-smi --gpu-reset -i N, else reboot"},
        {"gpu-lost", sick, "the GPU fell off the bus",
         "`GPU is lost` or `fallen off the bus` in a cell or a line",
         "reboot the host; if it comes back, have it repaired"},
        {"gpu-unknown-error", sick, "the driver answers Unknown Error or ERR! for the GPU",
         "`Unknown Error` or `ERR!` in a cell, or as the reason why a device handle failed",
         "look for Xid lines in dmesg; reset the GPU or reboot the host"},
        {"inforom-corrupted", sick, "the GPU's infoROM is corrupted",
         "`WARNING: infoROM is corrupted at gpu ...` (status 14; the rows are valid)",
         "have the GPU repaired or replaced"},
        {"recovery-action", sick, "the driver names a recovery action for the GPU",
         "gpu_recovery_action is another than None",
         "do what it names: reset the GPU, reboot or drain the host"},
        {"row-remap-pending", sick, "a memory row waits to be remapped", "remapped_rows.pending is Yes",
         "reset the GPU when nothing holds it"},
        {"row-remap-failed", sick, "a memory row could not be remapped", "remapped_rows.failure is Yes",
         "have the GPU replaced"},
        {"retired-pages-pending", sick, "memory pages wait to be retired", "retired_pages.pending is Yes",
         "reset the GPU when nothing holds it, else reboot the host"},
        {"ecc-uncorrected", sick, "uncorrectable memory errors since the driver was loaded",
         "ecc.errors.uncorrected.volatile.total is above 0",
         "look for Xid 63, 64, 94, 95 in dmesg; reset the GPU when nothing holds it; if it comes back, have "
         "it replaced",
         note},
        {"fabric-not-ready", sick,
         "the GPU is not registered with the NVLink fabric: CUDA fails with error 802 while the GPU looks "
         "healthy",
         "fabric.state is another than Completed, or fabric.status another than Success",
         "start nvidia-fabricmanager (nvidia-imex on multi-node NVLink) and look at its log"},
        // What is worth knowing of a GPU.
        {"mig-mode", note, "the GPU is split into MIG instances", "mig.mode.current is Enabled", ""},
        {"mig-change-pending", note, "MIG mode changes with the next reset",
         "mig.mode.pending differs from mig.mode.current", "reset the GPU when nothing holds it"},
        {"addressing-mode", note, "the GPU's memory is part of the system's: the page cache may live in it",
         "addressing_mode is ATS", "echo 3 > /proc/sys/vm/drop_caches gives the page cache back"},
        {"hw-slowdown", note, "the hardware slows the GPU down (power brake or heat)",
         "clocks_event_reasons.hw_slowdown or .hw_power_brake_slowdown is Active",
         "look at power supplies and cooling"},
        {"thermal-slowdown", note, "heat slows the GPU down",
         "clocks_event_reasons.hw_thermal_slowdown or .sw_thermal_slowdown is Active",
         "look at fans, airflow and room temperature"},
        {"persistence-off", note,
         "without persistence mode the driver starts anew for each nvidia-smi and each job",
         "persistence_mode is Disabled", "enable nvidia-persistenced, or nvidia-smi -pm 1"},
        {"reserved-memory", note, "much of the memory is reserved by the driver",
         "memory.reserved is above 1 GiB and above 5 % of memory.total",
         "look for retired pages or remapped rows in nvidia-smi -q"},
        {"optional-not-read", note, "optional evidence could not be read; the verdict does not rest on it",
         "the optional query or `nvidia-smi -L` failed, was refused, had no time left, or printed a line "
         "that is no row",
         "run it by hand: nvidia-smi -q"},
        {"unknown-optional-field", note, "this nvidia-smi does not know some optional fields",
         "--help-query-gpu does not list them, or the query named one as not valid", ""},
        {"driver-slow", note, "nvidia-smi took long", "a query took 5 s or more",
         "enable nvidia-persistenced; look for nvidia-smi in D state"},
        {"vgpu-guest", note,
         "a virtual GPU: the hypervisor's driver keeps some of its memory, and some cells show nothing",
         "its name ends like `-8Q` or `-1-10C`",
         "record a baseline, or set max_used_mib, if it is never idle at 0"},
    };
}

}  // namespace cleanslate::agentless
