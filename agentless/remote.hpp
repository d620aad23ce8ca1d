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
    // Shell patterns of names right in /dev/shm (letters, digits, . _ - * ?; any other is left out): the
    // regular files that fit one are shown, with who has them open or mapped. Empty: not asked.
    std::vector<std::string> shm_names;
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

// The lock of a host: flock on /run/cleanslate (root's, mode 0700) or, without root, on
// $XDG_RUNTIME_DIR/cleanslate, else /run/user/UID/cleanslate. A small process of the host's own holds it:
// until release_script() ends it, until the process that this login hangs on (its sshd; for --local this
// program) is gone, or until `keep` has passed. So it needs no second channel and outlives no lost connection
// for long.
struct LockRequest {
    std::string who;            // "alice@laptop, cleanslate 4242 since 2026-11-30T02:00:00Z": told to others
    Milliseconds wait{10'000};  // at most so long for another to let go
    Milliseconds keep{3'600'000};  // the holder ends itself after that
};

struct LockReport {
    enum class Result { taken, busy, unavailable } result = Result::unavailable;
    std::string holder;  // busy: what the other one said of itself, raw bytes; empty: it said nothing
    std::string reason;  // unavailable: "no flock", "no directory that only this login can write"
    ProcessKey keeper;   // taken: the process that holds it
    Milliseconds waited{0};
};

std::string lock_script(const LockRequest& request, std::string_view nonce);
Result<LockReport> read_lock(std::string_view out, std::string_view nonce);
// Ends the keeper (which gives the lock back) if it still is the same process.
std::string release_script(ProcessKey keeper, std::string_view nonce);
// Whether the keeper was still there to let go of it: if not, the lock was lost before.
Result<bool> read_release(std::string_view out, std::string_view nonce);

// Resets GPUs: daemons that run are stopped first and started again in any case, also where the connection is
// lost in the middle.
struct ResetRequest {
    std::vector<std::string> bus_ids;  // as in GpuRow
    std::vector<std::string> daemons;  // units
    std::string boot_id;               // another one there: nothing is done
    Milliseconds timeout{120'000};
};

struct ResetReport {
    bool complete = false;
    bool no_systemctl = false;  // daemons were asked for and nothing there could stop them: `units` is empty
    bool other_boot = false;    // nothing was done
    struct Unit {
        std::string name;
        bool was_active = false;
        std::optional<int> stop_status,
            start_status;  // of systemctl; absent: not called, or no answer in time
    };
    struct Gpu {
        std::string bus_id;
        std::optional<int> status;  // of nvidia-smi; absent: not tried, or it did not end in time
        std::string text;           // what it printed, raw bytes, at most 2000
    };
    std::vector<Unit> units;
    std::vector<Gpu> gpus;
};

std::string reset_script(const ResetRequest& request, std::string_view nonce);
Result<ResetReport> read_reset(std::string_view out, std::string_view nonce);

// Removes files right in /dev/shm: each only if it is still the same file (device, inode, size, last change),
// regular, with one link, and nobody has it open or mapped right before. Names are compared as bytes.
struct ShmRequest {
    std::vector<ShmFile> files;
    std::string boot_id;
};

struct ShmReport {
    bool complete = false;
    enum class Result { removed, gone, changed, in_use, not_permitted, unreadable };
    struct File {
        std::uint64_t device = 0, inode = 0;
        Result result = Result::unreadable;
    };
    std::vector<File> files;
};

std::string shm_script(const ShmRequest& request, std::string_view nonce);
Result<ShmReport> read_shm(std::string_view out, std::string_view nonce);

// Starts a reboot (systemctl reboot, else shutdown -r now, else reboot) a moment after its own end record, if
// the host still has this boot id.
struct RebootReport {
    bool complete = false;
    bool started = false;
    std::string text;  // why not, raw bytes
};
std::string reboot_script(std::string_view boot_id, std::string_view nonce);
Result<RebootReport> read_reboot(std::string_view out, std::string_view nonce);

}  // namespace cleanslate::agentless
