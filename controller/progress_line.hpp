#pragma once
// What a sweep under way looks like, as text. No clock, no terminal.

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace cleanslate::controller {

// A host that is begun and not ended.
struct HostUnderWay {
    std::string name;
    std::string doing;
    Milliseconds since{0};  // its beginning
};

struct ProgressState {
    std::size_t total = 0;
    std::size_t done = 0;
    std::size_t not_begun = 0;
    bool verdicts = true;                 // false: an ad-hoc command, counted as done or not asked
    std::array<std::size_t, 5> counts{};  // by Verdict, of those done
    std::size_t not_asked = 0;
    Milliseconds elapsed{0};
    std::optional<double> rate;         // hosts a second; absent: no base for it yet
    std::optional<Milliseconds> left;   // as above
    std::vector<HostUnderWay> slowest;  // begun first of those under way, first one first
    Milliseconds quiet_for{0};          // since a host last began, moved on or ended
};

// "[#####...............] 12/64 hosts: 10 clean, 1 dirty; 5.1/s, 11 s left; 3 s". Where nothing moved for
// three seconds: "12/64 hosts: 10 clean, 1 dirty; 12 s; waiting for gpu07: survey (12 s), gpu09: ...". Of
// that, what fits into `columns`: no terminal shows it in more. The time left is told while hosts wait to
// begin: those that are begun take as long as they take. Safe to print.
std::string progress_line(const ProgressState& state, std::size_t columns, bool color = false);

// Who is unfinished, names that do the same folded, longest first; `rest`: hosts that are not begun. Several
// lines of `columns`, safe to print.
std::string unfinished_text(const std::vector<HostUnderWay>& hosts, std::size_t rest, std::size_t columns);

}  // namespace cleanslate::controller
