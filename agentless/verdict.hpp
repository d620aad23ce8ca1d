#pragma once
// What the evidence proves. Pure; fails closed: there is no path from "not observed" to clean.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/baseline.hpp"
#include "agentless/evidence.hpp"
#include "agentless/protection.hpp"

namespace cleanslate::agentless {

// Better to worse. A GPU is never `unreachable`.
enum class Verdict { clean, dirty, sick, unknown, unreachable };
std::string_view to_string(Verdict verdict);
inline Verdict worse(Verdict a, Verdict b) { return a < b ? b : a; }

enum class Severity { note, dirty, sick, unknown };
std::string_view to_string(Severity severity);

struct Finding {
    Severity severity = Severity::note;
    std::string code;    // stable, kebab-case: "driver-hung", "respawned", "holders-not-visible", ...
    std::string text;    // one line, already printable
    std::string remedy;  // may be empty
};

// A process at a GPU (or at none: an opener), as the report shows it.
struct Holder {
    ProcessKey key;
    std::string user;                    // "uid 1000" where it has no name; empty where not observed
    std::optional<std::string> exe;      // printable
    std::optional<std::string> command;  // printable, secrets masked unless raw commands were asked for
    char state = '?';
    std::optional<Mebibytes> used;  // on this GPU, as the driver attributes it
    bool is_protected = false;
    std::string protected_by;
    std::optional<std::string> unit;  // systemd unit, container, Slurm job or pod that it belongs to
    std::optional<std::uint64_t> age_s;
    bool ghost = false;        // the driver lists it, it no longer lives
    bool inherited = false;    // holds a dead one's context through inherited descriptors
    bool foreign_pid = false;  // the pid is not in this /proc (another pid namespace)
    // The driver lists it, it lives, and it has no device file open under a name known here: never a target.
    bool without_device = false;
};

// One MIG instance: what `-L` lists, joined with the kernel's capability files where the two can be told to
// be of one instance.
struct MigInstance {
    std::optional<int> device;                          // as in `-L`
    std::optional<int> gpu_instance, compute_instance;  // the kernel's numbers
    std::string profile, uuid;                          // empty where not known
    std::vector<ProcessKey> holders;                    // of its GPU's holders: those that can use it
};

struct GpuVerdict {
    std::optional<int> index;
    std::string uuid, bus_id, name;
    std::optional<Mebibytes> used, total;
    Verdict verdict = Verdict::unknown;
    bool judged = true;  // counts for the host's verdict: false for one beside Expectations::only_gpus
    bool repaired = false;
    std::vector<Finding> findings;
    std::vector<Holder> holders;
    std::optional<Mebibytes> limit;      // used memory up to which it is clean; absent: judged without memory
    std::vector<OptionalCell> optional;  // printable
    std::vector<MigInstance> instances;
};

struct HostVerdict {
    Verdict verdict = Verdict::unknown;
    std::vector<Finding> findings;
    std::vector<GpuVerdict> gpus;  // by index; those without one last
    std::vector<Holder> openers;
    bool clean() const { return verdict == Verdict::clean; }
};

struct Expectations {
    std::optional<int> gpus;            // the inventory's or --expect's count
    bool any_count = false;             // `parse --expect any`
    std::optional<Mebibytes> max_used;  // --max-used, else the inventory's; absent: limits.hpp's defaults
    bool unified_memory = false;        // the inventory's: used memory that is not shown is no unknown
    std::shared_ptr<const Baseline> baseline;  // --baseline
    bool require_holders = false;              // --require-holders
    bool raw_commands = false;                 // --raw-commands
    // Indexes or uuids as in playbooks::Match::gpus: the host is judged by these GPUs alone, and the others
    // are listed with the note `gpus-not-judged`. One that is not there makes the host unknown. Empty: all.
    std::vector<std::string> only_gpus;
    bool parse_only = false;  // `parse`: rows are the only witness: nothing is known of holders
    ProtectionRules protection;
};

// Judges evidence. Evidence that is not complete is `unknown` with the finding "survey-incomplete".
HostVerdict judge(const Evidence& evidence, const Expectations& expectations);

// Secrets in a command line, masked: values of --api-key, --token, --password and the like, NAME=... for such
// names, user:password@ in URLs. The result is printable.
std::string masked_command(const std::vector<std::string>& argv);

}  // namespace cleanslate::agentless
