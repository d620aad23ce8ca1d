// Processes that do not want to end, or to be seen for what they are.

#include <future>

#include "tests/integration/acts.hpp"

namespace cleanslate::testing {
namespace {

const std::string hard =
    "steps:\n"
    "  - signal: TERM\n    match: {holding: gpu, tree: true}\n    wait: 3s\n"
    "  - signal: KILL\n    match: {holding: gpu, tree: true}\n    wait: 3s\n"
    "  - verify: {within: 6s}\n";
const std::string short_of_time =
    "steps:\n"
    "  - signal: KILL\n    match: {holding: gpu}\n    wait: 1s\n"
    "  - verify: {within: 1s}\n";

class Hostile : public OnAFleet<Hostile> {
  public:
    // What takes its time runs beside the other tests.
    static void SetUpTestSuite() {
        OnAFleet::SetUpTestSuite();
        if (fleet_ == nullptr || fleet_->started().status != 0) return;
        static const Operator another(*fleet_);
        const auto file = another.home() / "hard.yaml";
        std::ofstream(file) << hard;
        const auto sweep = [file](const std::string& host, const std::string& steps) {
            return another.report({"clear", "-l", host, "-p", steps, "--yes", "--settle", "200ms"});
        };
        if (simulated::has_fuse()) {
            const auto impatient = another.home() / "impatient.yaml";
            std::ofstream(impatient) << short_of_time;
            sweeps_["slow"] = std::async(std::launch::async, [=] { return sweep("slow", file); });
            sweeps_["slower"] = std::async(std::launch::async, [=] { return sweep("slower", impatient); });
        }
        if (simulated::has_freezer()) {
            before_ = another.report({"check", "-l", "frozen"});
            sweeps_["frozen"] = std::async(std::launch::async, [=] { return sweep("frozen", file); });
        }
    }
    static void TearDownTestSuite() {
        sweeps_.clear();
        OnAFleet::TearDownTestSuite();
    }
    static void describe(const Descriptions& hosts) {
        hosts.add("bomb",
                  "gpus 1\nprocess bomb\n    exe /opt/serve/bin/bomb\n    user bob\n    refill 6\n"
                  "    memory 0=600\n");
        hosts.add("forker", "gpus 1\n" + worker("forker", "bob", "0=4000", "    term fork\n"));
        hosts.add("mover",
                  "gpus 1\n" +
                      worker("mover", "bob", "0=4000", "    term move /system.slice/cron.service\n") +
                      worker("moved", "bob", "0=600", "    moves /user.slice/elsewhere\n"));
        hosts.add("mapped", "gpus 1\n" + worker("mapped", "bob", "0=4000", "    only mapped\n"));
        hosts.add("passed", "gpus 1\nprocess heir\n    exe /opt/serve/bin/heir\n    user bob\n" +
                                worker("giver", "alice", "0=4000", "    passes-to heir\n    ends killed\n"));
        hosts.add(
            "names",
            "gpus 1\n" +
                worker("loud", "bob", "0=600",
                       "    argv evil\\nend\\s0123456789abcdef\\n \\e]0;owned\\x07\\e[2J \\xff\\xfe\\t<b> "
                       "end\n    rename \\e[31m\\nx\\xff\n") +
                worker("long", "bob", "0=600", "    padding 131072\n"));
        hosts.add("alike",
                  "gpus 1\nprocess fake\n    exe /home/dave/nvidia-persistenced\n"
                  "    argv /usr/bin/nvidia-persistenced --verbose\n    user dave\n"
                  "    rename nvidia-persistenced\n    memory 0=4000\n"
                  "process real\n    exe /usr/local/bin/nvidia-persistenced\n    devices monitor\n"
                  "    cgroup /system.slice/nvidia-persistenced.service\n");
        if (simulated::has_fuse())
            for (const std::string name : {"slow", "slower"})
                hosts.add(name,
                          "gpus 1\n" + worker(name, "bob", "0=40000",
                                              name == "slow" ? "    teardown 5s\n" : "    teardown 15s\n"));
        if (simulated::has_freezer())
            hosts.add("frozen", "gpus 1\n" + worker("frozen", "bob", "0=4000", "    frozen yes\n"));
    }

