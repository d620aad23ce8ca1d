// The table of finding codes. A code is stable once it was released.

#include "agentless/findings.hpp"

namespace cleanslate::agentless {

const std::vector<FindingKind>& finding_kinds() {
    using enum Severity;
    static const std::vector<FindingKind> kinds{
        // The driver says that a GPU is broken: no kill helps.
        {"gpu-requires-reset", sick, "the driver wants the GPU reset before it is used again",
         "clear its holders, then nvidia-smi --gpu-reset -i N, else reboot"},
        {"gpu-lost", sick, "the GPU fell off the bus", "reboot the host; if it comes back, have it repaired"},
        {"gpu-unknown-error", sick, "the driver answers Unknown Error or ERR! for the GPU",
         "look for Xid lines in dmesg; reset the GPU or reboot the host"},
        {"inforom-corrupted", sick, "the GPU's infoROM is corrupted", "have the GPU repaired or replaced"},
        {"recovery-action", sick, "the driver names a recovery action for the GPU",
         "do what it names: reset the GPU, reboot or drain the host"},
        {"row-remap-pending", sick, "a memory row waits to be remapped",
         "reset the GPU when nothing holds it"},
        {"row-remap-failed", sick, "a memory row could not be remapped", "have the GPU replaced"},

        // nvidia-smi as a whole.
        {"driver-hung", unknown, "nvidia-smi did not end within its time",
         "look for nvidia-smi in D state and Xid lines in dmesg; reboot the host"},
        {"nvidia-smi-missing", unknown, "nvidia-smi was not found or could not be run",
         "install the driver's tools, or set gpus: 0 for a host without GPUs"},
        {"nvidia-smi-cut", unknown, "nvidia-smi did not run to its end", "try again"},
        {"nvidia-smi-failed", unknown, "nvidia-smi ended with a status that nothing it printed explains",
         "run nvidia-smi on the host and read what it says"},
        {"bad-arguments", unknown, "nvidia-smi did not take the query",
         "check which nvidia-smi is first in PATH"},
        {"unknown-field", unknown, "nvidia-smi does not know a field of the query, and prints no row at all",
         "leave the field out of the query"},
        {"not-available", unknown, "the query is not available on this GPU or driver", ""},
        {"not-implemented", unknown, "the driver does not implement the query", ""},
        {"permission-refused", unknown, "the driver refused to answer",
         "look as root, or allow the device files"},
        {"power-cable", unknown, "a GPU's external power is not attached", "check the power cables"},
        {"driver-not-loaded", unknown, "the driver is not loaded or does not answer",
         "modprobe nvidia; see dmesg for why it failed"},
        {"driver-interrupt", unknown, "the driver reports an interrupt problem",
         "see dmesg; reboot the host"},
        {"driver-mismatch", unknown, "the driver in the kernel and its library have different versions",
         "reload the driver or reboot the host"},
        {"nvml-missing", unknown, "the driver's library was not found", "install the driver's library"},
        {"nvml-failed", unknown, "the driver's library could not be initialized",
         "in a container: restart it, its device rules were reset; else see dmesg"},
        {"no-devices", unknown, "the driver found no GPU",
         "see dmesg, or set gpus: 0 for a host without GPUs"},
        {"gpu-handle-failed", unknown, "the driver cannot get at a GPU, for a reason not known here",
         "see dmesg for Xid lines"},

        // What it printed.
        {"unrecognised-line", unknown, "a line that is neither a row nor a message known here",
         "read the line; take it out of the input if it is noise"},
        {"line-too-long", unknown, "a line too long for anything nvidia-smi prints", ""},
        {"output-too-long", unknown, "more lines than any query prints", ""},
        {"header-repeated", unknown, "a second header: the outputs of two queries",
         "judge one query at a time"},
        {"columns-unknown", unknown, "neither a header nor --columns says what the columns are",
         "name them with --columns, or query without noheader"},
        {"row-malformed", unknown, "a row with the wrong number of cells", ""},
        {"row-truncated", unknown, "the output ends inside a row",
         "query again; end the input with a newline"},
        {"row-fused", unknown, "other output runs into the row, so its index cannot be read",
         "query in a command of its own"},
        {"row-repeated", unknown, "two rows with one index, uuid or bus id", "judge one query at a time"},
        {"row-repaired", note, "the index was taken out of a row fused to pids",
         "query in a command of its own"},
        {"no-row", unknown, "a GPU that should be there has no row", "see dmesg for why the driver lost it"},
        {"index-unreadable", unknown, "the row does not say which GPU it is of", ""},
        {"index-unexpected", unknown, "a GPU beyond the expected count",
         "correct gpus: in the inventory or --expect"},
        {"memory-unreadable", unknown, "the used memory is not a plain number", ""},
        {"memory-not-shown", unknown, "this GPU does not show its used memory", ""},
        {"health-unreadable", unknown, "temperature or performance state is neither a value nor N/A", ""},
        {"health-not-shown", note, "nothing was seen of the GPU's health (0 MiB alone is no proof of it)",
         "add temperature.gpu,pstate to the query"},

        // How many there are.
        {"count-unproven", unknown, "nothing says how many GPUs there should be",
         "set gpus: in the inventory, or --expect N (--expect any to take what is there) for parse"},
        {"count-mismatch", unknown, "more or fewer GPUs than expected",
         "see dmesg for a lost GPU, or correct gpus: or --expect"},
        {"no-gpus", unknown, "no GPU was seen", "set gpus: 0 for a host without GPUs"},
        {"driver-count-differs", note, "the kernel's driver has another number of GPUs than expected",
         "correct gpus: in the inventory, unless this is a container with some of the GPUs"},

        // Memory and processes.
        {"memory-in-use", dirty, "more memory is used than allowed, protected holders' taken off",
         "clear the host"},
        {"memory-without-holder", dirty, "memory is used, or a ghost listed, and no holder is to be seen",
         "look for another namespace's process or an MPS server; then reset the GPU, else reboot"},
        {"held", dirty, "an unprotected process has a context on the GPU", "clear the host"},
        {"ghost", dirty,
         "the driver lists a process that no longer lives: its memory lives on in inherited descriptors",
         "clear the host: who inherited them is listed as holder"},
        {"foreign-holder", dirty, "the driver lists a pid that is not this host's process",
         "look on the host itself, outside the container"},
        {"opener", dirty, "an unprotected process has a device file open and no context on any GPU",
         "clear the host; put monitors on the protect list"},
        {"holder-without-pid", unknown, "the driver lists a holder and does not say which process it is", ""},
        {"holder-not-placed", unknown, "the driver lists a holder on a GPU that has no row", ""},
        {"apps-unreadable", unknown, "the driver's list of holders could not be read", "try again"},
        {"holders-not-visible", note,
         "others' processes cannot be read: the driver's own list is the only witness", "look as root"},
        {"proc-hidden", note, "/proc shows only some processes (hidepid, or a container's own /proc)",
         "look as root on the host itself"},
        {"holders-unreadable", unknown, "a process's descriptors or maps could not be read, even as root",
         "look for processes in D state, and log in outside any sandbox"},
        {"holders-not-shown", note, "rows say nothing of processes",
         "check the host itself with: cleanslate check"},

        // The survey.
        {"survey-incomplete", unknown, "the survey did not come to its own end record", "try again with -vv"},
        {"tool-missing", unknown, "a tool that the survey needs is not there", "install it"},
    };
    return kinds;
}

}  // namespace cleanslate::agentless
