#pragma once
// What is known of one host at the end of a sweep: the report's input.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "agentless/targets.hpp"
#include "agentless/verdict.hpp"
#include "base/result.hpp"

namespace cleanslate::agentless {

enum class SignalResult { ended, alive, zombie, changed, not_permitted, planned, not_sent, sent };
std::string_view to_string(SignalResult result);  // "ended", ..., as in the JSON report

// One signal to one process. `sent`, whose result never came back (the host vanished), is reported as
// alive=unknown: the JSON says null.
struct SignalAction {
    int step = 0;        // 1 for the playbook's first
    std::string signal;  // "TERM"
    Holder process;      // who, as it was listed
    std::string rule;
    SignalResult result = SignalResult::planned;
    std::optional<Milliseconds> took;  // from the signal to its end
    char state = '?';                  // at the end of the wait, where it did not end
};

// Anything else that is done on a host: a command of a `run` step or the ad-hoc one, a supervisor that is
// stopped, a GPU that is reset, a file of /dev/shm that is removed, a reboot.
struct CommandAction {
    enum class Kind { run, before, after, stop, reset, clean_shm, reboot };
    Kind kind = Kind::run;
    int step = 0;
    std::string command;   // "systemctl stop ollama.service", "nvidia-smi --gpu-reset -i 0000:17:00.0", ...
    std::string about;     // printable: "supervisor of 812", "3 MiB of alice, 2 h old"; empty for run
    bool planned = false;  // a dry run: shown, never run
    // Planned for the case that the steps before leave it to be done: `about` says when.
    bool conditional = false;
    bool withheld =
        false;  // would be done, and is not: `about` says why (no --allow-..., a peer GPU is held)
    bool not_sent = false;  // meant to be done, and stopped right before: no audit, a limit, Ctrl-C
    bool ran_to_end = false;
    std::optional<int> exit_status;
    std::string exit_signal;
    bool ok = false;       // ended as expected
    std::string out, err;  // raw bytes, bounded
    std::optional<Milliseconds> took;
    std::optional<std::uint64_t> bytes;  // clean_shm: the file's size
};
std::string_view to_string(CommandAction::Kind kind);  // "run", "before", ..., "clean_shm", as in the JSON

// What one step of the playbook would choose at the time it was reached: for dry runs.
struct PlannedStep {
    int step = 0;
    std::string name;                   // as reports call it
    std::vector<ProcessKey> targets;    // of a signal step, or of a stop step's match
    std::vector<Spared> spared;         // protected, not permitted, another's
    std::vector<std::size_t> commands;  // places in HostOutcome::commands
    std::vector<std::string> notes;     // printable: "would be withheld: GPU 3: ...", "not reached: ..."
    std::vector<Holder> target_holders = {};  // who the targets are, where known
};

struct HostOutcome {
    std::string name;
    std::string address;
    std::uint16_t port = 22;  // 0: none, as of a machine without SSH beside others
    Verdict verdict = Verdict::unknown;
    std::optional<HostVerdict> last;  // the last survey judged; absent: none came to its end
    std::vector<Finding> findings;    // of the host, over and above last->findings
    std::vector<SignalAction> signals;
    std::vector<CommandAction> commands;
    std::vector<Spared> spared;           // of the last choice of each step, without repeats
    std::vector<Holder> spared_holders;   // who they are, same order
    std::vector<PlannedStep> plan_steps;  // a dry run: one for each step of the playbook
    // a dry run: what a yes to it covers; absent: there is no plan for this host
    std::optional<Consent> plan;
    std::string boot_id;
    std::string driver_version;  // raw bytes, of the last survey that told it; empty: not known
    std::optional<Error> error;  // kind "not_tried" for a host that was never begun
    bool started = false;
    bool finished = false;
    std::string doing;  // "connect", "survey", "step 1: TERM ...": for progress and Ctrl-C
    Milliseconds took{0};
    std::optional<Milliseconds> first_signal_to_clean;  // to the beginning of the first clean survey's result
    int surveys = 0;
};

}  // namespace cleanslate::agentless
