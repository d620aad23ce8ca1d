// Two at a time: a host is one sweep's, the other one is told whose, and nobody waits for the dead. And what
// an operator puts before and after, and how it is told later.

#include <signal.h>
#include <sys/wait.h>

#include <future>

#include "tests/integration/acts.hpp"

namespace cleanslate::testing {
namespace {

// Holds a host until /tmp/go is there.
const std::string patient =
    "steps:\n"
    "  - run: while ! test -e /tmp/go; do sleep 0.05; done\n"
    "    when: before\n"
    "    timeout: 60s\n"
    "  - signal: KILL\n    match: {holding: gpu}\n"
    "  - verify: {within: 5s}\n";
const std::string around =
    "steps:\n"
    "  - run: test -e /tmp/drained\n    when: before\n"
    "  - signal: KILL\n    match: {holding: gpu}\n"
    "  - verify: {within: 5s}\n"
    "  - run: echo \"$CLEANSLATE_HOST $CLEANSLATE_VERDICT\" >/tmp/after\n    when: after\n";

class Turns : public OnAFleet<Turns> {
  public:
    static void describe(const Descriptions& hosts) {
        for (const std::string name : {"first", "waits", "killed", "drained", "vetoed", "audited"})
            hosts.add(name, "gpus 1\n" + worker("left", "alice", "0=4000"));
        hosts.add("idle", "gpus 1\n");
        for (const std::string name : {"narrow1", "narrow2", "narrow3"})
            hosts.add(name, "gpus 1\nsshd MaxSessions 1\n" + worker("left", "alice", "0=4000"));
    }

