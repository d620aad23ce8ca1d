// The lock of a host: before the first act, and given back on every way out.

#include "cleared_host.hpp"

namespace cleanslate::agentless {
namespace {

using namespace std::chrono_literals;
using testing::AClearedHost;
using testing::kill_by_pid;

TEST_F(AClearedHost, IsLockedBeforeTheFirstActAndLetGoOfAtTheEnd) {
    use(kill_by_pid);
    const auto machine = add("gpu01");
    const auto result = run();
    EXPECT_EQ(to_string(result.hosts[0].verdict), "clean");
    EXPECT_EQ(machine->log(),
              "survey\nlock alice@laptop\nsignal KILL\nsurvey\nsurvey\ncommand 'clean'\nrelease\n");
    EXPECT_EQ(audit_.lines,
              "intend 1 signals\nresult 1 signals\nintend write marker\nresult write marker ok\n");
}

TEST_F(AClearedHost, ThatAnotherHoldsIsLeftAlone) {
    use(kill_by_pid);
    const auto machine = add("gpu01");
    machine->lock_answer = "lock busy bob@login 3000\n";
    const auto result = run();
    EXPECT_EQ(to_string(result.hosts[0].verdict), "unknown");
    EXPECT_TRUE(has_finding(result.hosts[0], "host-busy"));
    EXPECT_EQ(machine->log(), "survey\nlock alice@laptop\n");
    EXPECT_EQ(audit_.lines, "");
}

TEST_F(AClearedHost, WhoseLockWasLostBeforeTheEndSaysSo) {
    use(kill_by_pid);
    const auto machine = add("gpu01");
    EXPECT_FALSE(has_finding(run().hosts[0], "not-locked"));
    for (const std::string answer : {"release gone\n", "release\n", "release gone\nrelease gone\n", "x\n"}) {
        machine->pids = {812};
        machine->release_answer = answer;
        const auto result = run();
        EXPECT_EQ(has_finding(result.hosts[0], "not-locked"), answer == "release gone\n") << answer;
        EXPECT_EQ(to_string(result.hosts[0].verdict), "clean");
    }
}

TEST_F(AClearedHost, IsLetGoOfAlsoWhereTheAuditCannotBeWritten) {
    use(kill_by_pid);
    const auto machine = add("gpu01");
    audit_.full = true;
    const auto result = run();
    EXPECT_TRUE(result.audit_failed);
    EXPECT_EQ(machine->log(), "survey\nlock alice@laptop\nrelease\n");
    EXPECT_EQ(result.hosts[0].signals.at(0).result, SignalResult::not_sent);
}

}  // namespace
}  // namespace cleanslate::agentless
