#pragma once
// The sweeps that a history has.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/history/history.hpp"

namespace cleanslate::controller::history {

// A sweep in one line.
struct SweepHead {
    SweepId id = 0;
    std::int64_t started = 0;  // seconds since 1970
    Milliseconds took{0};
    std::string command, playbook;  // "check"; "clear", "sweep"
    SweepScope scope;
    bool dry_run = false, declined = false;
    std::string stopped_by;  // "interrupted", "deadline", "max-failures"; empty: it came to its end
    int exit_status = 0;     // of its hosts
    std::array<std::size_t, 5> hosts{};  // by Verdict, without those that were never begun
    std::size_t not_begun = 0;
    std::array<std::size_t, 5> gpus{};  // by Verdict; never unreachable
    std::string program;                // the version that recorded it
};

struct SweepQuery {
    std::optional<std::size_t> last;       // so many of the newest; absent: all
    std::optional<std::int64_t> since;     // begun then or later
    std::optional<std::string> inventory;  // as SweepScope::inventory
};
// The newest first.
Result<std::vector<SweepHead>> sweeps(Store& store, const SweepQuery& query);

// "37", "last". Errors of kind "history_no_sweep".
Result<SweepHead> find_sweep(Store& store, std::string_view word);
Result<SweepHead> find_sweep(Store& store, SweepId id);
// The one before it of the same scope; absent: it is the first.
Result<std::optional<SweepHead>> predecessor_of(Store& store, const SweepHead& sweep);

}  // namespace cleanslate::controller::history
