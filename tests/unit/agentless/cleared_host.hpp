#pragma once
// A sweep over machines in memory that answer every script, for the tests of host_run*.cpp.

#include "agentless/host_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "agentless/engine.hpp"
#include "agentless/memory_transport.hpp"
#include "agentless/records.hpp"

namespace cleanslate::agentless::testing {

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

inline constexpr const char* kill_by_pid =
    "steps:\n"
    "  - signal: KILL\n"
    "    match: {pid: [812, 813]}\n"
    "  - run: write marker\n"
    "    when: after\n";

}  // namespace cleanslate::agentless::testing
