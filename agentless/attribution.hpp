#pragma once
// Who holds which GPU. The driver's compute-apps list is the first witness; where it lists a ghost, the
// holders are those that have that GPU's device file open and are not listed themselves.

#include <optional>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/findings.hpp"
#include "agentless/placement.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

// One line of the compute-apps list, held against /proc.
struct Witness {
    const ComputeApp* app = nullptr;
    const Process* process = nullptr;  // the living process that it is; null for a ghost or a foreign pid
    bool ghost = false;                // listed, and no longer lives (or its pid is another process's by now)
    bool foreign = false;              // not a pid of this /proc: never a target
    bool without_device = false;       // it lives, and has no device file open under a name known here
    // Besides: in state D, as while the driver tears it down. What it has let go of is nobody's yet.
    bool torn_down = false;
    bool dead() const {
        return ghost || torn_down || (process != nullptr && (process->state == 'Z' || process->state == 'X'));
    }
};
Witness witness(const ComputeApp& app, const Evidence& evidence);

// The processes that may keep a dead one's memory on the GPU with this device minor: alive, listed nowhere,
// with the file open or mapped. Without a known minor: with any GPU's file.
std::vector<const Process*> heirs(std::optional<int> minor, const Evidence& evidence);

struct Attribution {
    std::vector<std::vector<Holder>> of_slot;  // one list a slot
    std::vector<Holder> openers;               // a device file open or mapped, and a holder of nothing
};
// Findings are those of the host: a holder that no slot has.
Attribution attribute(const Evidence& evidence, const Expectations& expectations,
                      const std::vector<Slot>& slots, Findings& findings);

}  // namespace cleanslate::agentless
