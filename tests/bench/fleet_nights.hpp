#pragma once
// A fleet over many nights: what a sweep of each would have found, and what a history of them must answer.

#include <fmt/core.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "tests/unit/controller/outcomes.hpp"

namespace cleanslate::controller::bench {

using namespace agentless;

inline constexpr std::int64_t first_night = 1'764'554'400;  // 2025-12-01T02:00:00Z
inline constexpr std::int64_t day = 86'400;

// Every hundredth host is dirty at any time, for some nights each; every thousandth is unreachable, and now
// and then a GPU is swapped. What real hosts show besides differs from night to night, too.
class FleetNights {
  public:
    explicit FleetNights(std::size_t hosts) : states_(hosts) {
        for (std::size_t i = 0; i < hosts; ++i) {
            HostOutcome& host = report_.result.hosts.emplace_back(testing::clean_host(name_of(i)));
            host.address = fmt::format("10.{}.{}.{}", i / 62'500, i / 250 % 250, i % 250 + 1);
            host.driver_version = "570.133.20";
            for (GpuVerdict& gpu : host.last->gpus) {
                gpu.uuid = uuid();
                gpu.limit = Mebibytes{100};
                gpu.optional = optional_cells();
            }
        }
        report_.command = "check";
        report_.inventory = "/etc/cleanslate/fleet.yaml";
    }

    static std::string name_of(std::size_t i) { return fmt::format("gpu{:05}", i); }

    // What the next night's sweep finds.
    const Report& next() {
        ++night_;
        report_.started = rfc3339(started());
        report_.took = Milliseconds{60'000 + number(20'000)};
        newly_dirty = newly_clean = newly_unknown = still_dirty = still_unknown = swapped = 0;
        std::size_t dirty = 0;
        for (std::size_t i = 0; i < states_.size(); ++i) {
            change(i);
            dirty += states_[i].verdict == Verdict::dirty ? 1 : 0;
        }
        for (; dirty < states_.size() / 100; ++dirty) leave_something_behind();
        for (std::size_t i = 0; i < states_.size(); ++i) count(i);
        report_.exit_status = 1;
        return report_;
    }
    std::int64_t started() const { return first_night + (night_ - 1) * day; }
    std::int64_t nights() const { return night_; }
    const Report& report() const { return report_; }

    // Of the last night, against the one before.
    std::size_t newly_dirty = 0, newly_clean = 0, newly_unknown = 0, still_dirty = 0, still_unknown = 0,
                swapped = 0;
    // Host-nights on which anybody left anything behind, and how often the first host changed its verdict.
    std::size_t host_nights = 0, changes_of_first = 1;

  private:
    struct State {
        Verdict verdict = Verdict::clean, before = Verdict::clean;
        std::int64_t nights_left = 0;
        bool dirty_before_dark = false;
    };

    std::uint64_t number(std::uint64_t limit) { return random_() % limit; }
    std::string uuid() {
        const std::uint64_t a = random_(), b = random_();
        return fmt::format("GPU-{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", a >> 32, a >> 16 & 0xFFFF, a & 0xFFFF,
                           b >> 48, b & 0xFFFF'FFFF'FFFF);
    }
    static std::vector<OptionalCell> optional_cells() {
        return {{"gpu_recovery_action", "None"},
                {"remapped_rows.pending", "No"},
                {"remapped_rows.failure", "No"},
                {"retired_pages.pending", "[N/A]"},
                {"ecc.errors.uncorrected.volatile.total", "0"},
                {"mig.mode.current", "Disabled"},
                {"mig.mode.pending", "Disabled"},
                {"addressing_mode", "HMM"},
                {"fabric.state", "Completed"},
                {"fabric.status", "Success"},
                {"clocks_event_reasons.hw_slowdown", "Not Active"},
                {"clocks_event_reasons.hw_thermal_slowdown", "Not Active"},
                {"clocks_event_reasons.sw_thermal_slowdown", "Not Active"},
                {"clocks_event_reasons.hw_power_brake_slowdown", "Not Active"},
                {"persistence_mode", "Enabled"},
                {"memory.reserved", "530 MiB"},
                {"driver_version", "570.133.20"}};
    }

