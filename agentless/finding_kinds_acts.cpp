// The table of finding codes: what steps of a playbook did, and what they left.

#include "agentless/finding_kinds.hpp"

namespace cleanslate::agentless {

std::vector<FindingKind> act_findings() {
    using enum Severity;
    return {
        {"vetoed", note, "a `before` command of the playbook failed: nothing was signalled",
         "its exit status", "see what the command says; clear again when the host may be cleared"},
        {"host-busy", unknown, "another cleanslate is working on the host: nothing was done",
         "its lock is held: who holds it, and since when, is named",
         "wait for it, or give --lock-wait more time"},
        {"not-locked", note,
         "no lock could be had: another cleanslate could work on the host at the same time",
         "no flock there, or no directory under /run that only this login can write",
         "install util-linux's flock, or log in as root"},
        {"too-many-targets", dirty, "more processes would be signalled than allowed: none was",
         "the targets against --max-kills, --max-kills-total or the playbook's max_kills",
         "look at the dry run; raise the limit if it is right"},
        {"user-not-seen", note, "the playbook means users of whom no process was seen on the host",
         "`user` of the step's match, against the owners in the survey", "look whether the name is right"},
        {"no-scheduler", note,
         "nothing was signalled: no scheduler was recognised, and who runs by hand here looks like an orphan",
         "no daemon of Slurm, Kubernetes, PBS, LSF or HTCondor among the processes",
         "set unscheduled: true in the inventory for hosts that are shared without one"},
        {"other-gpu", note, "it holds one of the GPUs that are meant, and another one too: not signalled",
         "the driver's list and its device files, against `gpus` of the playbook",
         "ask its owner, or name all of its GPUs"},
        {"gpus-not-judged", note, "GPUs of the host that are not among those the playbook judges",
         "`gpus` of its verify step", "check the whole host with: cleanslate check"},
        {"gpu-not-found", unknown, "a GPU that the playbook judges is not on this host",
         "`gpus` of its verify step against the rows", "correct the list, or see dmesg for a lost GPU"},
        {"ipc-consumer", note,
         "it took over memory of a process that was ended: it had imported it (CUDA IPC)",
         "what the driver attributes to it grew when the other one ended",
         "clear it too, if it is not meant to stay"},
        {"holder-uninterruptible", note,
         "a holder is in uninterruptible sleep: signals reach it when the kernel lets it go",
         "state D in /proc/PID/stat, before any signal",
         "look at dmesg, and at what it waits for: a frozen cgroup, a file system, the driver; then reset "
         "the GPU, else reboot"},
        {"stop-failed", note, "a supervisor could not be stopped", "the exit status of its command",
         "run the command by hand on the host"},
        {"supervisor-left", note, "a supervisor was not stopped: something in it must live",
         "protected processes, unrelated work or another's GPU in it", "stop what can be stopped by hand"},
        {"reset-withheld", note, "a GPU was not reset, and why",
         "--allow-reset, holders, NVSwitch peers, MIG instances, and what kind of sick it is",
         "do what the reason says, then clear again"},
        {"reset-in-use", note, "nvidia-smi refused to reset a GPU: a client has it open",
         "`In use by another client` and the like",
         "name the unit that holds it under `daemons` of the step; else reboot"},
        {"reset-unsupported", note, "nvidia-smi refused to reset a GPU: it cannot, or not now",
         "`not supported`, the primary GPU, a driver that drives a display", "reboot"},
        {"reset-not-permitted", note, "nvidia-smi refused to reset a GPU: the login may not",
         "`Insufficient Permissions`, status 4", "log in as root, or set become: true"},
        {"reset-failed", note, "a reset of a GPU failed, or did not end in time",
         "nvidia-smi's status and text", "see dmesg for Xid lines; reboot"},
        {"daemon-not-restarted", unknown, "a daemon that was stopped for a reset does not run again",
         "the status of systemctl start",
         "start it by hand: without nvidia-fabricmanager, for one, CUDA does not start"},
        {"reboot-withheld", note, "the host was not rebooted, and why",
         "--allow-reboot, someone's job, rights", "do what the reason says, then clear again"},
        {"reboot-failed", unknown, "the host did not come back with another boot id",
         "/proc/sys/kernel/random/boot_id until the step's deadline", "look at its console"},
        {"shm-kept", note, "files in /dev/shm that fit a clean_shm step were kept, and why",
         "--allow-shm, who has them open or mapped, their owner and age", "do what the reason says"},
    };
}

}  // namespace cleanslate::agentless
