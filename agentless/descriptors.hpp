#pragma once
// How many hosts at a time this process has descriptors for.

#include <cstddef>

namespace cleanslate::agentless {

// What a process may have open and what it has.
struct Descriptors {
    std::size_t limit = 0;
    std::size_t open = 0;
};

// Raises the soft limit to the hard one, as far as the system lets us, and looks.
Descriptors raise_descriptor_limit();

// The greatest fan-out, at most `wanted` and at least 1, for which there are descriptors: for each host its
// connection and, while it logs in, one to an agent; a few for each shard; some for files that are opened on
// the way. Pure.
int fitting_fanout(int wanted, const Descriptors& descriptors, std::size_t shards);

}  // namespace cleanslate::agentless
