#pragma once
// What has changed between two sweeps.

#include <optional>
#include <string>
#include <vector>

#include "agentless/verdict.hpp"
#include "controller/history/sweeps.hpp"

namespace cleanslate::controller::history {

// A process at a host that is not clean, as the newer sweep saw it.
struct StoredHolder {
    std::vector<int> gpus;  // its indexes, ascending; empty: it has device files open, and no context
    std::optional<std::int64_t> pid, start;
    std::string user, exe, command, unit;  // empty: not observed
    std::optional<Mebibytes> used;         // on all of its GPUs together
    std::optional<std::int64_t> age_s;
    bool is_protected = false, ghost = false, inherited = false, foreign_pid = false, without_device = false;
};

// A GPU that is not clean.
struct StoredGpu {
    std::optional<int> index;
    std::string uuid;
    agentless::Verdict verdict = agentless::Verdict::unknown;
    std::optional<Mebibytes> used;
    // It was not dirty or sick before; absent: nothing was seen of the host's GPUs then.
    std::optional<bool> newly;
};

struct HostChange {
    std::string host;
    agentless::Verdict verdict = agentless::Verdict::unknown;
    std::optional<agentless::Verdict> before;  // absent: it was not looked at
    // Seconds since 1970, when the first sweep began of the unbroken run of sweeps of this scope in which it
    // was dirty or sick (unknown in between does not end it), or unknown or unreachable. Of a host that is
    // newly clean: those of its last time.
    std::optional<std::int64_t> dirty_since, unknown_since;
    std::string why;                 // of one that is sick, unknown or unreachable; may be empty
    std::vector<std::string> codes;  // of findings that are no notes
    std::vector<StoredGpu> gpus;
    std::vector<StoredHolder> holders;  // with memory first
};

// Where a GPU is.
struct GpuPlace {
    std::string host;
    std::optional<int> index;
    std::string bus_id;
};

struct GpuChange {
    std::string uuid, name;
    std::optional<GpuPlace> before, now;  // gone: only `before`; new: only `now`; moved: both
    std::string uuid_before;              // swapped: that of the GPU that was in its place
};

struct Diff {
    std::optional<SweepHead> older;  // absent: `newer` is the first of its scope
    SweepHead newer;
    std::vector<HostChange> newly_dirty;    // dirty or sick, and was not
    std::vector<HostChange> newly_clean;    // and was not
    std::vector<HostChange> newly_unknown;  // unknown or unreachable, and was not
    std::vector<HostChange> still_dirty, still_unknown;
    std::size_t still_clean = 0;
    std::size_t not_looked_at = 0;  // never begun in the newer one: nothing is said about them
    // Only where both are of one scope and neither was stopped early; a host that is new and not clean stands
    // above, too.
    bool compares_hosts = false;
    std::vector<std::string> hosts_gone, hosts_new;
    std::size_t not_compared = 0;  // in one of them alone, where that says nothing
    // A GPU that left one host and came to another is moved, and neither gone nor new.
    std::vector<GpuChange> gpus_gone, gpus_new, gpus_swapped, gpus_moved;

    bool anything_newly_dirty_or_clean() const { return !newly_dirty.empty() || !newly_clean.empty(); }
};

// Hosts in the order of the newer sweep's report. `older`: absent for the predecessor of `newer`; there may
// be none. Two are compared in the order in which they were recorded.
Result<Diff> diff(Store& store, SweepId newer, std::optional<SweepId> older = std::nullopt);

}  // namespace cleanslate::controller::history
