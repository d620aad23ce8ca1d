#include "agentless/placement.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "agentless/nvidia_smi.hpp"
#include "agentless/nvidia_smi_cells.hpp"

namespace cleanslate::agentless {
namespace {

// More GPUs than any host has: an expectation beyond it is not spelled out GPU by GPU.
constexpr int most_slots = 1024;
constexpr std::size_t most_cells = 128;  // of a line

bool has_sick_cell(const GpuRow& row) {
    return std::ranges::any_of(row.cells,
                               [](const std::string& c) { return read_cell(c).kind == CellKind::sick; });
}

std::vector<int> missing_indexes(const std::vector<Slot>& slots, int count) {
    std::set<int> seen;
    for (const auto& slot : slots)
        if (slot.index) seen.insert(*slot.index);
    std::vector<int> missing;
    for (int i = 0; i < std::min(count, most_slots); ++i)
        if (!seen.contains(i)) missing.push_back(i);
    return missing;
}

// nvidia-smi prints rows in the order of their indexes: where the readable ones stand at their own places,
// the others are those of theirs. Else a single unreadable one is the single missing one.
void infer_indexes(std::vector<Slot>& slots, int count) {
    const bool complete = slots.size() == static_cast<std::size_t>(count);
    bool ordered = complete;
    std::vector<std::size_t> unreadable;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (!slots[i].index)
            unreadable.push_back(i);
        else
            ordered = ordered && static_cast<std::size_t>(*slots[i].index) == i;
    }
    if (ordered) {
        for (const auto i : unreadable) slots[i].index = static_cast<int>(i);
        return;
    }
    const auto missing = missing_indexes(slots, count);
    if (unreadable.size() == 1 && missing.size() == 1) slots[unreadable.front()].index = missing.front();
}

void add_missing(std::vector<Slot>& slots, int count) {
    // An unreadable row that could not be placed may be any of the missing ones.
    if (std::ranges::any_of(slots, [](const Slot& slot) { return !slot.index; })) return;
    for (const int index : missing_indexes(slots, count)) {
        Slot slot;
        slot.index = index;
        slots.push_back(std::move(slot));
    }
}

void mark_repeats(std::vector<Slot>& slots) {
    std::map<std::string, Slot*> seen;
    const auto note = [&](std::string key, Slot& slot) {
        const auto [there, fresh] = seen.emplace(std::move(key), &slot);
        if (!fresh) slot.repeated = there->second->repeated = true;
    };
    for (auto& slot : slots) {
        if (slot.index) note("index " + std::to_string(*slot.index), slot);
        if (!slot.uuid.empty()) note(slot.uuid, slot);
        if (!slot.bus_id.empty()) note(slot.bus_id, slot);
    }
}

// A GPU that a message may be about although nothing shows its bus id: no row, or a row of failure texts.
bool nameless(const Slot& slot) {
    return slot.bus_id.empty() && slot.named.empty() && (slot.row == nullptr || has_sick_cell(*slot.row));
}

// Of the GPU whose uuid is a cell of the line; empty where there is none.
std::string bus_id_by_uuid(std::string_view line, const std::vector<Slot>& slots) {
    for (const auto cell : split_cells(line, most_cells))
        for (const auto& slot : slots)
            if (!slot.uuid.empty() && slot.uuid == cell) return slot.bus_id;
    return {};
}

// A line that names no GPU, as a row of failure texts, is news only where no GPU is known to be sick.
std::vector<DriverMessage> overhear(const Evidence& evidence, const std::vector<Slot>& slots) {
    std::vector<DriverMessage> heard, nameless;
    const auto hear = [&](DriverMessage message, std::string_view line) {
        if (message.trouble != Trouble::sick) return;
        if (message.bus_id.empty()) message.bus_id = bus_id_by_uuid(line, slots);
        (message.bus_id.empty() ? nameless : heard).push_back(std::move(message));
    };
    for (const auto* lines : {&evidence.optional_problems, &evidence.list_problems})
        for (const auto& line : *lines) hear(classify_optional_line(line), line);
    // Here a failure text in a cell may be the name of a process.
    for (const auto& line : evidence.app_problems) hear(classify_line(line), line);
    const auto says_sick = [](const DriverMessage& m) { return m.trouble == Trouble::sick; };
    if (heard.empty() && std::ranges::none_of(slots, is_sick) &&
        std::ranges::none_of(evidence.messages, says_sick))
        return nameless;
    return heard;
}

void place_messages(const Evidence& evidence, Placement& placement) {
    std::map<std::string, std::vector<const DriverMessage*>> left;  // by bus id
    const auto put = [&](const DriverMessage& message) {
        if (message.trouble != Trouble::sick) return;
        const auto slot = std::ranges::find_if(placement.slots, [&](const Slot& s) {
            return !message.bus_id.empty() && s.bus_id == message.bus_id;
        });
        if (slot != placement.slots.end())
            slot->named.push_back(&message);
        else
            left[message.bus_id].push_back(&message);
    };
    for (const auto& message : evidence.messages) put(message);
    for (const auto& message : placement.overheard) put(message);
    std::vector<Slot*> candidates;
    for (auto& slot : placement.slots)
        if (nameless(slot)) candidates.push_back(&slot);
    // As many GPUs named as there are nameless ones: each of them is sick. Which is which is known for one
    // only.
    const bool all = !left.empty() && left.size() == candidates.size();
    placement.narrowed =
        !left.empty() && left.size() < candidates.size() &&
        std::ranges::all_of(candidates, [](const Slot* slot) { return slot->row != nullptr; });
    for (const auto& [bus_id, messages] : left) {
        if (!all)
            placement.unplaced.insert(placement.unplaced.end(), messages.begin(), messages.end());
        else
            for (auto* slot : candidates)
                slot->named.insert(slot->named.end(), messages.begin(), messages.end());
        if (all && left.size() == 1) candidates.front()->bus_id = bus_id;
    }
}

void fill_from_driver(std::vector<Slot>& slots, const Evidence& evidence) {
    for (auto& slot : slots) {
        const auto* gpu = driver_gpu_of(slot, evidence);
        if (gpu == nullptr) continue;
        if (slot.uuid.empty()) slot.uuid = gpu->uuid;
        if (slot.bus_id.empty()) slot.bus_id = gpu->bus_id;
    }
}

// The one GPU whose row shows no bus id is the one that the kernel's driver has over.
void fill_by_elimination(std::vector<Slot>& slots, const Evidence& evidence) {
    if (!evidence.driver_gpus || evidence.driver_gpus->size() != slots.size()) return;
    std::vector<Slot*> nameless_slots;
    std::set<std::string> claimed;
    for (auto& slot : slots) {
        if (slot.bus_id.empty())
            nameless_slots.push_back(&slot);
        else
            claimed.insert(slot.bus_id);
    }
    if (nameless_slots.size() != 1 || claimed.size() + 1 != slots.size()) return;
    std::vector<const DriverGpu*> over;
    for (const auto& gpu : *evidence.driver_gpus)
        if (!claimed.contains(gpu.bus_id)) over.push_back(&gpu);
    if (over.size() != 1) return;
    nameless_slots.front()->bus_id = over.front()->bus_id;
    if (nameless_slots.front()->uuid.empty()) nameless_slots.front()->uuid = over.front()->uuid;
}

// What the driver says of one GPU and is not read as sick or harmless. At a sick one it would not be said.
void place_unclear(const Evidence& evidence, std::vector<Slot>& slots) {
    for (const auto& message : evidence.messages) {
        if (!is_unclear(message) || message.bus_id.empty()) continue;
        const auto slot = std::ranges::find(slots, message.bus_id, &Slot::bus_id);
        if (slot != slots.end() && !is_sick(*slot)) slot->unclear.push_back(&message);
    }
}

bool accounted(const Placement& placement, std::optional<int> expected) {
    const auto& slots = placement.slots;
    if (slots.empty() || (expected && slots.size() != static_cast<std::size_t>(*expected))) return false;
    return std::ranges::all_of(slots, [](const Slot& slot) {
        return !slot.repeated && !slot.unexpected && (slot.row != nullptr || is_sick(slot)) &&
               (slot.index || is_sick(slot));
    });
}

}  // namespace

