// The table of finding codes: counts, memory, processes, the survey, and what a kill left. A code is stable
// once it was released.

#include "agentless/finding_kinds.hpp"

namespace cleanslate::agentless {

std::vector<FindingKind> host_findings() {
    using enum Severity;
    return {
        // How many there are.
        {"count-unproven", unknown, "nothing says how many GPUs there should be",
         "no gpus: in the inventory, no /proc/driver/nvidia/gpus, no /dev/nvidiaN",
         "set gpus: in the inventory, or --expect N (--expect any to take what is there) for parse"},
        {"count-mismatch", unknown, "more or fewer GPUs than expected",
         "the rows against gpus:, else /proc/driver/nvidia/gpus, else the /dev/nvidiaN",
         "see dmesg for a lost GPU, or correct gpus: or --expect"},
        {"no-gpus", unknown, "no GPU was seen", "no row",
         "see dmesg, or set gpus: 0 for a host without GPUs"},
        {"gpu-not-everywhere", unknown,
         "a GPU that one of PCI, the kernel's driver, nvidia-smi's rows and its list knows, and another does "
         "not",
         "/sys/bus/pci, /proc/driver/nvidia/gpus, the rows and `nvidia-smi -L`, by bus id and uuid",
         "see dmesg for why the driver lost it; reboot the host; in a container set gpus: to its own count",
         note},
        {"gpu-without-driver", unknown, "a GPU on PCI that no NVIDIA driver has",
         "/sys/bus/pci/devices/*/driver", "modprobe nvidia, or see dmesg for why the driver refused it",
         note},
        {"gpu-excluded", note, "a GPU that the driver is told to leave alone",
         "`GPU Excluded: Yes` in /proc/driver/nvidia/gpus/*/information (NVreg_ExcludedGpus)", ""},
        {"gpu-passed-through", note, "a GPU that is given to a virtual machine", "its PCI driver is vfio-pci",
         ""},
        // Memory and processes.
        {"memory-in-use", dirty, "more memory is used than allowed, protected holders' taken off",
         "memory.used, less what the driver attributes to protected holders (to an MPS server at most 1 GiB)",
         "clear the host"},
        {"protected-memory", note, "memory of protected holders, which does not count, is above the limit",
         "memory.used above the limit, and within it without what the driver attributes to protected holders",
         "end them by their own means if a job needs the memory"},
        {"memory-without-holder", dirty, "memory is used, or a ghost listed, and no holder is to be seen",
         "memory.used above the limit or a ghost, and no living process with the device open that is not "
         "protected",
         "check again: memory comes back a moment after its process; what an idle GPU always shows is for a "
         "baseline or max_used_mib; else look for another namespace's process or an MPS server, then reset "
         "the GPU, else reboot"},
        {"memory-unexplained", note, "more memory is used than its holders have together",
         "memory.used is more than 64 MiB above the sum over compute apps",
         "clear the host; what stays then is named"},
        {"graphics-memory", dirty,
         "more memory is used than allowed, and a process that is no compute holder maps the GPU: graphics, "
         "as a desktop",
         "memory.used above the limit, no compute app on the GPU, and a protected process with its device "
         "file mapped",
         "end the desktop session, or raise max_used_mib, or record a baseline"},
        {"holder-without-memory", note, "the driver lists holders with more memory than the GPU has in use",
         "the sum over compute apps is above memory.used",
         "check again: one of the two was read a moment later"},
        {"mps-server", note, "an MPS server holds the GPU: what clients use may be shown as its own",
         "nvidia-cuda-mps-server among the holders",
         "quit it in nvidia-cuda-mps-control, its own command: its clients end with it"},
        {"zombie-holder", dirty, "the driver lists a process that has ended and was not reaped by its parent",
         "state Z in /proc/PID/stat",
         "end its parent, or stop the unit or container that it runs in; else reboot"},
        {"held", dirty, "an unprotected process has a context on the GPU",
         "--query-compute-apps, by pid and uuid", "clear the host"},
        {"ghost", dirty,
         "the driver lists a process that no longer lives: its memory lives on in inherited descriptors",
         "a compute app whose pid is not in /proc, or named `[Not Found]` and taken by another process",
         "clear the host: who inherited them is listed as holder; with nobody there, reset the GPU, else "
         "reboot"},
        {"holder-torn-down", dirty,
         "the driver lists a process that it is still tearing down: its memory is on its way back",
         "a compute app whose pid is in state D and has no device file open any more",
         "wait, then check again; where its memory does not shrink look at dmesg for Xid lines, else reboot"},
        {"foreign-holder", dirty, "the driver lists a pid that is not this host's process",
         "a compute app whose pid is not in this /proc, which is not the host's own",
         "look on the host itself, outside the container: stop the container or unit it is in, else reset "
         "the "
         "GPU"},
        {"holder-without-device", dirty,
         "the driver lists a living process that has no device file open under a name known here: another "
         "has taken the pid, or the file has another name there; not signalled",
         "a compute app whose pid lives, and whose descriptors and maps were read and show no /dev/nvidia*",
         "look at the process; end what it is part of by hand"},
        {"opener", dirty, "an unprotected process has a device file open and no context on any GPU",
         "/proc/*/fd and /proc/*/maps", "clear the host; put monitors on the protect list"},
        {"holder-without-pid", unknown, "the driver lists a holder and does not say which process it is",
         "a compute app whose pid is [N/A]", "look as root on the host itself, outside any container"},
        {"holder-not-placed", unknown, "the driver lists a holder on a GPU that has no row",
         "the uuid of a compute app is that of no row", "see dmesg for why the driver lost the GPU"},
        {"apps-unreadable", unknown, "the driver's list of holders could not be read",
         "the compute-apps query failed, or a line of it is no row", "try again"},
        {"app-name-broken", unknown,
         "a line below a holder in the driver's list is no row: the rest of a name with a line break in it, "
         "or "
         "something that is not known here",
         "a line of the compute-apps query that is no row and no known message, right below a row",
         "clear the host: what is named so ends; else look at the command line of that process, and end it "
         "by hand",
         note},
        {"holders-not-visible", note,
         "others' processes cannot be read: the driver's own list is the only witness",
         "/proc/PID/fd of others cannot be listed", "look as root", unknown},
        {"proc-hidden", note, "/proc shows only some processes (hidepid, or a container's own /proc)",
         "pid 2 of /proc is not kthreadd, or the login's own pid is another there",
         "look as root on the host itself"},
        {"holders-unreadable", unknown, "a process's descriptors or maps could not be read, even as root",
         "/proc/PID/fd or maps refused, or the survey's time was over",
         "look for processes in D state, and log in outside any sandbox", note},
        {"holders-not-shown", note, "rows say nothing of processes", "parse: the rows are the only witness",
         "check the host itself with: cleanslate check"},
        // The limit of used memory.
        {"reserved-counted-in", note, "this driver counts reserved memory as used: the limit is higher",
         "a driver before 510, and neither max_used_mib, --max-used nor a baseline",
         "record a baseline: cleanslate baseline"},
        {"not-in-baseline", note, "the baseline has no entry of this GPU: the usual limit holds",
         "--baseline", "record a new baseline when the host is known to be clean"},
        {"baseline-other-driver", note, "the baseline was recorded with another driver", "--baseline",
         "record a new baseline when the host is known to be clean"},
        {"unified-memory", note, "used memory is not shown, and was not judged: processes alone were",
         "memory.used is [N/A] and the inventory says unified_memory: true", ""},
        // The survey.
        {"survey-incomplete", unknown, "the survey did not come to its own end record",
         "no `end` record with the survey's nonce", "try again with -vv"},
        {"tool-missing", unknown, "a tool that the survey needs is not there",
         "the survey looks for cat, ls, find, tr, awk, sleep and printf", "install it"},
        // After a kill.
        {"respawned", dirty, "a holder took the place of one that was ended; its supervisor is named",
         "a new pid or start time with the same program, unit or parent", "stop the supervisor"},
        {"launcher-left", note,
         "the parent of a process that was ended was not signalled, and may start it again",
         "its parent in the survey before the signal: no init, person's shell, way in or terminal",
         "end it too, then check again"},
        {"new-holder", dirty, "a holder appeared during the sweep",
         "a holder that the survey before the first signal did not have",
         "see whether it is meant to run, then clear again"},
        {"new-since-plan", note, "a holder that was not in the plan that was agreed to: not signalled",
         "it is neither in the plan, nor a later child of one that is, nor in the same unit",
         "look at it, then clear again"},
        {"unkillable", dirty, "in uninterruptible sleep after KILL, and no memory came back",
         "state D in /proc/PID/stat, and memory.used before and after", "look at dmesg; reboot"},
        {"slow-teardown", dirty, "in uninterruptible sleep after KILL, and its memory is going down",
         "state D in /proc/PID/stat, and memory.used before and after", "wait, then check again"},
        {"survived-kill", dirty, "alive after KILL", "its pid and start time are still there",
         "end its tracer, then clear again"},
        {"zombie", note, "ended, and its parent does not reap it", "state Z in /proc/PID/stat",
         "end the parent, or stop the unit or container that it runs in; else reboot"},
        {"not-permitted", note, "this login may not signal it",
         "kill answers: operation not permitted; or another owner, without root",
         "log in as root or as its owner"},
        {"command-failed", note, "a command of the playbook failed, and the steps after it were left out",
         "its exit status", "run it by hand"},
        {"not-settled", unknown,
         "clean once after the last signal, and the sweep ended before the second look", "the surveys' times",
         "check again"},
    };
}

}  // namespace cleanslate::agentless
