// From `baseline` to a verdict by it: what is idle on one day is the limit of the next.

#include <gmock/gmock.h>

#include "tests/integration/program.hpp"

namespace cleanslate::testing {
namespace {

using ::testing::HasSubstr;

class Recorded : public ::testing::Test {
  protected:
    void SetUp() override {
        SKIP_WITHOUT_ROOT();
        std::filesystem::create_directory(home_ / "hosts");
        describe("old", "gpus 2\ngpu 0 idle 308\ngpu 1 idle 110\n");
        describe("new", "gpus 2\n");
        describe("held",
                 "gpus 2\n"
                 "process train\n"
                 "  exe /opt/train\n"
                 "  user alice\n"
                 "  memory 0=1000\n");
        describe("sick", "gpus 2\ngpu 1 field remapped_rows.pending Yes\n");
        describe("gone", "gpus 2\nunreachable yes\n");
        fleet_.emplace(std::vector<std::string>{home_ / "hosts"});
        ASSERT_EQ(fleet_->started().status, 0) << fleet_->started().out;
        operator_.emplace(*fleet_);
    }
    void describe(const std::string& name, const std::string& text) const {
        std::ofstream(home_ / ("hosts/" + name + ".host")) << text;
    }
    TemporaryFolder home_;
    std::optional<RunningFleet> fleet_;
    std::optional<Operator> operator_;
};

TEST_F(Recorded, IdleMemoryIsTheLimitOfTheNextCheck) {
    const std::string file = home_ / "idle.yaml";
    EXPECT_EQ(operator_->report({"check", "-l", "old,new"}).status, 1);
    const auto recorded = operator_->run({"baseline", "-l", "old,new", "-o", file});
    EXPECT_EQ(recorded.status, 0) << recorded.out << recorded.err;
    EXPECT_THAT(recorded.out, HasSubstr("4 GPUs of 2 hosts recorded, at 0 to 308 MiB"));
    const auto clean = operator_->report({"check", "-l", "old,new", "--baseline", file});
    EXPECT_EQ(clean.status, 0) << clean.document.dump(1);
    EXPECT_EQ(clean.host("old")["gpus"][0]["limit_mib"], 358);
    EXPECT_EQ(clean.host("new")["gpus"][0]["limit_mib"], 50);
    // A nearer word wins over it.
    EXPECT_EQ(operator_->report({"check", "-l", "old", "--baseline", file, "--max-used", "300MiB"}).status,
              1);
}

TEST_F(Recorded, WhatIsHeldSickOrNotReachedIsLeftOutAndNamed) {
    const std::string file = home_ / "idle.yaml";
    const auto some = operator_->run({"baseline", "-l", "all,!gone", "-o", file});
    EXPECT_EQ(some.status, 1) << some.out << some.err;
    EXPECT_THAT(some.out, HasSubstr("GPU 0 left out: held by pid"));
    EXPECT_THAT(some.out, HasSubstr("GPU 1 left out: row-remap-pending: "));
    EXPECT_THAT(some.out, HasSubstr("6 GPUs of 4 hosts recorded"));
    const auto all = operator_->run({"baseline", "-o", file});
    EXPECT_EQ(all.status, 3) << all.out << all.err;
    EXPECT_THAT(all.out, HasSubstr("gone unreachable, nothing recorded:"));
    // Whoever holds a GPU makes it dirty whatever was recorded.
    EXPECT_EQ(operator_->report({"check", "-l", "held", "--baseline", file}).verdict("held"), "dirty");
}

TEST_F(Recorded, AnOlderFileStaysWhereNothingCanBeRecorded) {
    const std::string file = home_ / "idle.yaml";
    ASSERT_EQ(operator_->run({"baseline", "-l", "new", "-o", file}).status, 0);
    const std::string before = contents(file);
    EXPECT_EQ(operator_->run({"baseline", "-l", "gone", "-o", file}).status, 3);
    EXPECT_EQ(operator_->run({"baseline", "-l", "old,gone", "-o", file, "--deadline", "1ms"}).status, 4);
    EXPECT_EQ(contents(file), before);
}

}  // namespace
}  // namespace cleanslate::testing
