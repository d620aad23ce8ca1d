#include "controller/history/gpu_moves.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace cleanslate::controller::history {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& value) {
    return value.is_string() ? value.get<std::string>() : std::string{};
}

bool same_place(const KnownGpu& a, const KnownGpu& b) {
    if (!a.bus_id.empty() && !b.bus_id.empty()) return a.bus_id == b.bus_id;
    return a.index && a.index == b.index;
}

GpuPlace place_of(const std::string& host, const KnownGpu& gpu) { return {host, gpu.index, gpu.bus_id}; }

const KnownGpu* in_place_of(const KnownGpu& gpu, const std::vector<KnownGpu>& gpus) {
    const auto found =
        std::ranges::find_if(gpus, [&](const KnownGpu& other) { return same_place(gpu, other); });
    return found == gpus.end() ? nullptr : &*found;
}

// Those that left their place, and those that came to one: in `uuid_before` who was there.
struct Mover {
    GpuChange change;
    bool with_host = false;  // its host came or went as a whole
};
struct Traffic {
    std::multimap<std::string, Mover> left, came;  // by uuid
};

void see_who_left(const HostGpus& host, Traffic& traffic) {
    for (const KnownGpu& gpu : host.before) {
        if (gpu.uuid.empty()) continue;
        const auto still = std::ranges::find(host.now, gpu.uuid, &KnownGpu::uuid);
        if (still != host.now.end() && same_place(gpu, *still)) continue;
        const KnownGpu* const there = in_place_of(gpu, host.now);
        if (still == host.now.end() && there != nullptr && there->uuid.empty())
            continue;  // it may be the same
        GpuChange change{gpu.uuid, gpu.name, place_of(host.host, gpu), {}, {}};
        traffic.left.emplace(gpu.uuid, Mover{std::move(change), host.now.empty()});
    }
}

void see_who_came(const HostGpus& host, Traffic& traffic) {
    for (const KnownGpu& gpu : host.now) {
        if (gpu.uuid.empty()) continue;
        const auto before = std::ranges::find(host.before, gpu.uuid, &KnownGpu::uuid);
        if (before != host.before.end() && same_place(gpu, *before)) continue;
        const KnownGpu* const there = in_place_of(gpu, host.before);
        // One that did not say its uuid before may be this one.
        if (before == host.before.end() && there != nullptr && there->uuid.empty()) continue;
        GpuChange change{gpu.uuid, gpu.name, {}, place_of(host.host, gpu), {}};
        if (there != nullptr) change.uuid_before = there->uuid;
        traffic.came.emplace(gpu.uuid, Mover{std::move(change), host.before.empty()});
    }
}

}  // namespace

std::vector<KnownGpu> read_gpu_set(std::string_view json) {
    std::vector<KnownGpu> gpus;
    const Json list = Json::parse(json, nullptr, false);
    if (!list.is_array()) return gpus;
    for (const Json& gpu : list) {
        if (!gpu.is_array() || gpu.size() != 4) continue;
        const bool numbered = gpu[0].is_number_unsigned() && gpu[0].get<std::uint64_t>() < 1'000'000;
        gpus.push_back({numbered ? std::optional(gpu[0].get<int>()) : std::nullopt, text_of(gpu[1]),
                        text_of(gpu[2]), text_of(gpu[3])});
    }
    return gpus;
}

void compare_gpus(const std::vector<HostGpus>& hosts, Diff& diff) {
    Traffic traffic;
    for (const HostGpus& host : hosts) {
        see_who_left(host, traffic);
        see_who_came(host, traffic);
    }
    // Who moved first: the place that it left may have another GPU now, which replaced nobody.
    std::erase_if(traffic.came, [&](auto& arrival) {
        const auto from = traffic.left.find(arrival.first);
        if (from == traffic.left.end()) return false;
        GpuChange change = std::move(arrival.second.change);
        change.before = from->second.change.before;
        change.uuid_before.clear();
        diff.gpus_moved.push_back(std::move(change));
        traffic.left.erase(from);
        return true;
    });
    for (auto& [uuid, mover] : traffic.came) {
        const auto replaced = traffic.left.find(mover.change.uuid_before);
        if (replaced == traffic.left.end()) {
            mover.change.uuid_before.clear();
            if (!mover.with_host) diff.gpus_new.push_back(std::move(mover.change));
        } else {
            mover.change.before = replaced->second.change.before;
            traffic.left.erase(replaced);
            diff.gpus_swapped.push_back(std::move(mover.change));
        }
    }
    for (auto& [uuid, mover] : traffic.left)
        if (!mover.with_host) diff.gpus_gone.push_back(std::move(mover.change));
    for (auto* list : {&diff.gpus_gone, &diff.gpus_new, &diff.gpus_swapped, &diff.gpus_moved})
        std::ranges::stable_sort(*list, {}, [](const GpuChange& change) {
            const GpuPlace& place = change.now ? *change.now : *change.before;
            return std::pair(place.host, place.index);
        });
}

}  // namespace cleanslate::controller::history