  protected:
    std::future<Report> begin(const std::string& host) const {
        const auto steps = playbook(patient);
        auto sweep = std::async(std::launch::async, [this, host, steps] { return clear(host, steps); });
        EXPECT_TRUE(comes_true([&] { return !on(host, "pgrep -f '[s]leep 0.05'").empty(); }));
        return sweep;
    }
};

TEST_F(Turns, ASecondSweepIsToldWhoseTheHostIsAndTouchesNothing) {
    const auto left = fleet_->find("first", "left");
    auto sweep = begin("first");
    const auto second = clear("first", "clear", {"--yes", "--lock-wait", "0s"});
    EXPECT_EQ(second.status, 3) << second.err;
    EXPECT_EQ(second.verdict("first"), "unknown");
    EXPECT_TRUE(second.has_finding("first", "host-busy", "cleanslate")) << second.host("first").dump(1);
    EXPECT_EQ(second.host("first")["actions"].dump().find("\"ended\""), std::string::npos);
    EXPECT_TRUE(untouched(left));
    on("first", "touch /tmp/go");
    const auto report = sweep.get();
    EXPECT_EQ(report.verdict("first"), "clean") << report.host("first").dump(1);
    // It is given back.
    EXPECT_EQ(clear("first", "clear", {"--yes", "--lock-wait", "0s"}).status, 0);
}

TEST_F(Turns, WhoWaitsGetsTheHostWhenItIsFree) {
    auto sweep = begin("waits");
    auto second = std::async(std::launch::async, [this] {
        return clear("waits", "clear", {"--yes", "--lock-wait", "60s"});
    });
    // It waits: its second login is there.
    EXPECT_TRUE(comes_true([] { return on("waits", "pgrep -c -f '[s]shd.*@notty'") >= "2"; }));
    on("waits", "touch /tmp/go");
    EXPECT_EQ(sweep.get().verdict("waits"), "clean");
    const auto report = second.get();
    EXPECT_EQ(report.verdict("waits"), "clean") << report.host("waits").dump(1);
    EXPECT_FALSE(report.has_finding("waits", "host-busy"));
}

TEST_F(Turns, AKilledSweepsHostIsFreeAgain) {
    const auto words = operator_->command({"clear", "-l", "killed", "-p", playbook(patient), "--yes"});
    const auto environment = operator_->environment();
    const pid_t child = ::fork();
    if (child == 0) {
        for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
        std::vector<char*> argv;
        for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
        (void)!::freopen("/dev/null", "w", stdout);
        (void)!::freopen("/dev/null", "w", stderr);
        ::execv(argv[0], argv.data());
        ::_exit(127);
    }
    EXPECT_TRUE(comes_true([] { return !on("killed", "pgrep -f '[s]leep 0.05'").empty(); }));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto report = clear("killed", "clear", {"--yes", "--lock-wait", "60s"});
    EXPECT_EQ(report.verdict("killed"), "clean") << report.host("killed").dump(1);
    EXPECT_FALSE(alive("killed", "left"));
}

TEST_F(Turns, ABeforeThatFailsVetoesItsHostAndAnAfterKnowsTheVerdict) {
    on("drained", "touch /tmp/drained");
    const auto left = fleet_->find("vetoed", "left");
    const auto report = clear("drained,vetoed,idle", playbook(around));
    EXPECT_EQ(report.verdict("drained"), "clean") << report.host("drained").dump(1);
    EXPECT_EQ(on("drained", "cat /tmp/after"), "drained clean\n");
    EXPECT_TRUE(untouched(left));
    EXPECT_EQ(report.verdict("vetoed"), "dirty");
    EXPECT_TRUE(report.has_finding("vetoed", "vetoed", "/tmp/drained")) << report.host("vetoed").dump(1);
    EXPECT_EQ(report.host("vetoed")["actions"], json::array());
    EXPECT_EQ(on("vetoed", "cat /tmp/after"), "vetoed dirty\n");
    EXPECT_EQ(results(report, "idle", "before"), std::vector<std::string>{}) << "there was nothing to veto";
    EXPECT_EQ(on("idle", "cat /tmp/after"), "idle clean\n");
}

TEST_F(Turns, AHostThatAllowsOneSessionAtATimeIsClearedAllTheSame) {
    const std::vector<std::string> hosts{"narrow1", "narrow2", "narrow3"};
    for (const auto& host : hosts) on(host, "touch /tmp/drained");
    const auto report = clear("narrow1,narrow2,narrow3", playbook(around));
    EXPECT_EQ(report.status, 0) << report.err;
    for (const auto& host : hosts) {
        EXPECT_EQ(report.verdict(host), "clean") << report.host(host).dump(1);
        EXPECT_FALSE(alive(host, "left"));
        EXPECT_EQ(results(report, host, "before"), std::vector<std::string>{"ok"}) << host;
        EXPECT_EQ(on(host, "cat /tmp/after"), host + " clean\n");
    }
}

TEST_F(Turns, TheAuditTellsWhoDidWhatByWhichRule) {
    const auto left = fleet_->find("audited", "left");
    EXPECT_EQ(clear("audited", "clear").verdict("audited"), "clean");
    std::set<std::string> intended;
    std::istringstream lines(operator_->audit());
    for (std::string line; std::getline(lines, line);) {
        const auto record = json::parse(line);
        if (record["event"] == "intend") intended.insert(record["pid"].dump() + record["signal"].dump());
        if (record["event"] != "result") continue;
        EXPECT_TRUE(intended.contains(record["pid"].dump() + record["signal"].dump())) << line;
        EXPECT_EQ(record["pid"], left.pid);
        EXPECT_EQ(record["owner"], "alice");
        EXPECT_NE(record["rule"].get<std::string>().find("holding gpu"), std::string::npos) << line;
    }
    EXPECT_FALSE(intended.empty());
    const auto audit = [&](const std::string& host) {
        return run(
            {{program(), "audit", "--host", host}, "", operator_->environment(), std::chrono::seconds(30)});
    };
    const auto told = audit("audited");
    EXPECT_EQ(told.status, 0) << told.err;
    for (const std::string& word : {std::string("audited"), std::to_string(left.pid), std::string("TERM"),
                                    std::string("alice"), std::string("ended")})
        EXPECT_NE(told.out.find(word), std::string::npos) << word << " in " << told.out;
    EXPECT_EQ(audit("nobody").out.find("audited"), std::string::npos);
}

}  // namespace
}  // namespace cleanslate::testing
