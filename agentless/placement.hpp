#pragma once
// Which GPU a row or a message of the driver is about: by index, uuid or bus id, else by elimination.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

// One GPU, as far as the evidence tells it from the others. Points into the evidence.
struct Slot {
    const GpuRow* row = nullptr;  // null: expected, and no row is of it
    std::optional<int> index;     // of the row, else by elimination
    std::string uuid;             // of the row, else of the kernel's driver; empty where unknown
    std::string bus_id;
    std::vector<const DriverMessage*> named;    // messages that say it is sick
    std::vector<const DriverMessage*> unclear;  // of the core query: say of it that it could not be read
    bool repeated = false;                      // another row has its index, uuid or bus id
    bool unexpected = false;                    // its index is beyond the expected count
};

struct Placement {
    std::vector<Slot> slots;                     // rows in their order, then the GPUs without one
    std::vector<const DriverMessage*> unplaced;  // say of a GPU that it is sick, and not of which of these
    // ... and each of the GPUs that these may be about is known to be sick by its row.
    bool narrowed = false;
    // Prose of the other queries and of `nvidia-smi -L` that says of a GPU that it is sick: it counts as if
    // the core query had printed it. Slots and `unplaced` point into it, so a placement is moved only.
    std::vector<DriverMessage> overheard;
    bool accounted = false;  // every expected GPU has one slot, with a row or known to be sick

    Placement() = default;
    Placement(Placement&&) = default;
    Placement& operator=(Placement&&) = default;
};

// `expected`: how many GPUs there should be; absent: as many as there are rows.
Placement place(const Evidence& evidence, std::optional<int> expected);

// The driver says so, in a cell, a column or a message.
bool is_sick(const Slot& slot);

// The message makes its GPU, or else the host, unknown.
bool is_unclear(const DriverMessage& message);

// A line of the optional query or of `nvidia-smi -L` that is no row of a known GPU: prose, or a row that
// could not be put into its GPU, where a failure text in one of its cells says that it is sick.
DriverMessage classify_optional_line(std::string_view line);

// The kernel's entry of this GPU; null where there is none.
const DriverGpu* driver_gpu_of(const Slot& slot, const Evidence& evidence);

}  // namespace cleanslate::agentless
