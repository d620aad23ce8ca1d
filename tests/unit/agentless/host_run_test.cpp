// What a host's coroutine does with a machine that answers every script: audit and totals.

#include "cleared_host.hpp"

namespace cleanslate::agentless {
namespace {

using namespace std::chrono_literals;
using testing::AClearedHost;
using testing::kill_by_pid;

constexpr const char* reset_gpu =
    "steps:\n"
    "  - reset:\n"
    "      daemons: [dcgm.service, idle.service]\n"
    "      within: 0s\n";

TEST_F(AClearedHost, WhoseCommandTheAuditStoppedSaysThatItWasNotSent) {
    use("steps:\n  - run: write marker\n");
    add("gpu01");
    audit_.full = true;
    const auto result = run();
    EXPECT_TRUE(result.hosts[0].commands.at(0).not_sent);

    job_.kind = Job::Kind::run;
    job_.command = "true";
    EXPECT_TRUE(run().hosts[0].commands.at(0).not_sent);
}

TEST_F(AClearedHost, IsNotSignalledOnceTheSweepHasNoRoomForItsTargets) {
    use(kill_by_pid);
    job_.max_kills_total = 2;
    limits_.fanout = limits_.threads = 1;  // one after the other
    const auto one = add("gpu01");
    const auto two = add("gpu02");
    two->pids = {812, 813};
    const auto three = add("gpu03");
    const auto result = run();
    EXPECT_EQ(to_string(result.hosts[0].verdict), "clean");
    for (const int i : {1, 2}) {
        const auto& host = result.hosts.at(static_cast<std::size_t>(i));
        EXPECT_EQ(to_string(host.verdict), "dirty");
        EXPECT_TRUE(has_finding(host, "too-many-targets"));
        for (const auto& action : host.signals) EXPECT_EQ(action.result, SignalResult::not_sent);
    }
    EXPECT_EQ(three->log().find("signal"), std::string::npos) << "one would have fitted, and it is too late";
    EXPECT_NE(three->log().find("release"), std::string::npos);
}

// Also of the daemons in the way, each of which gets a result, whatever the host says.
TEST_F(AClearedHost, WritesDownWhatAResetMeansToDoBeforeItIsSent) {
    use(reset_gpu);
    job_.allow_reset = true;
    struct Case {
        std::string answer, results;
    };
    const std::string ran = "unit dcgm.service 1 0\nunit idle.service 0 -\n";
    const std::string gpu = "gpu 00000000:00:06.0 0 ok\n";
    for (const auto& [answer, results] : {
             Case{ran + gpu + "started dcgm.service 0\n",
                  "ok, systemctl stop dcgm.service ok, systemctl start dcgm.service ok, systemctl stop "
                  "idle.service not sent, systemctl start idle.service not sent"},
             Case{"refused boot\n",
                  "not sent, systemctl stop dcgm.service not sent, systemctl stop idle.service not sent, "
                  "systemctl start dcgm.service not sent, systemctl start idle.service not sent"},
             Case{"garbage\n",
                  "not ok, systemctl stop dcgm.service not ok, systemctl stop idle.service not ok, systemctl "
                  "start dcgm.service not ok, systemctl start idle.service not ok"},
         }) {
        tasks_.clear();
        audit_.lines.clear();
        const auto machine = add("gpu01");
        machine->pids.clear();
        machine->memory_is_stuck = true;
        machine->reset_answer = answer;
        run();
        EXPECT_EQ(audit_.lines,
                  "intend nvidia-smi --gpu-reset -i 00000000:00:06.0, systemctl stop dcgm.service, systemctl "
                  "stop idle.service, systemctl start dcgm.service, systemctl start idle.service\n"
                  "result nvidia-smi --gpu-reset -i 00000000:00:06.0 " +
                      results + "\n");
    }
}

TEST_F(AClearedHost, ResetsNothingWhereThatCannotBeWrittenDown) {
    use(reset_gpu);
    job_.allow_reset = true;
    const auto machine = add("gpu01");
    machine->pids.clear();
    machine->memory_is_stuck = true;
    audit_.full = true;
    run();
    EXPECT_EQ(machine->log().find("reset"), std::string::npos) << machine->log();
}

}  // namespace
}  // namespace cleanslate::agentless
