#pragma once
// What one survey of a host saw. Plain data: what was not observed is absent, never 0.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace cleanslate::agentless {

using Pid = std::int32_t;

// A process, once and for all: a pid alone can be reused, a (boot id, pid, start time) cannot. `start` is
// field 22 of /proc/PID/stat (clock ticks since boot) as the kernel prints it.
struct ProcessKey {
    Pid pid = 0;
    std::uint64_t start = 0;
    friend auto operator<=>(const ProcessKey&, const ProcessKey&) = default;
};

// One process as /proc shows it. Text is raw bytes from the host: pass it through printable() before showing
// it.
struct Process {
    ProcessKey key;
    Pid parent = 0;
    Pid session = 0;                   // field 6 of stat; equal to the pid for a session leader
    int tty = 0;                       // field 7 of stat: the controlling terminal; 0: none
    bool ignores_hangup = false;       // SIGHUP is in SigIgn of status: started by nohup, or a daemon
    char state = '?';                  // R S D Z T t X I as in stat
    bool kernel_thread = false;        // PF_KTHREAD (0x00200000) in the flags of stat
    std::optional<std::uint32_t> uid;  // real uid, from /proc/PID/status
    std::string user;                  // name of uid in the host's passwd; empty where it has none
    std::string comm;                  // at most 15 bytes
    std::optional<std::string> exe;  // target of /proc/PID/exe, " (deleted)" taken off; absent: not readable
    bool exe_deleted = false;
    std::optional<std::uint32_t> exe_owner;  // uid that owns the executable's file; absent: could not be told
    // group or world may write the file (true where it could not be told)
    bool exe_writable_by_others = true;
    // its mount namespace is the one of pid 1 (or the survey's own, without root)
    bool host_mount_ns = false;
    // absent: not readable; empty: none (zombie, kernel thread)
    std::optional<std::vector<std::string>> argv;
    // the path that names it best: of a job, pod or container, else v2, else name=systemd, else the longest
    std::optional<std::string> cgroup;
    std::optional<std::uint64_t> age_s;  // seconds since it started
    // Device files. minors: N of each /dev/nvidiaN. `control` is any other /dev/nvidia* (nvidiactl,
    // nvidia-uvm, ...).
    std::vector<int> open_minors;  // ascending, without repeats
    std::vector<int> mapped_minors;
    bool opens_control = false;
    bool maps_control = false;
    // N of each /dev/nvidia-caps/nvidia-capN that is open: which MIG instances it may use
    // (Evidence::mig_caps).
    std::vector<int> open_caps;
    // An earlier look never came back from reading its maps or command line, so this one did not try again.
    bool wedged = false;
    bool fds_readable = false;  // /proc/PID/fd could be listed
    bool maps_readable = false;
    bool opens_device() const {
        return opens_control || maps_control || !open_minors.empty() || !mapped_minors.empty();
    }
};

// What a text of the driver says about one GPU or about the whole command.
enum class Trouble { none, sick, refused, unreadable };

struct DriverMessage {
    Trouble trouble = Trouble::none;
    std::string code;    // finding code: "gpu-lost", "gpu-requires-reset", "driver-not-loaded", ...
    std::string text;    // the line as printed
    std::string bus_id;  // the GPU it names, as in GpuRow; empty: the whole command
};

// A cell of an optional column, as printed: `column` in its normal form ("gpu_recovery_action").
struct OptionalCell {
    std::string column;
    std::string cell;
    friend bool operator==(const OptionalCell&, const OptionalCell&) = default;
};

// One row of the core query, judged cell by cell. A cell that is not a plain value leaves its field absent,
// and its text in `cells`.
struct GpuRow {
    std::vector<std::string> cells;  // as printed, trimmed; those of optional columns are in `optional`
    std::optional<int> index;
    std::string uuid;    // empty where the cell is not a GPU-... or MIG-... name
    std::string bus_id;  // lower case, 8-digit domain; empty where not readable
    std::optional<Mebibytes> used;
    std::optional<Mebibytes> total;
    std::string name;
    bool repaired = false;  // `parse` only: index taken out of a row fused to pids
    // what its columns say beyond plain values: wrong column count, fused, cut, a recovery action, a row
    // remap, health not shown (none)
    std::vector<DriverMessage> troubles;
    // What the optional columns show: of `parse`'s wide table, or of the survey's optional query.
    std::vector<OptionalCell> optional;
};

// One line of the compute-apps query.
struct ComputeApp {
    std::optional<Pid> pid;  // absent for [N/A], [Not Supported]
    std::string uuid;
    std::optional<Mebibytes> used;
    std::string name;
};

// A line below a row of the compute-apps query that may be the rest of that row's name.
struct NameRest {
    std::optional<Pid> pid;  // of that row
    std::string text;
};

// How a remote tool ended.
struct ToolResult {
    std::optional<int> exit_status;  // absent: never ran to its end
    bool timed_out = false;          // also: not started beside one that is stuck (Evidence::stuck)
    bool missing = false;
    bool skipped = false;  // not asked: not wanted this time, or no time was left for it
    std::optional<Milliseconds> took = {};
};

// One MIG instance below its GPU, as `nvidia-smi -L` lists it.
struct MigDevice {
    int device = 0;       // number within its GPU
    std::string profile;  // "1g.18gb"
    std::string uuid;     // MIG-...
};

// One GPU as `nvidia-smi -L` lists it.
struct ListedGpu {
    int index = 0;
    std::string name;
    std::string uuid;
    std::vector<MigDevice> instances;
};

// One display or 3D controller of vendor 10de (class 0300, 0302) in /sys/bus/pci; virtual functions left out.
struct PciGpu {
    std::string bus_id;  // as in GpuRow
    std::string driver;  // the kernel driver bound to it: "nvidia", "vfio-pci", "nouveau"; empty: none
};

