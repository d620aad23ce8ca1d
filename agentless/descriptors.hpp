#pragma once
// How many hosts at a time this process has descriptors for.

#include <cstddef>

namespace cleanslate::agentless {

// What a process may have open and what it has.
struct Descriptors {
    std::size_t limit = 0;
    std::size_t open = 0;
    std::size_t a_host = 2;  // that one host takes: its connection and, while it logs in, one to an agent
};

// Raises the soft limit to the hard one, as far as the system lets us, and looks.
Descriptors raise_descriptor_limit();

// The greatest fan-out, at most `wanted` and at least 1, for which there are descriptors: those of each host,
// a few for each shard, some for files that are opened on the way. Pure.
int fitting_fanout(int wanted, const Descriptors& descriptors, std::size_t shards);

// How many hosts may be under way with this fan-out, those that only wait among them: a thousand more, as far
// as there are descriptors. Where 1 was asked for, which means one after the other, as many as the fan-out.
// Pure.
int fitting_under_way(int asked, int fanout, const Descriptors& descriptors, std::size_t shards);

}  // namespace cleanslate::agentless
