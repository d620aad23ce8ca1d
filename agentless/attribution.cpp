#include "agentless/attribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "agentless/holder.hpp"
#include "agentless/mig.hpp"
#include "agentless/nvidia_smi_cells.hpp"

namespace cleanslate::agentless {
namespace {

Holder holder_of(const Witness& seen, const Evidence& evidence, const Expectations& expectations) {
    Holder holder;
    if (seen.process != nullptr)
        holder = describe(*seen.process, evidence, expectations);
    else
        holder.key.pid = seen.app->pid.value_or(0);
    holder.used = seen.app->used;
    holder.ghost = seen.ghost;
    holder.foreign_pid = seen.foreign;
    holder.without_device = seen.without_device;
    return holder;
}

// The slot that a compute-apps uuid means, be it a MIG instance's; where it is not one of theirs, the only
// slot whose uuid is not known.
std::optional<std::size_t> slot_of(const std::string& uuid, const std::vector<Slot>& slots,
                                   const Evidence& evidence) {
    std::vector<std::size_t> nameless;
    const auto gpu = gpu_of_instance(uuid, evidence);
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].uuid.empty())
            nameless.push_back(i);
        else if (slots[i].uuid == uuid || slots[i].uuid == gpu)
            return i;
    }
    if (nameless.size() == 1) return nameless.front();
    return std::nullopt;
}

// A process is listed once for each MIG instance that it uses: one holder of the GPU, with the sum.
void add_holder(std::vector<Holder>& holders, Holder holder) {
    const auto same = std::ranges::find_if(holders, [&](const Holder& there) {
        return there.key == holder.key && there.ghost == holder.ghost &&
               there.foreign_pid == holder.foreign_pid && there.without_device == holder.without_device;
    });
    if (same == holders.end()) {
        holders.push_back(std::move(holder));
        return;
    }
    if (same->used && holder.used)
        *same->used += *holder.used;
    else
        same->used.reset();
}

bool has_minor(const Process& process, std::optional<int> minor) {
    if (!minor) return !process.open_minors.empty() || !process.mapped_minors.empty();
    return std::ranges::find(process.open_minors, *minor) != process.open_minors.end() ||
           std::ranges::find(process.mapped_minors, *minor) != process.mapped_minors.end();
}

void add_heirs(const Slot& slot, const Evidence& evidence, const Expectations& expectations,
               std::vector<Holder>& holders) {
    const auto* gpu = driver_gpu_of(slot, evidence);
    for (const auto* process : heirs(gpu == nullptr ? std::nullopt : gpu->minor, evidence)) {
        auto holder = describe(*process, evidence, expectations);
        holder.inherited = true;
        holders.push_back(std::move(holder));
    }
}

// Known to be of this /proc: it is the host's own, or this sweep has signalled that process.
bool is_of_this_proc(Pid pid, const Process* process, const Evidence& evidence) {
    return !evidence.proc_hides_others || std::ranges::any_of(evidence.signalled, [&](ProcessKey key) {
        return process == nullptr ? key.pid == pid : key == process->key;
    });
}

}  // namespace

Witness witness(const ComputeApp& app, const Evidence& evidence) {
    Witness seen;
    seen.app = &app;
    if (!app.pid) return seen;
    seen.process = evidence.find(*app.pid);
    if (seen.process != nullptr) {
        const auto& p = *seen.process;
        const bool zombie = p.state == 'Z' || p.state == 'X';
        const bool readable = p.fds_readable && p.maps_readable;
        const bool named_dead = lowered(app.name) == "[not found]";
        // One that the driver did not find is dead, and its pid was taken again, be it by a process that has
        // the device open too: what a dead one left is nobody's memory by that.
        if (zombie || (!named_dead && (p.opens_device() || !readable))) return seen;
        // A pid of another namespace says nothing of the process that has it here. Else it may have been
        // taken again, or the device file has another name there: it lives, and that is all that was seen.
        // In state D it is no other's: the driver has let go of its name and files, and not of its memory.
        seen.torn_down = is_of_this_proc(*app.pid, &p, evidence) && p.state == 'D' && !p.kernel_thread &&
                         !p.opens_device();
        seen.without_device = seen.torn_down || (!evidence.proc_hides_others && !named_dead);
        if (seen.without_device) return seen;
        seen.process = nullptr;
    }
    // Whom this sweep has ended is a ghost in a container, too: its memory is on its way back.
    seen.foreign = !is_of_this_proc(*app.pid, nullptr, evidence);
    seen.ghost = !seen.foreign;
    return seen;
}

std::vector<const Process*> heirs(std::optional<int> minor, const Evidence& evidence) {
    std::set<Pid> listed;
    for (const auto& app : evidence.apps)
        if (const auto seen = witness(app, evidence); seen.process != nullptr)
            listed.insert(seen.process->key.pid);
    std::vector<const Process*> found;
    for (const auto& process : evidence.processes) {
        const bool alive = process.state != 'Z' && process.state != 'X' && !process.kernel_thread;
        if (alive && !listed.contains(process.key.pid) && has_minor(process, minor))
            found.push_back(&process);
    }
    return found;
}

Attribution attribute(const Evidence& evidence, const Expectations& expectations,
                      const std::vector<Slot>& slots, Findings& findings) {
    Attribution result;
    result.of_slot.resize(slots.size());
    std::set<Pid> holding;
    std::set<std::size_t> bereaved;  // slots with a dead one listed
    for (const auto& app : evidence.apps) {
        const auto seen = witness(app, evidence);
        if (seen.process != nullptr) holding.insert(seen.process->key.pid);
        const auto slot = slot_of(app.uuid, slots, evidence);
        if (!slot)
            findings.add(
                finding("holder-not-placed",
                        fmt::format("{} on {}", app.pid ? fmt::format("pid {}", *app.pid) : "a process",
                                    app.uuid.empty() ? "a GPU without a readable uuid" : app.uuid)));
        if (slot) add_holder(result.of_slot[*slot], holder_of(seen, evidence, expectations));
        if (slot && seen.dead()) bereaved.insert(*slot);
    }
    for (const auto slot : bereaved) {
        const auto before = result.of_slot[slot].size();
        add_heirs(slots[slot], evidence, expectations, result.of_slot[slot]);
        for (auto i = before; i < result.of_slot[slot].size(); ++i)
            holding.insert(result.of_slot[slot][i].key.pid);
    }
    for (const auto& process : evidence.processes)
        if (process.opens_device() && !holding.contains(process.key.pid))
            result.openers.push_back(describe(process, evidence, expectations));
    return result;
}

}  // namespace cleanslate::agentless