// /proc/driver/nvidia/capabilities/gpuM/mig/giG[/ciC]/access: the device file that lets a process use a MIG
// instance.
struct MigCapability {
    int gpu_minor = 0;
    int gpu_instance = 0;
    std::optional<int> compute_instance;  // absent: of the GPU instance
    int cap_minor = 0;                    // N of /dev/nvidia-caps/nvidia-capN
};

// A process whose maps or command line could not be read in time: in the kernel's hands for good, or until
// what it waits for comes.
struct StuckRead {
    Pid pid = 0;       // whose file
    std::string file;  // "maps", "cmdline", ...
    Pid reader = 0;    // the child of a survey that hangs there; 0: of this survey
};

// One GPU as /proc/driver/nvidia/gpus/<bus id>/information has it: the only source of its device minor.
struct DriverGpu {
    std::string bus_id;  // as in GpuRow
    std::string uuid;
    std::optional<int> minor;
    bool excluded = false;  // by the driver's parameter NVreg_ExcludedGpus: nvidia-smi does not show it
};

// One session that systemd-logind knows, from /run/systemd/sessions/ID.
struct LoginSession {
    std::string id;  // "3", "c1"; its scope is session-ID.scope
    std::optional<std::uint32_t> uid;
    std::optional<Pid> leader;
    bool closing = false;  // STATE=closing: who logged in has left, and only leftovers are in its scope
};

// One regular file right in /dev/shm whose name fits what was asked for.
struct ShmFile {
    std::string name;  // raw bytes, without a /
    std::uint64_t device = 0, inode = 0;
    std::uint32_t uid = 0;
    std::string user;  // as Process::user
    std::uint64_t bytes = 0;
    std::uint64_t links = 1;             // hard links: more than one is kept
    std::int64_t changed = 0;            // the later of mtime and ctime, seconds since 1970
    std::optional<std::uint64_t> age_s;  // since then, by the host's own clock; absent: in the future
    std::vector<Pid> users;              // processes that have it open or mapped
};

struct Evidence {
    bool complete = false;          // the survey ended with its own end record
    std::string incomplete_reason;  // why it is not; empty where it is
    std::string boot_id;            // /proc/sys/kernel/random/boot_id
    std::uint32_t uid = 0;          // who looked
    bool root = false;
    std::optional<std::uint64_t> clock_ticks;  // per second
    std::vector<std::string> missing_tools;
    // nvidia-smi
    ToolResult gpu_query;
    std::vector<GpuRow> gpus;
    std::vector<DriverMessage> messages;  // what stood between the rows
    ToolResult app_query;
    std::vector<ComputeApp> apps;
    std::vector<std::string> app_problems;  // lines of the compute-apps query that are no row
    std::vector<NameRest> app_name_rests;   // those that may be the rest of a name
    std::string driver_version;             // empty: unknown
    // Optional evidence: nothing of it is needed for a clean verdict. Its cells are in GpuRow::optional.
    ToolResult optional_query;
    std::vector<std::string> optional_fields;    // asked; a later survey of the sweep asks for the same
    std::vector<std::string> unknown_fields;     // that this host's nvidia-smi does not know
    std::vector<std::string> optional_problems;  // lines of the optional query that are no row of a known GPU
    ToolResult list_query;                       // nvidia-smi -L
    std::optional<std::vector<ListedGpu>> listed;  // absent: not asked, or no answer
    std::vector<std::string> list_problems;
    std::vector<Pid> stuck;  // every nvidia-smi that hangs in the kernel (state D), whoever started it
    // The kernel's side
    std::optional<std::vector<DriverGpu>> driver_gpus;  // absent: no /proc/driver/nvidia/gpus
    std::optional<std::vector<int>> device_minors;  // the /dev/nvidiaN there are; absent: /dev not readable
    std::optional<std::vector<PciGpu>> pci_gpus;    // absent: no /sys/bus/pci
    std::vector<MigCapability> mig_caps;
    std::optional<int> nvswitches;  // bridges (class 0680) of vendor 10de on PCI; absent: no /sys/bus/pci
    // Who is logged in, as systemd-logind has it; absent: no /run/systemd/sessions, or not readable.
    std::optional<std::vector<LoginSession>> sessions;
    // Asked for by SurveyRequest::shm_names; absent: not asked, cut, or /dev/shm not readable. `users` is the
    // whole truth only where holders_visible is.
    std::optional<std::vector<ShmFile>> shm;
    // hidepid, a container's own /proc, or the /proc of another pid namespace
    bool proc_hides_others = false;
    bool holders_visible = false;  // every process's fd and maps could be listed
    std::uint64_t unreadable = 0;  // processes whose fd or maps could not be read
    // what the remote deadline cut: "maps of 812"; holders_visible is false then
    std::vector<std::string> cuts;
    std::vector<StuckRead> stuck_reads;  // why: of this survey, or of an earlier one that still hangs
    // Every process that has a device file or that the driver lists, and all ancestors of these; every
    // process that is no kernel thread where the survey was asked for all (a playbook with name or
    // command-line patterns).
    std::vector<Process> processes;
    std::vector<Pid> session_ancestors;  // the survey's own shell and everything above it, up to pid 1
    // Not of the survey: whom this sweep has signalled since the host booted. Their pids are of this /proc,
    // be it a container's own.
    std::vector<ProcessKey> signalled;

    const Process* find(Pid pid) const {
        for (const auto& p : processes)
            if (p.key.pid == pid) return &p;
        return nullptr;
    }
};

}  // namespace cleanslate::agentless
