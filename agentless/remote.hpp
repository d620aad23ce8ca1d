#pragma once
// The two remote primitives as text: what is sent to /bin/sh, and what comes back. docs/remote-protocol.md
// has the grammar.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"
#include "base/result.hpp"
#include "base/units.hpp"

namespace cleanslate::agentless {

// 128 random bits in hex: marks what the script itself printed.
std::string fresh_nonce();

struct SurveyRequest {
    bool all_processes = false;  // for playbooks with name, command-line, exe or pid patterns
    // remote deadline of both nvidia-smi queries together; whole seconds, at least 1
    Milliseconds budget{30'000};
    Milliseconds slack{8'000};  // the script ends at most so long after the budget, whatever hangs
    // Ask the optional query and `nvidia-smi -L` too. A look between two signals leaves them out.
    bool optional_evidence = true;
    // Which optional fields: of an earlier survey of the same host and sweep (Evidence::optional_fields), so
    // that what the host's nvidia-smi does not know is found out once. Absent: all of them, and the script
    // finds out.
    std::optional<std::vector<std::string>> optional_fields;
};

// Standard input for /bin/sh -s.
std::string survey_script(const SurveyRequest& request, std::string_view nonce);

// Everything outside begin/end markers of this nonce is ignored. No end record: Evidence with complete ==
// false, and nothing else in it may be used. Errors (kind "protocol") for what is no survey at all.
Result<Evidence> read_survey(std::string_view out, std::string_view nonce);

struct SignalRequest {
    std::string signal;               // "TERM"
    std::vector<ProcessKey> targets;  // signalled in this order
    std::string boot_id;              // another one there: nothing is signalled, every result is `changed`
    Milliseconds wait{10'000};        // at most so long for all of them; over the moment they are gone
};

struct SignalReply {
    ProcessKey key;
    enum class Result { ended, alive, zombie, changed, not_permitted } result = Result::alive;
    std::optional<Milliseconds> took;  // from the signal to its end, where it ended
    char state = '?';
    std::optional<Pid> parent;  // of a zombie
    bool sent = false;          // the signal went out
};

struct SignalReport {
    bool complete = false;
    // Those that came, also where the report is not complete: a target whose signal went out and whose end
    // was not heard of is `alive` with state '?'.
    std::vector<SignalReply> replies;
};

// Standard input for /bin/sh -s. It ends at most a few seconds after `wait`.
std::string signal_script(const SignalRequest& request, std::string_view nonce);
// As read_survey: errors (kind "protocol") only where nothing of the script was printed.
Result<SignalReport> read_signal(std::string_view out, std::string_view nonce);

}  // namespace cleanslate::agentless
