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

class Hostile : public OnAFleet<Hostile> {
  public:
    // What takes its time runs beside the other tests.
    static void SetUpTestSuite() {
        OnAFleet::SetUpTestSuite();
        if (fleet_ == nullptr || fleet_->started().status != 0) return;
        static const Operator another(*fleet_);
        const auto file = another.home() / "hard.yaml";
        std::ofstream(file) << hard;
        for (const std::string host : {"slow", "frozen"})
            if (host == "slow" ? simulated::has_fuse() : simulated::has_freezer())
                sweeps_[host] = std::async(std::launch::async, [host, file] {
                    return another.report({"clear", "-l", host, "-p", file, "--yes", "--settle", "200ms"});
                });
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
            hosts.add("slow", "gpus 1\n" + worker("slow", "bob", "0=40000", "    teardown 5s\n"));
        if (simulated::has_freezer())
            hosts.add("frozen", "gpus 1\n" + worker("frozen", "bob", "0=4000", "    frozen yes\n"));
    }

  protected:
    static std::map<std::string, std::future<Report>> sweeps_;
};

std::map<std::string, std::future<Report>> Hostile::sweeps_;

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
    const auto text =
        operator_->run({"clear", "-l", "names", "-p", playbook(hard), "--dry-run", "--format", "text"});
    for (const auto& out : {text.out, text.err}) {
        EXPECT_EQ(out.find('\x1b'), std::string::npos) << out;
        EXPECT_EQ(out.find('\x07'), std::string::npos);
        EXPECT_EQ(out.find('\xff'), std::string::npos);
    }
    EXPECT_NE(text.out.find("\\x1B"), std::string::npos) << "shown, and not drawn: " << text.out;
    const auto loud = std::to_string(fleet_->find("names", "loud").pid);
    const auto report = clear("names", playbook(hard));
    ASSERT_TRUE(report.document.is_object()) << report.err;
    EXPECT_EQ(report.verdict("names"), "clean") << report.host("names").dump(1);
    EXPECT_FALSE(alive("names", "loud"));
    EXPECT_FALSE(alive("names", "long"));
    const auto html = operator_->run({"check", "-l", "names", "--format", "html"});
    EXPECT_EQ(html.out.find("<b> end"), std::string::npos);
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

TEST_F(Hostile, AFrozenProcessIsNamedAndEndsTheWait) {
    if (!simulated::has_freezer()) GTEST_SKIP() << "this machine has no v1 freezer";
    const auto frozen = fleet_->find("frozen", "frozen");
    const auto report = sweeps_["frozen"].get();
    EXPECT_EQ(report.verdict("frozen"), "dirty") << report.host("frozen").dump(1);
    EXPECT_EQ(report.status, 1);
    EXPECT_TRUE(untouched(frozen));
    EXPECT_TRUE(report.has_finding("frozen", "holder-uninterruptible") ||
                report.has_finding("frozen", "unkillable"))
        << report.host("frozen").dump(1);
    EXPECT_LT(report.took, std::chrono::seconds(60));
}

}  // namespace
}  // namespace cleanslate::testing
