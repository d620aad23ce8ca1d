#include "agentless/mig.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "agentless/attribution.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

// Drivers before 470 name an instance by its GPU and the kernel's numbers: MIG-GPU-<uuid>/7/0.
struct OldName {
    std::string gpu;
    int gpu_instance = 0, compute_instance = 0;
};
std::optional<OldName> read_old_name(std::string_view uuid) {
    constexpr std::string_view prefix = "MIG-GPU-";
    if (!uuid.starts_with(prefix)) return std::nullopt;
    const auto parts = split(uuid.substr(4), '/');
    if (parts.size() != 3) return std::nullopt;
    const auto gi = parse_number(parts[1]), ci = parse_number(parts[2]);
    if (!gi || !ci || *gi > 1023 || *ci > 1023) return std::nullopt;
    return OldName{std::string(parts[0]), static_cast<int>(*gi), static_cast<int>(*ci)};
}

using Pair = std::pair<int, int>;  // the kernel's numbers of a GPU instance and of a compute instance in it

struct Caps {
    std::map<int, int> of_gpu_instance;  // minor of its device file
    std::map<Pair, int> of_compute_instance;
};

Caps caps_of(const Slot& slot, const Evidence& evidence) {
    Caps caps;
    const auto* gpu = driver_gpu_of(slot, evidence);
    if (gpu == nullptr || !gpu->minor) return caps;
    for (const auto& cap : evidence.mig_caps) {
        if (cap.gpu_minor != *gpu->minor) continue;
        if (cap.compute_instance)
            caps.of_compute_instance[{cap.gpu_instance, *cap.compute_instance}] = cap.cap_minor;
        else
            caps.of_gpu_instance[cap.gpu_instance] = cap.cap_minor;
    }
    return caps;
}

const ListedGpu* listed_gpu(const Slot& slot, const Evidence& evidence) {
    if (!evidence.listed || slot.uuid.empty()) return nullptr;
    const auto found = std::ranges::find(*evidence.listed, slot.uuid, &ListedGpu::uuid);
    return found == evidence.listed->end() ? nullptr : &*found;
}

bool is_open(const Process& process, int cap) {
    return std::ranges::find(process.open_caps, cap) != process.open_caps.end();
}

void add_holder(MigInstance& instance, ProcessKey key) {
    if (std::ranges::find(instance.holders, key) == instance.holders.end()) instance.holders.push_back(key);
}

// Who of the GPU's holders has both of the pair's device files open.
void add_holders_of(Pair pair, const Caps& caps, const std::vector<Holder>& holders, const Evidence& evidence,
                    MigInstance& instance) {
    const auto of_gpu = caps.of_gpu_instance.find(pair.first);
    for (const auto& holder : holders) {
        const Process* process = evidence.find(holder.key.pid);
        if (process == nullptr || process->key != holder.key) continue;
        if (!is_open(*process, caps.of_compute_instance.at(pair))) continue;
        if (of_gpu == caps.of_gpu_instance.end() || is_open(*process, of_gpu->second))
            add_holder(instance, holder.key);
    }
}

// Whom the driver lists on the instance itself.
void add_listed_holders(const std::string& uuid, const std::vector<Holder>& holders, const Evidence& evidence,
                        MigInstance& instance) {
    for (const auto& app : evidence.apps) {
        if (app.uuid != uuid || uuid.empty()) continue;
        const auto seen = witness(app, evidence);
        if (seen.process != nullptr &&
            std::ranges::find(holders, seen.process->key, &Holder::key) != holders.end())
            add_holder(instance, seen.process->key);
    }
}

bool in_order(const MigInstance& a, const MigInstance& b) {
    const auto place = [](const MigInstance& i) {
        return std::tuple(!i.device, i.device.value_or(0), i.gpu_instance.value_or(0),
                          i.compute_instance.value_or(0));
    };
    return place(a) < place(b);
}

}  // namespace

std::string gpu_of_instance(const std::string& uuid, const Evidence& evidence) {
    if (!uuid.starts_with("MIG-")) return {};
    if (const auto old = read_old_name(uuid)) return old->gpu;
    if (evidence.listed)
        for (const auto& gpu : *evidence.listed)
            for (const auto& device : gpu.instances)
                if (device.uuid == uuid) return gpu.uuid;
    return {};
}

std::vector<MigInstance> instances_of(const Slot& slot, const std::vector<Holder>& holders,
                                      const Evidence& evidence) {
    std::vector<MigInstance> instances;
    const auto caps = caps_of(slot, evidence);
    auto left = caps.of_compute_instance;  // pairs that no device of the list was found to be
    const auto join = [&](MigInstance& instance, Pair pair) {
        instance.gpu_instance = pair.first;
        instance.compute_instance = pair.second;
        add_holders_of(pair, caps, holders, evidence, instance);
        left.erase(pair);
    };
    if (const auto* listed = listed_gpu(slot, evidence))
        for (const auto& device : listed->instances) {
            MigInstance instance;
            instance.device = device.device;
            instance.profile = printable(device.profile);
            instance.uuid = printable(device.uuid);
            add_listed_holders(device.uuid, holders, evidence, instance);
            const auto old = read_old_name(device.uuid);
            if (old && left.contains({old->gpu_instance, old->compute_instance}))
                join(instance, {old->gpu_instance, old->compute_instance});
            else if (listed->instances.size() == 1 && left.size() == 1)
                join(instance, Pair(left.begin()->first));
            instances.push_back(std::move(instance));
        }
    for (const auto& [pair, cap] : std::map(left)) {
        MigInstance instance;
        join(instance, pair);
        instances.push_back(std::move(instance));
    }
    std::ranges::stable_sort(instances, in_order);
    return instances;
}

}  // namespace cleanslate::agentless
