// A driver that never comes back, and processes that never let themselves be read: each host still ends in
// time, says what it saw, and gets no second stuck process with the next look.

#include <set>

#include "tests/integration/program.hpp"

namespace cleanslate::testing {
namespace {

using simulated::Descriptions;

const std::string worker =
    "gpus 2\n"
    "process worker\n"
    "    exe /opt/serve/bin/python3\n"
    "    user alice\n"
    "    memory 1=4096\n";

class Hung : public ::testing::Test {
  protected:
    void SetUp() override {
        SKIP_WITHOUT_ROOT();
        hosts_.add("clean", "gpus 2\n");
    }
    void up() {
        fleet_.emplace(std::vector<std::string>{hosts_.folder()});
        ASSERT_EQ(fleet_->started().status, 0) << fleet_->started().out;
        operator_.emplace(*fleet_);
    }
    // With so many seconds for each survey.
    Report check(int timeout) {
        const auto report = operator_->report({"check", "--timeout", std::to_string(timeout) + "s"});
        EXPECT_EQ(report.status, 3) << report.err;
        EXPECT_EQ(report.verdict("clean"), "clean");
        EXPECT_LT(report.host("clean")["seconds"], timeout - 0.5) << "delayed by a host that hangs";
        EXPECT_LT(report.took, std::chrono::seconds(timeout + 8));
        return report;
    }
    // Everything on that host that is in state D, but for what the description names.
    std::set<int> stuck_on(const std::string& host) const {
        std::set<int> pids;
        for (const auto& process : fleet_->processes())
            if (process.host == host && process.state == 'D' && process.name == "-") pids.insert(process.pid);
        return pids;
    }
    void wait_until_stuck(const std::string& host, const std::string& name) const {
        ASSERT_TRUE(simulated::comes_true([&] { return fleet_->find(host, name).state == 'D'; }));
    }
    // What could be read is in the report, whatever could not.
    void expect_what_was_read(const Report& report, const std::string& host) const {
        const auto& gpus = report.host(host)["gpus"];
        ASSERT_EQ(gpus.size(), 2u) << report.host(host).dump(1);
        EXPECT_GE(gpus[1]["used_mib"], 4096);
        ASSERT_EQ(gpus[1]["holders"].size(), 1u) << gpus[1];
        EXPECT_EQ(gpus[1]["holders"][0]["pid"], fleet_->find(host, "worker").pid);
        EXPECT_EQ(gpus[1]["holders"][0]["exe"], "/opt/serve/bin/python3");
    }
    Descriptions hosts_;
    std::optional<RunningFleet> fleet_;
    std::optional<Operator> operator_;
};

TEST_F(Hung, AFrozenDriverEndsInTimeAndTheNextSweepStartsNoSecondOne) {
    if (!simulated::has_freezer()) GTEST_SKIP() << "this machine has no v1 freezer";
    hosts_.add("frozen", worker + "driver frozen\n");
    up();
    // The survey gives nvidia-smi three seconds of ten, and needs two more to give it up.
    const auto first = check(10);
    EXPECT_EQ(first.verdict("frozen"), "unknown");
    EXPECT_TRUE(first.has_finding("frozen", "driver-hung", "dmesg")) << first.host("frozen").dump(1);
    const auto stuck = stuck_on("frozen");
    EXPECT_EQ(stuck.size(), 1u);
    const auto second = check(10);
    EXPECT_EQ(second.verdict("frozen"), "unknown");
    ASSERT_FALSE(stuck.empty());
    EXPECT_TRUE(second.has_finding("frozen", "driver-hung", std::to_string(*stuck.begin())))
        << second.host("frozen").dump(1);
    EXPECT_EQ(stuck_on("frozen"), stuck);
}

TEST_F(Hung, UnreadableMapsCostNothingThatCouldBeRead) {
    if (!simulated::has_fuse()) GTEST_SKIP() << "this machine has no FUSE";
    hosts_.add("maps", worker + "    unreadable maps\n");
    up();
    wait_until_stuck("maps", "worker");
    const auto report = check(6);
    EXPECT_EQ(report.verdict("maps"), "unknown");
    const auto pid = std::to_string(fleet_->find("maps", "worker").pid);
    EXPECT_TRUE(report.has_finding("maps", "driver-hung", pid)) << report.host("maps").dump(1);
    expect_what_was_read(report, "maps");
}

TEST_F(Hung, AnUnreadableCommandLineKeepsOneReaderAndTheNextSweepStartsNoSecondOne) {
    if (!simulated::has_fuse() || !simulated::has_freezer())
        GTEST_SKIP() << "this machine has no FUSE or no v1 freezer";
    hosts_.add("cmdline", worker + "    unreadable cmdline\n    readers frozen\n");
    up();
    wait_until_stuck("cmdline", "worker");
    const auto pid = std::to_string(fleet_->find("cmdline", "worker").pid);
    std::set<int> stuck;
    for (const bool again : {false, true}) {
        const auto report = check(6);
        EXPECT_EQ(report.verdict("cmdline"), "unknown");
        EXPECT_TRUE(report.has_finding("cmdline", "driver-hung", pid)) << report.host("cmdline").dump(1);
        expect_what_was_read(report, "cmdline");
        EXPECT_TRUE(!again || stuck_on("cmdline") == stuck) << "a second reader hangs";
        stuck = stuck_on("cmdline");
        EXPECT_FALSE(stuck.empty());
    }
}

// The driver answers what a verdict needs, and hangs in what is only worth knowing.
TEST_F(Hung, OptionalEvidenceThatNeverComesMakesNoCleanHostUnknown) {
    hosts_.add("no-field", "gpus 2\nhang-on gpu_recovery_action\n");
    hosts_.add("no-list", "gpus 2\nhang-on -L\n");
    hosts_.add("hang", "gpus 2\ndriver hang\n");
    up();
    const auto report = check(8);
    EXPECT_EQ(report.verdict("no-field"), "clean") << report.host("no-field").dump(1);
    EXPECT_EQ(report.verdict("no-list"), "clean") << report.host("no-list").dump(1);
    for (const auto* host : {"no-field", "no-list"})
        EXPECT_TRUE(report.has_finding(host, "optional-not-read")) << report.host(host).dump(1);
    EXPECT_EQ(report.verdict("hang"), "unknown");
    EXPECT_TRUE(report.has_finding("hang", "driver-hung"));
}

}  // namespace
}  // namespace cleanslate::testing
