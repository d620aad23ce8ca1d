// Hosts that hang, cut, lie or flood: never clean unless proven, nobody else delayed, every deadline kept.

#include "tests/integration/program.hpp"

namespace cleanslate::testing {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> hosts(std::initializer_list<const char*> names) {
    std::vector<std::string> files;
    for (const auto* name : names) files.push_back(std::string("hosts/") + name + ".host");
    return files;
}

TEST(Adverse, NoHostIsCleanUnlessProvenAndNoOtherHostIsDelayed) {
    SKIP_WITHOUT_ROOT();
    RunningFleet fleet(
        hosts({"clean", "hang", "cut", "no-end", "motd", "csh", "driver-gone", "no-smi", "lost"}));
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    Operator op(fleet);
    const auto report = op.report({"check", "--timeout", "5s"});
    EXPECT_EQ(report.status, 3) << report.err;
    EXPECT_EQ(report.verdict("clean"), "clean");
    EXPECT_EQ(report.verdict("hang"), "unknown");
    EXPECT_EQ(report.host("hang")["error"]["kind"], "timeout");
    EXPECT_EQ(report.host("hang")["error"]["phase"], "survey");
    EXPECT_EQ(report.verdict("cut"), "unknown");
    EXPECT_EQ(report.verdict("no-end"), "unknown");
    EXPECT_EQ(report.verdict("motd"), "dirty");
    EXPECT_EQ(report.verdict("csh"), "dirty");
    EXPECT_EQ(report.verdict("driver-gone"), "unknown");
    EXPECT_EQ(report.verdict("no-smi"), "unknown");
    EXPECT_EQ(report.verdict("lost"), "sick");
    EXPECT_LT(report.host("clean")["seconds"], 4.5) << "the host that hangs for 5 s delayed it";
    EXPECT_LT(report.took, 20s);
}

TEST(Adverse, AHostBehindAFloodOrAForeignShellIsStillCleared) {
    SKIP_WITHOUT_ROOT();
    RunningFleet fleet(hosts({"motd", "csh"}));
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    Operator op(fleet);
    const auto report = op.report({"clear", "-l", "all", "--yes"});
    EXPECT_EQ(report.status, 0) << report.document.dump(1) << report.err;
}

TEST(Adverse, ADriverThatNeverAnswersIsNamedAndTheHostEndsInTime) {
    SKIP_WITHOUT_ROOT();
    RunningFleet fleet(hosts({"driver-hung", "clean"}));
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    Operator op(fleet);
    const auto report = op.report({"check", "--timeout", "6s"});
    EXPECT_EQ(report.status, 3);
    EXPECT_EQ(report.verdict("driver-hung"), "unknown");
    EXPECT_TRUE(report.has_finding("driver-hung", "driver-hung")) << report.host("driver-hung").dump(1);
    EXPECT_EQ(report.verdict("clean"), "clean");
    EXPECT_LT(report.took, 12s);
}

TEST(Adverse, AZombieHoldsNothingAndIsNoReasonToWait) {
    SKIP_WITHOUT_ROOT();
    RunningFleet fleet(hosts({"zombie"}));
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    Operator op(fleet);
    const auto before = op.home() / "before.tsv";
    remember(fleet, before);
    const auto ended = op.run({"clear", "-l", "all", "--yes", "--format", "json"});
    const auto file = op.home() / "report.json";
    std::ofstream(file) << ended.out;
    const auto judged = simulated::run({simulated::simhost(), "judge", fleet.folder(), before, file});
    EXPECT_EQ(judged.status, 0) << judged.out << ended.out;
}

TEST(Adverse, AHostThatVanishesInTheMiddleOfAStepIsUnknownAndTheStepIsReported) {
    SKIP_WITHOUT_ROOT();
    RunningFleet fleet(hosts({"leak", "clean"}));
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    Operator op(fleet);
    // The step's command takes the host's sshd away, with the session that runs it.
    const auto playbook = op.home() / "vanish.yaml";
    std::ofstream(playbook) << "steps:\n"
                               "  - run: for p in /proc/[0-9]*; do case $(cat $p/comm) in sshd*) kill -9 "
                               "$(basename $p) ;; esac; done\n"
                               "    timeout: 5s\n"
                               "  - signal: KILL\n"
                               "    match: {holding: gpu}\n";
    const auto report = op.report({"clear", "-l", "all", "-p", playbook, "--yes"});
    EXPECT_EQ(report.status, 3) << report.err;
    EXPECT_EQ(report.verdict("leak"), "unknown");
    EXPECT_EQ(report.host("leak")["error"]["kind"], "connection_lost") << report.host("leak").dump(1);
    ASSERT_EQ(report.host("leak")["commands"].size(), 1u);
    EXPECT_EQ(report.verdict("clean"), "clean");
}

TEST(Adverse, SixtyFourHostsAtOnceLoseNothingAndLeaveNothing) {
    SKIP_WITHOUT_ROOT();
    RunningFleet fleet({"hosts/leak.host"}, "", 64);
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    Operator op(fleet);
    const auto report = op.report({"clear", "-l", "all", "--yes", "-f", "64"});
    EXPECT_EQ(report.status, 0) << report.err << report.document["summary"].dump(1);
    ASSERT_EQ(report.document["hosts"].size(), 64u);
    for (const auto& host : report.document["hosts"]) {
        EXPECT_EQ(host["verdict"], "clean") << host.dump(1);
        EXPECT_EQ(host["actions"].size(), 1u);
    }
    for (const auto& p : fleet.processes()) EXPECT_NE(p.name, "worker") << p.host;
}

}  // namespace
}  // namespace cleanslate::testing
