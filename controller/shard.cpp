#include "controller/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/text.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using Environment = std::map<std::string, std::string>;

constexpr const char* remedy = "give --shard K/N, as in --shard 1/4 to --shard 4/4, or --shard auto/N";

std::unexpected<Error> refused(const std::string& message) { return fail("usage", message, remedy); }

std::optional<std::uint64_t> number_in(const Environment& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : parse_number(found->second);
}

bool has(const Environment& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found != environment.end() && !found->second.empty();
}

Result<Shard> checked(std::uint64_t index, std::uint64_t count, const std::string& said) {
    if (count < 1 || count > most_shards)
        return refused(fmt::format("{}: there are from 1 to {} shards", said, most_shards));
    if (index < 1 || index > count)
        return refused(fmt::format("{}: of {} shards there is no number {}", said, count, index));
    return Shard{static_cast<int>(index), static_cast<int>(count)};
}

// As Slurm tells it of the whole array: its tasks are the shards, in their order.
Result<Shard> of_slurm_array(const Environment& environment) {
    const auto id = number_in(environment, "SLURM_ARRAY_TASK_ID");
    const auto count = number_in(environment, "SLURM_ARRAY_TASK_COUNT");
    const auto least = number_in(environment, "SLURM_ARRAY_TASK_MIN");
    const auto most = number_in(environment, "SLURM_ARRAY_TASK_MAX");
    const auto step = number_in(environment, "SLURM_ARRAY_TASK_STEP");
    if (!id || !count || !least || !most)
        return refused(
            "--shard auto: SLURM_ARRAY_TASK_ID, _COUNT, _MIN and _MAX do not tell which task of an array "
            "this is");
    const std::uint64_t pace = step.value_or(1);
    // One task of an array that is submitted again alone would take every host.
    if (*count < 2)
        return refused("--shard auto: an array of one task does not tell how many shards there are");
    if (pace < 1 || *most < *least || (*most - *least) / pace != *count - 1 || (*most - *least) % pace != 0 ||
        *id < *least || *id > *most || (*id - *least) % pace != 0)
        return refused(fmt::format(
            "--shard auto: the {} tasks of the array from {} to {} do not stand evenly, so that they do not "
            "tell which shard {} is",
            *count, *least, *most, *id));
    return checked((*id - *least) / pace + 1, *count, "--shard auto");
}

// The number of this run, from 0, among so many as are given.
Result<Shard> of_index(std::uint64_t count, const std::string& said, const Environment& environment) {
    const bool slurm = has(environment, "SLURM_ARRAY_TASK_ID");
    const bool kubernetes = has(environment, "JOB_COMPLETION_INDEX");
    const std::string both = "SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX";
    if (slurm == kubernetes)
        return refused(fmt::format("--shard {}: {} of {} is set", said, slurm ? "each" : "none", both));
    const std::string name = slurm ? "SLURM_ARRAY_TASK_ID" : "JOB_COMPLETION_INDEX";
    const auto index = number_in(environment, name);
    if (!index || *index >= most_shards)
        return refused(fmt::format("--shard {}: {} is no index from 0 on", said, name));
    return checked(*index + 1, count, fmt::format("--shard {} with {}={}", said, name, *index));
}

}  // namespace

std::string to_string(const Shard& shard) { return fmt::format("{}/{}", shard.index, shard.count); }

Result<Shard> read_shard(std::string_view text, const Environment& environment) {
    if (text == "auto") return of_slurm_array(environment);
    const auto slash = text.find('/');
    const auto before = text.substr(0, slash);
    const auto count = slash == std::string_view::npos ? std::nullopt : parse_number(text.substr(slash + 1));
    const std::string said = printable(text);
    if (before == "auto" && count) return of_index(*count, said, environment);
    const auto index = count ? parse_number(before) : std::nullopt;
    if (!index)
        return refused(fmt::format("--shard wants K/N, auto or auto/N, not '{}'", ellipsize(said, 60)));
    return checked(*index, *count, "--shard " + said);
}

int shard_of(std::string_view host, int count) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, and a last mixing: its low bits alone are not even
    for (const char byte : host) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
    hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
    hash ^= hash >> 33;
    return static_cast<int>(hash % static_cast<std::uint64_t>(count)) + 1;
}

Result<Share> share_of(const Shard& shard, const std::vector<std::string>& names) {
    Share share{shard, names.size(), inventory::fold(names)};
    auto again = inventory::unfold(share.selection);
    auto sorted = names;
    std::ranges::sort(sorted);
    if (again) std::ranges::sort(*again);
    if (!again || *again != sorted || printable(share.selection) != share.selection)
        return fail("usage", "--shard: the names of the hosts do not fold into a list that unfolds again",
                    "rename those with brackets, commas, blanks or control bytes");
    return share;
}

}  // namespace cleanslate::controller
