// Up to which memory a GPU is clean, and what is said about it.

#include "agentless/limits.hpp"

#include <gtest/gtest.h>

#include "tests/support/judging.hpp"

namespace cleanslate::agentless {
namespace {

using testing::codes;
using testing::Scene;
using testing::uuid_of;

std::shared_ptr<Baseline> baseline_of(int gpu, std::int64_t mib, const std::string& driver = "") {
    auto baseline = std::make_shared<Baseline>();
    baseline->gpus[uuid_of(gpu)] = {"gpu01", gpu, Mebibytes{mib}, driver};
    return baseline;
}

TEST(Limit, IsWhatWasSetElseTheBaselinesElseTheDefault) {
    Evidence evidence;
    Expectations expectations;
    using enum Limit::Source;
    EXPECT_EQ(limit_for(uuid_of(0), evidence, expectations).most, Mebibytes{100});
    evidence.driver_version = "470.57.02";
    EXPECT_EQ(limit_for(uuid_of(0), evidence, expectations).most, Mebibytes{400});
    expectations.baseline = baseline_of(0, 297);
    EXPECT_EQ(limit_for(uuid_of(0), evidence, expectations).most, Mebibytes{347});
    EXPECT_EQ(limit_for(uuid_of(1), evidence, expectations).source, before_510);
    expectations.max_used = Mebibytes{10};
    EXPECT_EQ(limit_for(uuid_of(0), evidence, expectations).most, Mebibytes{10});
}

TEST(DriverVersion, IsBefore510ByItsBranch) {
    EXPECT_EQ(is_before_510("470.57.02"), true);
    EXPECT_EQ(is_before_510("390.116"), true);
    EXPECT_EQ(is_before_510("509.99"), true);
    EXPECT_EQ(is_before_510("510.39.01"), false);
    EXPECT_EQ(is_before_510("580.65.06"), false);
}

// "58" may be the beginning of "580.65.06": half a version must not raise the limit.
TEST(DriverVersion, ThatIsNotWholeLeavesTheUsualLimit) {
    for (const auto* text :
         {"",         "x",        "0.1",    ".470",    "-470",    "470x.1",     "58",        "5",
          "5.80",     "47.57.02", "080.1",  "080.12",  "470",     "470.",       "470.5",     "470.57.",
          "470.57.x", "470..02",  "+70.57", " 470.57", "4700.57", "470.57.02 ", "470.57,02", "[N/A]"}) {
        EXPECT_EQ(is_before_510(text), std::nullopt) << text;
        Evidence evidence;
        evidence.driver_version = text;
        const auto limit = limit_for(uuid_of(0), evidence, {});
        EXPECT_EQ(limit.most, default_limit) << text;
        EXPECT_EQ(limit.source, Limit::Source::usual) << text;
    }
}

TEST(OldDriver, CountsReservedMemoryInAndSaysSoOnce) {
    Scene scene(8);
    scene.evidence().driver_version = "470.57.02";
    for (int i = 0; i < 8; ++i) scene.used(i, 308);
    const auto host = agentless::judge(scene.evidence(), {});
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.findings), "reserved-counted-in:note");
    EXPECT_EQ(host.gpus[0].limit, Mebibytes{400});
    scene.used(3, 93);
    EXPECT_EQ(agentless::judge(scene.evidence(), {}).gpus[3].verdict, Verdict::dirty);
}

TEST(OldDriver, HasTheUsualLimitWhereOneWasSetAndNoNote) {
    Scene scene(1);
    scene.evidence().driver_version = "470.57.02";
    Expectations set;
    set.max_used = Mebibytes{100};
    auto host = agentless::judge(scene.evidence(), set);
    EXPECT_EQ(codes(host.gpus[0].findings), "");
    EXPECT_EQ(host.gpus[0].limit, Mebibytes{100});
    scene.used(0, 101);
    EXPECT_EQ(agentless::judge(scene.evidence(), set).verdict, Verdict::dirty);
}

TEST(Baseline, IsTheLimitOfItsGpusAndTheOthersSayThatTheyAreNotInIt) {
    Scene scene(2);
    scene.used(0, 350).used(1, 50);
    Expectations expectations;
    expectations.baseline = baseline_of(0, 300);
    auto host = agentless::judge(scene.evidence(), expectations);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(host.gpus[0].limit, Mebibytes{350});
    EXPECT_EQ(codes(host.gpus[0].findings), "");
    EXPECT_EQ(codes(host.gpus[1].findings), "not-in-baseline:note");
    scene.used(0, 1);
    EXPECT_EQ(agentless::judge(scene.evidence(), expectations).gpus[0].verdict, Verdict::dirty);
    expectations.max_used = Mebibytes{400};
    host = agentless::judge(scene.evidence(), expectations);
    EXPECT_EQ(host.verdict, Verdict::clean);
    EXPECT_EQ(codes(host.gpus[1].findings), "");
}

TEST(Baseline, OfAnotherDriverIsSaidOnceForTheHost) {
    Scene scene(2);
    scene.evidence().driver_version = "580.65.06";
    Expectations expectations;
    auto baseline = baseline_of(0, 0, "570.1");
    baseline->gpus[uuid_of(1)] = {"gpu01", 1, Mebibytes{0}, "570.1"};
    expectations.baseline = baseline;
    auto host = agentless::judge(scene.evidence(), expectations);
    ASSERT_EQ(codes(host.findings), "baseline-other-driver:note");
    EXPECT_EQ(host.findings[0].text, "the baseline was recorded with driver 570.1, this is 580.65.06");
    scene.evidence().driver_version = "570.1";
    EXPECT_EQ(codes(agentless::judge(scene.evidence(), expectations).findings), "");
    scene.evidence().driver_version = "";
    EXPECT_EQ(codes(agentless::judge(scene.evidence(), expectations).findings), "");
}

TEST(Limit, OfAGpuWithoutARowIsAbsent) {
    Scene scene(2);
    scene.evidence().gpus.pop_back();
    const auto host = agentless::judge(scene.evidence(), {});
    ASSERT_EQ(host.gpus.size(), 2u);
    EXPECT_EQ(host.gpus[0].limit, Mebibytes{100});
    EXPECT_EQ(host.gpus[1].limit, std::nullopt);
}

}  // namespace
}  // namespace cleanslate::agentless
