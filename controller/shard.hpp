#pragma once
// A share of the selected hosts, for one of several runs that have them all between them: --shard.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cleanslate::controller {

inline constexpr int most_shards = 10'000;

struct Shard {
    int index = 1;  // from 1 to count
    int count = 1;
    bool operator==(const Shard&) const = default;
};
std::string to_string(const Shard& shard);  // "2/4"

// What a report of a shard is a part of: merging finds by it which hosts are missing.
struct Share {
    Shard shard;
    std::size_t hosts_in_all = 0;  // at least one
    std::string selection;         // their names, folded
    bool operator==(const Share&) const = default;
};

// "2/4": the second of four. "auto": what Slurm says of this task of an array, "auto/4" the same with the
// number of shards given: the first of them is task 0 of a Slurm array, or index 0 of an indexed Job of
// Kubernetes. Errors, of kind "usage": anything else, and an environment that does not say it whole.
Result<Shard> read_shard(std::string_view text, const std::map<std::string, std::string>& environment);

// Which of `count` shards a host belongs to, from 1. By its name alone: it is the same whoever else is
// selected, on every machine and in every version.
int shard_of(std::string_view host, int count);

// Every name is in the selection that unfolds again. Errors have kind "usage".
Result<Share> share_of(const Shard& shard, const std::vector<std::string>& names);

}  // namespace cleanslate::controller
