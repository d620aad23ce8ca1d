#include "agentless/nvidia_smi_list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/nvidia_smi_cells.hpp"
#include "agentless/nvidia_smi_lines.hpp"
#include "agentless/nvidia_smi_row.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::size_t most_gpus = 1024;
constexpr std::size_t most_instances = 64;  // of one GPU; there are at most 7 of each kind
constexpr std::size_t most_problems = 64;
constexpr std::size_t longest_problem = 512;

// "... (UUID: GPU-...)": what stands before it, and the uuid; nothing where the text does not end so.
struct Named {
    std::string_view before;
    std::string_view uuid;
};
std::optional<Named> split_uuid(std::string_view text) {
    constexpr std::string_view mark = "(UUID: ";
    const auto at = text.rfind(mark);
    if (at == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
    const auto from = at + mark.size();
    const Named named{trim(text.substr(0, at)), text.substr(from, text.size() - 1 - from)};
    if (!is_uuid(named.uuid)) return std::nullopt;
    return named;
}

// "GPU 0: NVIDIA H200 (UUID: GPU-...)".
std::optional<ListedGpu> read_gpu(std::string_view text) {
    text.remove_prefix(4);
    const auto colon = text.find(": ");
    if (colon == std::string_view::npos) return std::nullopt;
    const auto index = read_index(text.substr(0, colon));
    const auto named = split_uuid(text.substr(colon + 2));
    if (!index || !named || named->before.empty() || !named->uuid.starts_with("GPU-")) return std::nullopt;
    return ListedGpu{*index, bounded(named->before), std::string(named->uuid), {}};
}

// "MIG 1g.10gb     Device  0: (UUID: MIG-...)".
std::optional<MigDevice> read_instance(std::string_view text) {
    text.remove_prefix(4);
    auto named = split_uuid(text);
    if (!named || !named->uuid.starts_with("MIG-") || !named->before.ends_with(':')) return std::nullopt;
    named->before.remove_suffix(1);
    constexpr std::string_view word = " Device ";
    const auto at = named->before.rfind(word);
    if (at == std::string_view::npos) return std::nullopt;
    const auto profile = trim(named->before.substr(0, at));
    const auto device = read_index(trim(named->before.substr(at + word.size())));
    if (profile.empty() || profile.find_first_of(" \t") != std::string_view::npos || !device)
        return std::nullopt;
    return MigDevice{*device, bounded(profile), std::string(named->uuid)};
}

class ListReader {
  public:
    void line(const Line& line) {
        const auto text = trim(line.text);
        if (!line.cut && text.empty()) return;
        const bool is_instance = text.starts_with("MIG ");
        // Instances belong to the GPU right above them: below any other line they belong to none known.
        if (!is_instance) open_ = false;
        const bool taken = !line.cut && (is_instance ? take_instance(text) : take_gpu(text));
        if (!taken) problem(text);
    }

    GpuList finish() {
        if (dropped_ > 0) list_.problems.push_back(fmt::format("{} more lines were not read", dropped_));
        return std::move(list_);
    }

  private:
    bool take_gpu(std::string_view text) {
        if (!text.starts_with("GPU ") || list_.gpus.size() >= most_gpus) return false;
        auto gpu = read_gpu(text);
        if (!gpu) return false;
        const bool again = std::ranges::any_of(list_.gpus, [&](const ListedGpu& other) {
            return other.index == gpu->index || other.uuid == gpu->uuid;
        });
        if (again) return false;
        list_.gpus.push_back(std::move(*gpu));
        open_ = true;
        return true;
    }

    bool take_instance(std::string_view text) {
        if (!open_ || list_.gpus.back().instances.size() >= most_instances) return false;
        auto instance = read_instance(text);
        if (!instance) return false;
        auto& gpu = list_.gpus.back();
        // MIG-GPU-.../7/0 names its GPU.
        if (instance->uuid.starts_with("MIG-GPU-") && !instance->uuid.substr(4).starts_with(gpu.uuid + "/"))
            return false;
        const bool again = std::ranges::any_of(gpu.instances, [&](const MigDevice& other) {
            return other.device == instance->device || other.uuid == instance->uuid;
        });
        if (again) return false;
        gpu.instances.push_back(std::move(*instance));
        return true;
    }

    void problem(std::string_view text) {
        if (list_.problems.size() + 1 < most_problems)
            list_.problems.emplace_back(text.substr(0, longest_problem));
        else
            ++dropped_;
    }

    GpuList list_;
    bool open_ = false;  // the last GPU's instances may follow
    std::size_t dropped_ = 0;
};

}  // namespace

GpuList read_gpu_list(std::string_view out) {
    ListReader reader;
    each_line(out, [&](const Line& line) { reader.line(line); });
    return reader.finish();
}

}  // namespace cleanslate::agentless
