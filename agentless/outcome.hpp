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

// One command of a `run` step or of the ad-hoc command.
struct CommandAction {
    int step = 0;
    std::string command;
    bool planned = false;  // a dry run: shown, never run
    bool ran_to_end = false;
    std::optional<int> exit_status;
    std::string exit_signal;
    bool ok = false;       // ended as expected
    std::string out, err;  // raw bytes, bounded
    std::optional<Milliseconds> took;
};

struct HostOutcome {
    std::string name;
    std::string address;
    std::uint16_t port = 22;
    Verdict verdict = Verdict::unknown;
    std::optional<HostVerdict> last;  // the last survey judged; absent: none came to its end
    std::vector<Finding> findings;    // of the host, over and above last->findings
    std::vector<SignalAction> signals;
    std::vector<CommandAction> commands;
    std::vector<Spared> spared;          // of the last choice of each step, without repeats
    std::vector<Holder> spared_holders;  // who they are, same order
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