    // One night passes.
    void change(std::size_t i) {
        State& state = states_[i];
        HostOutcome& host = report_.result.hosts[i];
        state.before = state.verdict;
        host.took = Milliseconds{300 + number(900)};
        if (state.verdict != Verdict::clean && --state.nights_left <= 0) make_clean(i);
        if (state.verdict == Verdict::clean && number(10'000) == 0) make_unreachable(i);
        if (state.verdict == Verdict::unreachable) return;
        for (GpuVerdict& gpu : host.last->gpus)
            if (gpu.verdict == Verdict::clean) gpu.used = Mebibytes{static_cast<std::int64_t>(number(15))};
        if (state.verdict == state.before && number(100'000) == 0) {
            host.last->gpus[number(8)].uuid = uuid();
            ++swapped;
        }
    }
    void make_clean(std::size_t i) {
        HostOutcome& host = report_.result.hosts[i];
        states_[i].verdict = Verdict::clean;
        host.verdict = host.last->verdict = Verdict::clean;
        host.error.reset();
        host.started = true;
        for (GpuVerdict& gpu : host.last->gpus) {
            gpu.verdict = Verdict::clean;
            gpu.findings.clear();
            gpu.holders.clear();
        }
    }
    void make_unreachable(std::size_t i) {
        HostOutcome& host = report_.result.hosts[i];
        states_[i] = {Verdict::unreachable, states_[i].before, 1 + static_cast<std::int64_t>(number(10)),
                      false};
        host.verdict = Verdict::unreachable;
        host.error =
            Error{"connect_refused", "connect", fmt::format("{}:22: connection refused", host.address),
                  "is sshd running there, and is this its port?"};
    }
    void leave_something_behind() {
        std::size_t i = number(states_.size());
        while (states_[i].verdict != Verdict::clean) i = number(states_.size());
        HostOutcome& host = report_.result.hosts[i];
        states_[i].verdict = Verdict::dirty;
        states_[i].nights_left = 1 + static_cast<std::int64_t>(number(7));
        host.verdict = host.last->verdict = Verdict::dirty;
        const std::string user = fmt::format("user{:02}", number(50) * number(50) / 50);
        const std::size_t gpus = number(2) == 0 ? 8 : 1 + number(4);
        for (std::size_t at = 0; at < gpus; ++at) {
            GpuVerdict& gpu = host.last->gpus[at];
            const auto used = static_cast<std::int64_t>(1000 + number(140'000));
            gpu.verdict = Verdict::dirty;
            gpu.used = Mebibytes{used};
            Holder holder =
                testing::holder(static_cast<Pid>(1000 + number(60'000)), user,
                                fmt::format("/home/{}/venv/bin/python train_{}.py --local-rank {} "
                                            "--port {}",
                                            user, number(40), at, 20'000 + number(10'000)));
            holder.used = Mebibytes{used - 500};
            gpu.holders = {holder};
            gpu.findings = {{Severity::dirty, "memory-in-use",
                             fmt::format("{} MiB used, the limit is 100 MiB", used), "clear the host"},
                            {Severity::dirty, "held", fmt::format("pid {} holds it", holder.key.pid), ""}};
        }
    }
    void count(std::size_t i) {
        const State& state = states_[i];
        const bool first = night_ == 1;
        if (i == 0 && !first && state.verdict != state.before) ++changes_of_first;
        host_nights += state.verdict == Verdict::dirty ? 1 : 0;
        const Verdict before = first ? Verdict::clean : state.before;
        if (state.verdict == Verdict::dirty) ++(before == Verdict::dirty ? still_dirty : newly_dirty);
        if (state.verdict == Verdict::unreachable)
            ++(before == Verdict::unreachable ? still_unknown : newly_unknown);
        if (state.verdict == Verdict::clean && before != Verdict::clean) ++newly_clean;
    }

    std::mt19937_64 random_{4711};
    std::vector<State> states_;
    Report report_;
    std::int64_t night_ = 0;
};

}  // namespace cleanslate::controller::bench
