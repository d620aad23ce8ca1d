#include "agentless/gpu_use.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/lineage.hpp"
#include "agentless/mig.hpp"
#include "agentless/nvidia_smi_cells.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

bool readable(const Process& process) { return process.fds_readable && process.maps_readable; }

// What two claim is neither's.
void claim(std::map<int, std::string>& map, int number, const std::string& uuid) {
    const auto [there, is_new] = map.emplace(number, uuid);
    if (!is_new && there->second != uuid) there->second.clear();
}

// Of the GPU, where the driver names a MIG instance; empty: it cannot be told.
std::string gpu_named(const std::string& uuid, const Evidence& evidence) {
    return lowered(uuid.starts_with("MIG-") ? gpu_of_instance(uuid, evidence) : uuid);
}

}  // namespace

GpuUses::GpuUses(const Evidence& evidence) : evidence_(evidence) {
    if (evidence.driver_gpus)
        for (const auto& gpu : *evidence.driver_gpus)
            if (gpu.minor) claim(uuid_of_minor_, *gpu.minor, lowered(gpu.uuid));
    for (const auto& [minor, uuid] : uuid_of_minor_)
        if (!uuid.empty()) minor_of_uuid_.emplace(uuid, minor);
    for (const auto& row : evidence.gpus)
        if (row.index) claim(uuid_of_index_, *row.index, lowered(row.uuid));
    read_rows();
}

void GpuUses::read_rows() {
    std::set<Pid> living;
    for (const auto& process : evidence_.processes)
        if (!has_ended(process)) living.insert(process.key.pid);
    const auto& query = evidence_.app_query;
    whole_list_ = query.exit_status == 0 && !query.timed_out && evidence_.app_problems.empty() &&
                  evidence_.app_name_rests.empty();
    for (const auto& app : evidence_.apps) {
        const auto uuid = gpu_named(app.uuid, evidence_);
        if (!app.pid) {
            whole_list_ = false;
        } else if (living.contains(*app.pid) && lowered(app.name) != "[not found]") {
            auto& rows = rows_[*app.pid];
            if (uuid.empty())
                rows.use.unplaced = true;
            else
                rows.use.uuids.insert(uuid);
            if (app.used) rows.used = rows.used.value_or(Mebibytes{}) + *app.used;
        } else if (evidence_.proc_hides_others) {
            foreign_rows_ = true;
        } else {
            add_ghost(*app.pid, uuid);
        }
    }
}

void GpuUses::add_ghost(Pid pid, const std::string& uuid) {
    const auto minor = minor_of_uuid_.find(uuid);
    if (minor == minor_of_uuid_.end())
        homeless_ghost_ = true;
    else
        ghost_of_minor_.emplace(minor->second, pid);
}

void GpuUses::add_open(const std::set<int>& minors, GpuUse& use) const {
    for (const int minor : minors) {
        const auto uuid = uuid_of_minor_.find(minor);
        if (uuid == uuid_of_minor_.end() || uuid->second.empty())
            use.unplaced = true;
        else
            use.uuids.insert(uuid->second);
    }
}

GpuUse GpuUses::of(const Process& process) const {
    GpuUse use;
    if (has_ended(process)) return use;
    const auto rows = rows_.find(process.key.pid);
    if (rows != rows_.end()) {
        use = rows->second.use;
        if (whole_list_) return use;
    }
    const bool opens = !process.open_minors.empty();
    if (rows == rows_.end()) {
        for (const int minor : process.open_minors)
            if (ghost_of_minor_.contains(minor)) add_open({minor}, use);
        if (homeless_ghost_ && opens) use.unplaced = true;
    }
    // Descriptors are inherited, mappings are not: what is mapped it uses itself.
    add_open({process.mapped_minors.begin(), process.mapped_minors.end()}, use);
    const bool heir = heir_of(process).has_value() || (homeless_ghost_ && opens);
    if (!heir || !whole_list_ || foreign_rows_)
        add_open({process.open_minors.begin(), process.open_minors.end()}, use);
    if (!readable(process)) use.unplaced = true;
    return use;
}

std::optional<Mebibytes> GpuUses::used_by(const Process& process) const {
    const auto rows = rows_.find(process.key.pid);
    return rows == rows_.end() ? std::nullopt : rows->second.used;
}

std::optional<Pid> GpuUses::heir_of(const Process& process) const {
    if (is_listed(process)) return std::nullopt;
    for (const int minor : process.open_minors)
        if (const auto ghost = ghost_of_minor_.find(minor); ghost != ghost_of_minor_.end())
            return ghost->second;
    return std::nullopt;
}

std::optional<std::string> GpuUses::uuid_of(const std::string& index_or_uuid) const {
    const auto index = parse_number(index_or_uuid);
    if (!index) return index_or_uuid.empty() ? std::nullopt : std::optional(lowered(index_or_uuid));
    for (const auto& [number, uuid] : uuid_of_index_)
        if (number >= 0 && static_cast<std::uint64_t>(number) == *index && !uuid.empty()) return uuid;
    return std::nullopt;
}

std::string GpuUses::name_of(const std::string& uuid) const {
    for (const auto& [index, name] : uuid_of_index_)
        if (name == uuid) return fmt::format("GPU {}", index);
    return printable(uuid);
}

}  // namespace cleanslate::agentless
