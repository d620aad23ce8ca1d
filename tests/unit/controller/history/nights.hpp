#pragma once
// A history of a test's own, and sweeps to put into it.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "controller/history/history.hpp"
#include "tests/unit/controller/outcomes.hpp"
#include "tests/unit/controller/temporary_folder.hpp"

namespace cleanslate::controller::history::testing {

using namespace controller::testing;

inline constexpr std::int64_t first_night = 1'795'831'200;  // 2026-11-28T02:00:00Z
inline constexpr std::int64_t day = 86'400;

// Of the host's own, so that no two hosts have one GPU.
inline HostOutcome own_gpus(HostOutcome host) {
    if (host.last)
        for (GpuVerdict& gpu : host.last->gpus)
            gpu.uuid = "GPU-" + host.name + "-" + std::to_string(*gpu.index);
    return host;
}
inline HostOutcome clean(std::string name) { return own_gpus(clean_host(std::move(name))); }
inline HostOutcome dirty(std::string name) { return own_gpus(dirty_host(std::move(name))); }
inline HostOutcome sick(std::string name) {
    HostOutcome host = clean(std::move(name));
    host.verdict = host.last->verdict = Verdict::sick;
    host.last->gpus[3].verdict = Verdict::sick;
    host.last->gpus[3].findings.push_back(
        {Severity::sick, "gpu-requires-reset", "its row shows [GPU requires reset]", "reset it"});
    return host;
}

class WithHistory : public ::testing::Test {
  protected:
    std::string file() const { return folder_.file("state/history.db"); }
    Store& store() {
        if (!store_) {
            auto opened = Store::open(file(), Use::record);
            EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
            if (opened) store_ = std::move(*opened);
        }
        return *store_;
    }
    void close() { store_.reset(); }
    // One a night, from `first_night` on.
    SweepId night(std::vector<HostOutcome> hosts, const SweepScope& scope = {"/etc/fleet.yaml", "all"}) {
        return night_of(report_of(std::move(hosts)), scope);
    }
    SweepId night_of(Report report, const SweepScope& scope = {"/etc/fleet.yaml", "all"}) {
        report.started = rfc3339(first_night + nights_++ * day);
        const auto id = record(store(), report, scope, false);
        EXPECT_TRUE(id) << (id ? "" : id.error().message);
        return id.value_or(0);
    }
    std::int64_t integer_of(const std::string& sql) { return store().database().integer_of(sql); }
    std::string text_of(const std::string& sql) { return store().database().text_of(sql); }

    TemporaryFolder folder_;
    std::unique_ptr<Store> store_;
    std::int64_t nights_ = 0;
};

}  // namespace cleanslate::controller::history::testing
