#pragma once
// Who leaves most behind.

#include <optional>
#include <string>
#include <vector>

#include "controller/history/sweeps.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller::history {

// What was found of one user, of one command or on one host: processes that no rule protects and that held a
// GPU, had its device files open, or were signalled.
struct TopRow {
    std::string name;             // empty: not observed
    std::size_t host_nights = 0;  // hosts on which that was so, each day (UTC) anew
    std::size_t hosts = 0;        // different ones
    // Of what they held at the end of the sweep, as the driver attributes it: over all host-nights, of each
    // the most; and the most on one. What a sweep has ended held nothing any more.
    std::int64_t mib_nights = 0, most_mib = 0;
};

struct Top {
    std::int64_t since = 0;
    std::size_t sweeps = 0;
    std::vector<TopRow> users, commands, hosts;  // most host-nights first, then most MiB
};

Result<Top> top(Store& store, std::int64_t since, std::size_t most);

std::string top_json(const Top& top);
void top_text(Page& page, const Top& top);

}  // namespace cleanslate::controller::history