bool is_sick(const Slot& slot) {
    if (!slot.named.empty()) return true;
    if (slot.row == nullptr) return false;
    const auto sick = [](const DriverMessage& trouble) { return trouble.trouble == Trouble::sick; };
    return has_sick_cell(*slot.row) || std::ranges::any_of(slot.row->troubles, sick);
}

bool is_unclear(const DriverMessage& message) {
    return message.trouble == Trouble::refused || message.trouble == Trouble::unreadable;
}

DriverMessage classify_optional_line(std::string_view line) {
    auto message = classify_line(line);
    const auto cells = split_cells(line, most_cells);
    if (message.code != "unrecognised-line" || cells.size() < 2) return message;
    for (const auto cell : cells)
        if (const auto reading = read_cell(cell); reading.kind == CellKind::sick) {
            message.trouble = Trouble::sick;
            message.code = reading.code;
            break;
        }
    return message;
}

const DriverGpu* driver_gpu_of(const Slot& slot, const Evidence& evidence) {
    if (!evidence.driver_gpus) return nullptr;
    for (const auto& gpu : *evidence.driver_gpus) {
        if (!slot.bus_id.empty() && gpu.bus_id == slot.bus_id) return &gpu;
        if (slot.bus_id.empty() && !slot.uuid.empty() && gpu.uuid == slot.uuid) return &gpu;
    }
    return nullptr;
}

Placement place(const Evidence& evidence, std::optional<int> expected) {
    Placement placement;
    for (const auto& row : evidence.gpus) {
        Slot slot;
        slot.row = &row;
        slot.index = row.index;
        slot.uuid = row.uuid;
        slot.bus_id = row.bus_id;
        slot.unexpected = expected && row.index && *row.index >= *expected;
        placement.slots.push_back(std::move(slot));
    }
    const int count = expected.value_or(static_cast<int>(evidence.gpus.size()));
    infer_indexes(placement.slots, count);
    if (expected) add_missing(placement.slots, count);
    fill_from_driver(placement.slots, evidence);
    placement.overheard = overhear(evidence, placement.slots);
    place_messages(evidence, placement);
    fill_from_driver(placement.slots, evidence);
    fill_by_elimination(placement.slots, evidence);
    place_unclear(evidence, placement.slots);
    mark_repeats(placement.slots);
    placement.accounted = accounted(placement, expected);
    return placement;
}

}  // namespace cleanslate::agentless
