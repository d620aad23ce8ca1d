#include "controller/history/report_parts.hpp"

#include <gmock/gmock.h>

#include <random>

#include "controller/json_report.hpp"
#include "nights.hpp"
#include "tests/unit/controller/random_report.hpp"

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::HasSubstr;

std::string json_of(const Report& report) {
    std::string text;
    write_json(report, true, [&](std::string_view piece) { text += piece; });
    return text;
}

// Each GPU with a uuid that nothing else resembles; `fleet` makes other ones, `night` what changes every
// night.
std::vector<HostOutcome> hosts(std::size_t count, std::int64_t night = 0, unsigned fleet = 1) {
    std::mt19937_64 random(fleet);
    std::vector<HostOutcome> hosts;
    for (std::size_t i = 0; i < count; ++i) {
        hosts.push_back(clean_host("gpu" + std::to_string(i)));
        for (GpuVerdict& gpu : hosts.back().last->gpus) gpu.uuid = "GPU-" + std::to_string(random());
        hosts.back().took += Milliseconds{(night * 7919 + static_cast<std::int64_t>(i) * 31) % 1000};
    }
    return hosts;
}

class Parts : public WithHistory {
  protected:
    Report load(SweepId id) {
        auto report = load_report(store(), id);
        EXPECT_TRUE(report) << (report ? "" : report.error().message);
        return report.value_or(Report{});
    }
};

TEST_F(Parts, GiveBackTheReport) {
    Report report = golden_report();
    const SweepId id = night_of(report);
    report.started = rfc3339(first_night);
    std::string masked;  // as it was recorded
    write_json(report, false, [&](std::string_view piece) { masked += piece; });
    EXPECT_EQ(json_of(load(id)), masked);
}

TEST_F(Parts, GiveBackWhateverASweepCouldLeaveBehind) {
    RandomReports random(20'261'130);
    for (int i = 0; i < 60; ++i) {
        const Report report = random.next();
        const auto id = record(store(), report, {"i", "all"}, true);
        ASSERT_TRUE(id) << id.error().message;
        EXPECT_EQ(json_of(load(*id)), json_of(report));
    }
}

TEST_F(Parts, HoldSomeHostsEach) {
    const SweepId id = night(hosts(200));
    EXPECT_EQ(integer_of("SELECT count(*) FROM parts"), 1 + 4);
    EXPECT_EQ(integer_of("SELECT sum(hosts) FROM parts"), 200);
    EXPECT_EQ(integer_of("SELECT sum(bytes) FROM parts"),
              static_cast<std::int64_t>(json_of(load(id)).size() - 1 - 3 * 2 - 4))
        << "all but what stands between them, and the end";
}

TEST_F(Parts, OfLargeHostsHoldFewer) {
    std::vector<HostOutcome> large = hosts(5);
    for (HostOutcome& host : large) host.last->openers.push_back(holder(5, "bob", std::string(700'000, 'x')));
    const SweepId id = night(large);
    EXPECT_EQ(integer_of("SELECT count(*) FROM parts"), 1 + 5);
    EXPECT_EQ(load(id).result.hosts.size(), 5u);
}

TEST_F(Parts, TakeABaseOfTheirOwnOnceTheyHaveLittleInCommonWithTheOld) {
    night(hosts(64));
    for (std::int64_t salt = 1; salt < 5; ++salt) night(hosts(64, salt));
    EXPECT_EQ(integer_of("SELECT count(*) FROM bases"), 2) << "one of the head, one of the hosts";
    const SweepId changed = night(hosts(64, 5, 2));
    EXPECT_EQ(integer_of("SELECT count(*) FROM bases"), 3);
    night(hosts(64, 6, 2));
    EXPECT_EQ(integer_of("SELECT count(*) FROM bases"), 3);
    EXPECT_EQ(json_of(load(changed)).find(load(1).result.hosts[63].last->gpus[7].uuid), std::string::npos);
}

TEST_F(Parts, ThatAreDamagedOrMissingAreSaid) {
    const SweepId id = night(hosts(100));
    const auto refusal = [&](const std::string& change) {
        const auto copy = [&] {
            store().database().execute("PRAGMA wal_checkpoint(TRUNCATE)");
            return contents_of(file());
        };
        const std::string whole = copy();
        store().database().execute(change.c_str());
        const auto loaded = load_report(store(), id);
        (void)copy();
        close();
        put(file(), whole);
        EXPECT_FALSE(loaded) << change;
        return loaded ? std::string() : loaded.error().message;
    };
    EXPECT_THAT(refusal("UPDATE parts SET packed = x'00' WHERE part = 1"), HasSubstr("no packed text"));
    EXPECT_THAT(refusal("UPDATE bases SET packed = zeroblob(40)"), HasSubstr("no packed text"));
    EXPECT_THAT(refusal("DELETE FROM parts WHERE part = 1"), HasSubstr("missing"));
    EXPECT_THAT(refusal("DELETE FROM parts WHERE part = (SELECT max(part) FROM parts)"),
                HasSubstr("of its 100 hosts"));
    EXPECT_THAT(refusal("DELETE FROM parts"), HasSubstr("is not in it"));
    EXPECT_THAT(refusal("UPDATE parts SET base = (SELECT max(id) FROM bases)"), HasSubstr("damaged"));
    EXPECT_EQ(load(id).result.hosts.size(), 100u);
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
