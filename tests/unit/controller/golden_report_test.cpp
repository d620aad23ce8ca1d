#include "golden_report.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cleanslate::controller::testing {
namespace {

TEST(GoldenReport, HasEveryVerdict) {
    const Summary summary = summarize(golden_report());
    for (const std::size_t count : summary.hosts) EXPECT_GT(count, 0u);
    for (std::size_t verdict = 0; verdict < 4; ++verdict) EXPECT_GT(summary.gpus[verdict], 0u);
    for (const std::size_t count : summarize(golden_run()).asked) EXPECT_GT(count, 0u);
}

TEST(GoldenReport, HasEveryResultOfASignalAndEveryKindOfCommand) {
    std::set<SignalResult> results;
    std::set<CommandAction::Kind> kinds;
    std::set<int> ends;  // planned, withheld, not sent, not ended, failed, ok
    for (const HostOutcome& host : golden_report().result.hosts) {
        for (const SignalAction& action : host.signals) results.insert(action.result);
        for (const CommandAction& action : host.commands) {
            kinds.insert(action.kind);
            ends.insert(action.withheld   ? 0
                        : action.not_sent ? 1
                        : action.planned  ? 2
                                          : (action.ran_to_end ? 1 : 0) + (action.ok ? 1 : 0) + 3);
        }
    }
    EXPECT_EQ(results.size(), 8u);
    EXPECT_EQ(kinds.size(), 7u);
    EXPECT_EQ(ends.size(), 6u);
}

TEST(GoldenReport, HasEveryKindOfHolder) {
    bool is_protected = false, ghost = false, inherited = false, foreign = false, without_device = false,
         without_pid = false, in_unit = false, opener = false;
    for (const HostOutcome& host : golden_report().result.hosts) {
        if (!host.last) continue;
        opener |= !host.last->openers.empty();
        for (const GpuVerdict& gpu : host.last->gpus) {
            for (const Holder& holder : gpu.holders) {
                is_protected |= holder.is_protected;
                ghost |= holder.ghost;
                inherited |= holder.inherited;
                foreign |= holder.foreign_pid;
                without_device |= holder.without_device;
                without_pid |= holder.key.pid == 0;
                in_unit |= holder.unit.has_value();
            }
        }
    }
    EXPECT_TRUE(is_protected && ghost && inherited && foreign && without_device && without_pid && in_unit &&
                opener);
}

TEST(GoldenReport, HasALongNameAndAHostOfSixteenGpus) {
    EXPECT_EQ(long_host_name.size(), 63u);
    std::size_t most = 0;
    for (const HostOutcome& host : golden_report().result.hosts)
        if (host.last) most = std::max(most, host.last->gpus.size());
    EXPECT_EQ(most, 16u);
}

}  // namespace
}  // namespace cleanslate::controller::testing