  protected:
    // Never clean while it lives, and named.
    static void expect_seen(const Report& report, const ProcessLine& holder) {
        EXPECT_TRUE(report.verdict("names") == "dirty" || report.verdict("names") == "unknown")
            << report.host("names").dump(1);
        EXPECT_NE(report.status, 0);
        bool named = false;
        for (const auto& gpu : report.host("names")["gpus"])
            for (const auto& one : gpu["holders"]) named |= one["pid"] == holder.pid;
        EXPECT_TRUE(named) << holder.name << " in " << report.host("names").dump(1);
    }
    // Nor may what a reader of the JSON takes out of it draw.
    static void expect_no_control_characters(const json& value) {
        if (value.is_structured())
            for (const auto& part : value) expect_no_control_characters(part);
        if (!value.is_string()) return;
        for (const unsigned char byte : value.get<std::string>())
            EXPECT_TRUE(byte >= ' ' && byte != 0x7f) << static_cast<int>(byte) << " in " << value;
    }
    // As it came, byte for byte: of what a process calls itself nothing can move a cursor or begin a line.
    static void expect_nothing_drawn(const std::string& out) {
        for (const char byte : {'\x1b', '\x07', '\xff', '\xfe', '\t'})
            EXPECT_EQ(out.find(byte), std::string::npos) << static_cast<int>(byte) << " in " << out;
        EXPECT_EQ(out.find("\nend"), std::string::npos) << out;
        EXPECT_EQ(out.find("\nx"), std::string::npos) << out;
    }

