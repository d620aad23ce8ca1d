#pragma once
// A host's course over time.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/history/diff.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller::history {

// Sweeps in a row that found the host in one state.
struct Stretch {
    agentless::Verdict verdict = agentless::Verdict::unknown;
    SweepId first = 0, last = 0;
    std::int64_t from = 0, to = 0;  // when the first and the last of them began
    std::optional<std::int64_t>
        until;  // when the first sweep began that found another state; absent: none yet
    std::size_t sweeps = 0;
    std::string why;                    // as HostChange, of the last of them
    std::vector<StoredGpu> gpus;        // not clean, of the last of them
    std::vector<StoredHolder> holders;  // of the last of them
};

struct Course {
    std::string host;
    std::size_t sweeps = 0;          // that looked at it
    std::vector<Stretch> stretches;  // the newest first
    // Gone, new, swapped or in another place, with the sweep that saw it first; the newest first.
    std::vector<std::pair<SweepId, GpuChange>> gpus;
};

// Over all sweeps, whatever their scope, in the order in which they began. Hosts in natural order; those
// that no sweep looked at in this time are left out.
Result<std::vector<Course>> courses(Store& store, const std::vector<std::string>& hosts,
                                    std::optional<std::int64_t> since);

// Every host that any sweep had.
Result<std::vector<std::string>> known_hosts(Store& store);

std::string courses_json(const std::vector<Course>& courses);
void courses_text(Page& page, const std::vector<Course>& courses);

}  // namespace cleanslate::controller::history
