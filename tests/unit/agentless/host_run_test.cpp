// What a host's coroutine does with a machine that answers every script: locks, totals, reboots, audit.

#include "agentless/host_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "agentless/engine.hpp"
#include "agentless/memory_transport.hpp"
#include "agentless/records.hpp"

namespace cleanslate::agentless {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view old_boot = "11111111-2222-3333-4444-555555555555";
constexpr std::string_view new_boot = "99999999-2222-3333-4444-555555555555";

// A machine with one GPU, whose memory is used as long as pid 812 and its brothers live.
class Machine {
  public:
    MemoryReply answer(const Script& script) {
        const std::lock_guard guard(mutex_);
        const auto& text = script.input;
        if (text.find("\nbudget=") < 100) return survey(text);
        if (text.find("\nact=take\n") < 100) return lock(text);
        if (text.find("\nact=release\n") < 100) return said("release", frame(text, release_answer));
        if (text.find("\nsignal=") < 100) return signal(text);
        if (text.find("\ndaemons=") < 300)
            return said("reset " + value(text, "daemons"), frame(text, reset_answer));
        if (text.starts_with("nonce=")) return reboot(text);
        return command(text);
    }
    std::string log() const {
        const std::lock_guard guard(mutex_);
        return log_;
    }

    // Set before the sweep begins.
    std::vector<int> pids = {812};
    bool memory_is_stuck = false;
    std::string lock_answer = "lock taken 4711 47110 0\n";
    std::string release_answer = "release released\n", reset_answer;
    // What the next surveys show: "close", "old", "new"; "stop" calls the function below.
    std::vector<std::string> after_reboot;
    std::function<void()> stop;
    std::atomic<int>* rebooting = nullptr;  // machines that are down
    std::atomic<int>* most_rebooting = nullptr;

  private:
    static std::string value(const std::string& text, const std::string& name) {
        const auto at = text.find(name + "=") + name.size() + 1;
        return text.substr(at, text.find('\n', at) - at);
    }
    static std::string frame(const std::string& text, const std::string& records) {
        const auto nonce = value(text, "nonce");
        return fmt::format("begin {0} 1\n{1}end {0}\n", nonce, records);
    }
    MemoryReply said(const std::string& what, std::string out) {
        log_ += what + "\n";
        MemoryReply reply;
        reply.out = std::move(out);
        return reply;
    }
    static std::string process(int pid) {
        const auto stat = fmt::format("{} (x) S 1 5 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {}00 0 0", pid, pid);
        return fmt::format("proc {} {} {}\n", pid, pid == 1 ? 0 : 1000, escape(stat));
    }
    MemoryReply survey(const std::string& text) {
        if (!after_reboot_.empty()) {
            const auto now = after_reboot_.front();
            after_reboot_.erase(after_reboot_.begin());
            if (now == "close") {
                auto reply = said("survey: closed", "");
                reply.end = MemoryReply::End::close;
                return reply;
            }
            if (now == "stop") stop();
            if (now == "new") {
                boot_ = new_boot;
                memory_is_stuck = false;
                if (rebooting != nullptr) --*rebooting;
            }
        }
        const int used = memory_is_stuck || !pids.empty() ? 76107 : 0;
        const auto row = fmt::format(
            "0, GPU-00000000-1111-2222-3333-444444444444, 00000000:00:06.0, {} MiB, 143771 MiB, 30, P0, "
            "NVIDIA H200",
            used);
        auto records = fmt::format(
            "meta boot {}\nmeta uid 0\nmeta ticks 100\nmeta shell 20\nnodes\nnode 0\n"
            "pci\npcigpu 0000:00:06.0 nvidia\nnvswitches 0\ngpu {}\ntool gpu 0\ntool app 0\n{}",
            boot_, escape(row), process(1));
        for (const int pid : pids) records += process(pid);
        records += "done queries\ndone files\ndone maps\ndone argv\ndone driver\ndone exe\n";
        return said("survey", frame(text, records));
    }
    MemoryReply lock(const std::string& text) {
        auto who = value(text, "who");
        return said("lock " + who.substr(0, who.find("%20since")), frame(text, lock_answer));
    }
    MemoryReply signal(const std::string& text) {
        std::string records;
        for (const int pid : pids) records += fmt::format("sent {0} {0}00\n", pid);
        for (const int pid : pids) records += fmt::format("reply {0} {0}00 ended 20 - -\n", pid);
        pids.clear();
        return said("signal " + value(text, "signal"), frame(text, records));
    }
    MemoryReply reboot(const std::string& text) {
        after_reboot_ = after_reboot;
        if (rebooting != nullptr) {
            const int now = ++*rebooting;
            int seen = *most_rebooting;
            while (seen < now && !most_rebooting->compare_exchange_weak(seen, now)) {
            }
        }
        return said("reboot", frame(text, "reboot started -\n"));
    }
    MemoryReply command(const std::string& text) {
        const auto at = text.find("CLEANSLATE_VERDICT=");
        const auto verdict =
            at == std::string::npos ? std::string() : text.substr(at + 19, text.find('\n', at) - at - 19);
        const auto line = text.substr(0, text.size() - 1);
        return said("command " + verdict, fmt::format("\nend {} 0\n", line.substr(line.rfind(' ') + 1)));
    }

