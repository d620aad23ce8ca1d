// A reboot: in turn, until another boot id is seen, and cut.

#include "cleared_host.hpp"

namespace cleanslate::agentless {
namespace {

using namespace std::chrono_literals;
using testing::AClearedHost;
using testing::Machine;
using testing::new_boot;

constexpr const char* reboot_it = "steps:\n  - reboot: {deadline: 10m}\n  - verify: {within: 0s}\n";

TEST_F(AClearedHost, ThatRebootsIsAskedUntilItShowsAnotherBootId) {
    use(reboot_it);
    job_.allow_reboot = true;
    const auto machine = add("gpu01");
    machine->pids.clear();
    machine->memory_is_stuck = true;
    machine->after_reboot = {"close", "old", "new"};
    const auto result = run();
    EXPECT_EQ(to_string(result.hosts[0].verdict), "clean");
    EXPECT_EQ(result.hosts[0].boot_id, new_boot);
    EXPECT_TRUE(result.hosts[0].commands.at(0).ok);
    EXPECT_EQ(machine->log(), "survey\nlock alice@laptop\nreboot\nsurvey: closed\nsurvey\nsurvey\nsurvey\n")
        << "and the lock is gone with the boot before";
    EXPECT_EQ(audit_.lines, "intend reboot\nresult reboot ok\n");
}

TEST_F(AClearedHost, RebootsOneAfterTheOtherUnlessMoreAreAllowed) {
    use(reboot_it);
    job_.allow_reboot = true;
    std::atomic<int> rebooting{0}, most{0};
    std::vector<std::shared_ptr<Machine>> machines;
    for (const char* name : {"gpu01", "gpu02", "gpu03"}) {
        machines.push_back(add(name));
        machines.back()->pids.clear();
        machines.back()->memory_is_stuck = true;
        machines.back()->after_reboot = {"new"};
        machines.back()->rebooting = &rebooting;
        machines.back()->most_rebooting = &most;
    }
    const auto result = run();
    for (const auto& host : result.hosts) EXPECT_EQ(to_string(host.verdict), "clean") << host.name;
    EXPECT_EQ(most, 1);
    EXPECT_EQ(rebooting, 0);
}

TEST_F(AClearedHost, ThatDoesNotComeBackIsUnknownAtItsDeadline) {
    use(reboot_it);
    auto& step = std::get<playbooks::RebootStep>(job_.playbook->steps.at(0).action);
    step.deadline = 300ms;
    job_.allow_reboot = true;
    const auto machine = add("gpu01");
    machine->pids.clear();
    machine->memory_is_stuck = true;
    const auto result = run();
    EXPECT_EQ(to_string(result.hosts[0].verdict), "unknown");
    EXPECT_TRUE(has_finding(result.hosts[0], "reboot-failed"));
    EXPECT_FALSE(result.hosts[0].commands.at(0).ran_to_end);
}

TEST_F(AClearedHost, ThatIsCutWhileItRebootsKeepsWhatWasSent) {
    use(reboot_it);
    job_.allow_reboot = true;
    const auto machine = add("gpu01");
    machine->pids.clear();
    machine->memory_is_stuck = true;
    machine->after_reboot = {"old", "stop"};
    machine->stop = [&] {
        engine_->stop();
        engine_->stop();
    };
    const auto result = run();
    EXPECT_TRUE(result.interrupted);
    EXPECT_EQ(to_string(result.hosts[0].verdict), "unknown");
    EXPECT_FALSE(result.hosts[0].commands.at(0).ran_to_end);
    EXPECT_FALSE(result.hosts[0].commands.at(0).not_sent);
    ASSERT_TRUE(result.hosts[0].error);
    EXPECT_EQ(result.hosts[0].error->kind, "cancelled");
}

}  // namespace
}  // namespace cleanslate::agentless