    static std::map<std::string, std::future<Report>> sweeps_;
    static Report before_;  // a check of the frozen process's host
};

std::map<std::string, std::future<Report>> Hostile::sweeps_;
Report Hostile::before_;

TEST_F(Hostile, WhoForksMovesOrHidesItsFilesEndsAllTheSame) {
    const auto real = fleet_->find("alike", "real");
    const auto report = clear("forker,mover,mapped,passed,alike", playbook(hard));
    EXPECT_EQ(report.status, 0) << report.err;
    for (const std::string host : {"forker", "mover", "mapped", "passed", "alike"})
        EXPECT_EQ(report.verdict(host), "clean") << report.host(host).dump(1);
    for (const auto& process : fleet_->processes())
        for (const std::string host : {"forker", "mover", "mapped", "passed"})
            EXPECT_FALSE(process.host == host && process.user != "root" && process.state != 'Z')
                << host << " " << process.command;
    EXPECT_FALSE(alive("alike", "fake"));
    EXPECT_TRUE(untouched(real));
}

TEST_F(Hostile, NamesChangeNothingAndDrawNothing) {
    const auto loud = fleet_->find("names", "loud");
    const auto padded = fleet_->find("names", "long");
    const auto checked = operator_->report({"check", "-l", "names"});
    ASSERT_TRUE(checked.document.is_object()) << checked.err;
    expect_seen(checked, loud);
    expect_seen(checked, padded);
    expect_no_control_characters(checked.document);
    EXPECT_NE(checked.document.dump().find(R"(\\x1B)"), std::string::npos) << "shown, and not drawn";
    for (const std::string format : {"text", "json"}) {
        const auto shown = operator_->run({"check", "-l", "names", "--color", "never", "--format", format});
        EXPECT_EQ(shown.status, checked.status);
        EXPECT_NE(shown.out.find(std::to_string(loud.pid)), std::string::npos) << shown.out;
        expect_nothing_drawn(shown.out);
        expect_nothing_drawn(shown.err);
    }
    const auto plan = operator_->run(
        {"clear", "-l", "names", "-p", playbook(hard), "--dry-run", "--color", "never", "--format", "text"});
    expect_nothing_drawn(plan.out);
    expect_nothing_drawn(plan.err);
    EXPECT_NE(plan.out.find("\\x1B"), std::string::npos) << "shown, and not drawn: " << plan.out;
    EXPECT_TRUE(untouched(loud));
    const auto report = clear("names", playbook(hard));
    ASSERT_TRUE(report.document.is_object()) << report.err;
    EXPECT_EQ(report.verdict("names"), "clean") << report.host("names").dump(1);
    EXPECT_FALSE(alive("names", "loud"));
    EXPECT_FALSE(alive("names", "long"));
    EXPECT_EQ(operator_->report({"check", "-l", "names"}).verdict("names"), "clean");
    std::istringstream lines(operator_->audit());
    for (std::string line; std::getline(lines, line);)
        EXPECT_FALSE(json::parse(line, nullptr, false).is_discarded()) << line;
}

TEST_F(Hostile, ABombThatRefillsEndsTheSweepAndNotTheOtherWayRound) {
    const auto report = clear("bomb", playbook(hard));
    EXPECT_EQ(report.verdict("bomb"), "dirty") << report.host("bomb").dump(1);
    EXPECT_EQ(report.status, 1);
    EXPECT_TRUE(report.has_finding("bomb", "respawned")) << report.host("bomb").dump(1);
    EXPECT_LT(report.took, std::chrono::seconds(60));
    const auto few = clear("bomb", playbook(hard), {"--yes", "--max-kills", "3"});
    EXPECT_TRUE(few.has_finding("bomb", "too-many-targets")) << few.host("bomb").dump(1);
    EXPECT_EQ(few.host("bomb")["actions"].dump().find("ended"), std::string::npos);
}

TEST_F(Hostile, ASlowTeardownIsNotCalledUnkillable) {
    if (!simulated::has_fuse()) GTEST_SKIP() << "this machine has no FUSE";
    const auto report = sweeps_["slow"].get();
    EXPECT_EQ(report.verdict("slow"), "clean") << report.host("slow").dump(1);
    EXPECT_FALSE(report.has_finding("slow", "unkillable"));
    EXPECT_FALSE(alive("slow", "slow"));
}

// Longer than the step waits: its memory goes down, so that it is not called one that nothing ends.
TEST_F(Hostile, ATeardownLongerThanTheWaitIsNamedAsOneAndEndsByItself) {
    if (!simulated::has_fuse()) GTEST_SKIP() << "this machine has no FUSE";
    const auto report = sweeps_["slower"].get();
    EXPECT_EQ(report.status, 1);
    EXPECT_EQ(report.verdict("slower"), "dirty") << report.host("slower").dump(1);
    EXPECT_TRUE(report.has_finding("slower", "slow-teardown", "of 40000 MiB left"))
        << report.host("slower").dump(1);
    EXPECT_FALSE(report.has_finding("slower", "unkillable")) << report.host("slower").dump(1);
    EXPECT_TRUE(comes_true([] { return !alive("slower", "slower"); }));
    EXPECT_TRUE(comes_true([this] { return operator_->report({"check", "-l", "slower"}).status == 0; }));
}

TEST_F(Hostile, AFrozenProcessIsNamedBeforeAnySignalAndCalledUnkillableAfterKill) {
    if (!simulated::has_freezer()) GTEST_SKIP() << "this machine has no v1 freezer";
    const auto frozen = fleet_->find("frozen", "frozen");
    const auto pid = std::to_string(frozen.pid);
    EXPECT_EQ(before_.verdict("frozen"), "dirty") << before_.host("frozen").dump(1);
    EXPECT_TRUE(before_.has_finding("frozen", "holder-uninterruptible", pid))
        << before_.host("frozen").dump(1);
    EXPECT_FALSE(before_.has_finding("frozen", "unkillable")) << "nobody has tried";
    const auto report = sweeps_["frozen"].get();
    EXPECT_EQ(report.verdict("frozen"), "dirty") << report.host("frozen").dump(1);
    EXPECT_EQ(report.status, 1);
    EXPECT_TRUE(untouched(frozen));
    EXPECT_TRUE(report.has_finding("frozen", "unkillable", pid)) << report.host("frozen").dump(1);
    EXPECT_FALSE(report.has_finding("frozen", "slow-teardown"));
    EXPECT_LT(report.took, std::chrono::seconds(60));
}

}  // namespace
}  // namespace cleanslate::testing