    mutable std::mutex mutex_;
    std::string log_;
    std::string boot_{old_boot};
    std::vector<std::string> after_reboot_;
};

// What is intended and what came of it; fails when told to.
struct AuditPage : Audit {
    Status intend(const HostOutcome&, const std::vector<SignalAction>& actions) override {
        return note(fmt::format("intend {} signals", actions.size()));
    }
    Status intend(const HostOutcome&, const std::vector<CommandAction>& actions) override {
        std::string line = "intend";
        for (const auto& action : actions) line += (line == "intend" ? " " : ", ") + action.command;
        return note(line);
    }
    void result(const HostOutcome&, const std::vector<SignalAction>& actions) override {
        (void)note(fmt::format("result {} signals", actions.size()));
    }
    void result(const HostOutcome&, const std::vector<CommandAction>& actions) override {
        std::string line = "result";
        for (const auto& action : actions)
            line += fmt::format("{} {}{}", line == "result" ? "" : ",", action.command,
                                action.ok         ? " ok"
                                : action.not_sent ? " not sent"
                                                  : " not ok");
        (void)note(line);
    }
    Status note(std::string line) {
        const std::lock_guard guard(mutex);
        if (full) return fail("audit", "disk full");
        lines += line + "\n";
        return {};
    }
    std::mutex mutex;
    std::string lines;
    bool full = false;
};

class AClearedHost : public ::testing::Test {
  protected:
    AClearedHost() {
        job_.kind = Job::Kind::clear;
        job_.settle = 0ms;
        job_.who = "alice@laptop";
        limits_.fanout = 8;
        limits_.threads = 2;
    }
    void use(const std::string& steps) { job_.playbook = playbooks::parse_playbook(steps, "p.yaml").value(); }
    std::shared_ptr<Machine> add(const std::string& name) {
        HostTask task;
        task.host.name = name;
        task.host.address = "10.0.0.1";
        tasks_.push_back(task);
        auto machine = std::make_shared<Machine>();
        (*fleet_)[name].reply = [machine](const Script& script) { return machine->answer(script); };
        return machine;
    }
    SweepResult run() {
        engine_ = std::make_unique<Engine>(tasks_, job_, Reach{}, limits_, observer_, audit_);
        return engine_->run([&](auto& io) { return make_memory_transport(io, fleet_); });
    }
    static bool has_finding(const HostOutcome& host, std::string_view code) {
        return std::ranges::find(host.findings, code, &Finding::code) != host.findings.end();
    }

    std::vector<HostTask> tasks_;
    Job job_;
    SweepLimits limits_;
    Observer observer_;
    AuditPage audit_;
    std::shared_ptr<MemoryFleet> fleet_ = std::make_shared<MemoryFleet>();
    std::unique_ptr<Engine> engine_;
};

constexpr const char* reset_gpu =
    "steps:\n"
    "  - reset:\n"
    "      daemons: [dcgm.service, idle.service]\n"
    "      within: 0s\n";

constexpr const char* kill_by_pid =
    "steps:\n"
    "  - signal: KILL\n"
    "    match: {pid: [812, 813]}\n"
    "  - run: write marker\n"
    "    when: after\n";

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
