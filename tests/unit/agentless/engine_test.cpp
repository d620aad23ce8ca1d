// Whole sweeps over hosts in memory: what one host does, or fails to do, never changes another's outcome.

#include "agentless/engine.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "agentless/memory_transport.hpp"
#include "agentless/records.hpp"

namespace cleanslate::agentless {
namespace {

using namespace std::chrono_literals;

std::string nonce_of(const Script& script) {
    const auto at = script.input.find("nonce=") + 6;
    return script.input.substr(at, script.input.find('\n', at) - at);
}

// What survey.sh prints on a host with one GPU and no process at it.
std::string survey(const Script& script, int used_mib) {
    const auto row = fmt::format(
        "0, GPU-00000000-1111-2222-3333-444444444444, 00000000:00:06.0, {} MiB, 143771 MiB, 30, P0, NVIDIA "
        "H200",
        used_mib);
    return fmt::format(
        "begin {0} 1\nmeta boot 11111111-2222-3333-4444-555555555555\nmeta uid 0\nmeta ticks 100\nmeta shell "
        "20\nnodes\n"
        "node 0\ngpu {1}\ntool gpu 0\ntool app 0\ndone queries\ndone files\ndone maps\ndone argv\ndone "
        "driver\ndone exe\n"
        "end {0}\n",
        nonce_of(script), escape(row));
}

MemoryHost host_with(int used_mib, Milliseconds delay = 0ms) {
    MemoryHost host;
    host.reply = [=](const Script& script) {
        MemoryReply reply;
        reply.out = survey(script, used_mib);
        reply.delay = delay;
        return reply;
    };
    return host;
}

MemoryHost host_that(MemoryReply::End end) {
    MemoryHost host;
    host.reply = [=](const Script&) {
        MemoryReply reply;
        reply.end = end;
        return reply;
    };
    return host;
}

struct NoAudit : Audit {
    Status intend(const HostOutcome&, const std::vector<SignalAction>&) override { return {}; }
    Status intend(const HostOutcome&, const std::vector<CommandAction>&) override { return {}; }
    void result(const HostOutcome&, const std::vector<SignalAction>&) override {}
    void result(const HostOutcome&, const std::vector<CommandAction>&) override {}
};

// How many hosts are begun and not ended, at most.
struct Crowd : Observer {
    void host_started(const HostOutcome&) override {
        const int now = ++begun;
        int seen = most;
        while (seen < now && !most.compare_exchange_weak(seen, now)) {
        }
        if (on_start) on_start();
    }
    void host_finished(const HostOutcome& host) override {
        --begun;
        if (on_finish) on_finish(host);
    }
    std::atomic<int> begun{0}, most{0};
    std::function<void()> on_start;
    std::function<void(const HostOutcome&)> on_finish;
};

class ASweep : public ::testing::Test {
  protected:
    void add(const std::string& name, MemoryHost host) {
        HostTask task;
        task.host.name = name;
        task.host.address = "10.0.0.1";
        tasks_.push_back(task);
        (*fleet_)[name] = std::move(host);
    }
    SweepResult run() {
        engine_ = std::make_unique<Engine>(tasks_, job_, Reach{}, limits_, crowd_, audit_);
        return engine_->run([&](auto& io) { return make_memory_transport(io, fleet_); });
    }
    static std::string verdicts(const SweepResult& result) {
        std::string line;
        for (const auto& h : result.hosts)
            line += fmt::format("{}{}:{}", line.empty() ? "" : " ", h.name, to_string(h.verdict));
        return line;
    }

    std::vector<HostTask> tasks_;
    Job job_;
    SweepLimits limits_;
    Crowd crowd_;
    NoAudit audit_;
    std::shared_ptr<MemoryFleet> fleet_ = std::make_shared<MemoryFleet>();
    std::unique_ptr<Engine> engine_;
};

TEST_F(ASweep, GivesEveryHostOneOutcomeInTheOrderOfTheInventory) {
    add("slow", host_with(0, 200ms));
    add("quick", host_with(0));
    add("full", host_with(76107));
    add("closes", host_that(MemoryReply::End::close));
    tasks_.push_back(tasks_.back());
    tasks_.back().host.name = "nobody";  // not in the fleet: it refuses
    EXPECT_EQ(verdicts(run()), "slow:clean quick:clean full:dirty closes:unknown nobody:unreachable");
}

TEST_F(ASweep, IsNotDelayedByAHostThatHangsBeyondItsStep) {
    limits_.step_timeout = 300ms;
    limits_.fanout = 2;
    limits_.threads = 1;
    add("hangs", host_that(MemoryReply::End::hang));
    for (int i = 0; i < 20; ++i) add(fmt::format("n{:02}", i), host_with(0));
    const auto result = run();
    EXPECT_EQ(result.hosts[0].verdict, Verdict::unknown);
    ASSERT_TRUE(result.hosts[0].error);
    EXPECT_EQ(result.hosts[0].error->kind, "timeout");
    EXPECT_EQ(result.hosts[0].error->phase, "survey");
    for (std::size_t i = 1; i < result.hosts.size(); ++i) EXPECT_EQ(result.hosts[i].verdict, Verdict::clean);
}

// The hosts that say nothing end at the sweep's deadline; all others are seen long before, although the
// silent ones stand first and are more than the fan-out.
TEST_F(ASweep, GoesOnWithOtherHostsWhileSomeAreSilentAtLoginOrAfterIt) {
    limits_.deadline = 30s;
    limits_.fanout = 2;
    limits_.under_way = 20;
    limits_.threads = 1;
    MemoryHost hole;
    hole.open_hangs = true;
    for (int i = 0; i < 4; ++i) {
        add(fmt::format("h{}", i), hole);
        add(fmt::format("s{}", i), host_that(MemoryReply::End::hang));
    }
    for (int i = 0; i < 20; ++i) add(fmt::format("n{:02}", i), host_with(0));
    crowd_.on_finish = [this, clean = 0](const HostOutcome& host) mutable {
        if (host.verdict == Verdict::clean && ++clean == 20) {
            engine_->stop();
            engine_->stop();
        }
    };
    const auto result = run();
    EXPECT_FALSE(result.deadline_passed) << "the healthy ones waited for the silent ones";
    for (std::size_t i = 8; i < result.hosts.size(); ++i) EXPECT_EQ(result.hosts[i].verdict, Verdict::clean);
    EXPECT_LE(crowd_.most, 20);
}

TEST_F(ASweep, OfOneHostAtATimeWaitsForEach) {
    limits_.deadline = 1500ms;
    limits_.fanout = 1;
    limits_.under_way = 1;
    add("hangs", host_that(MemoryReply::End::hang));
    add("later", host_with(0));
    const auto result = run();
    EXPECT_TRUE(result.deadline_passed);
    EXPECT_EQ(result.hosts[1].error->kind, "not_tried");
}

TEST_F(ASweep, NeverHasMoreSessionsThanTheFanoutWhateverTheNumberOfThreads) {
    for (int threads : {1, 2, 3, 8}) {
        crowd_.most = 0;
        tasks_.clear();
        limits_.threads = threads;
        limits_.fanout = 5;
        for (int i = 0; i < 40; ++i) add(fmt::format("n{:02}", i), host_with(0, 5ms));
        EXPECT_EQ(run().hosts.size(), 40u);
        EXPECT_LE(crowd_.most, 5) << threads << " threads";
    }
}

TEST_F(ASweep, CutByItsDeadlineSaysWhoWasNotTried) {
    limits_.deadline = 200ms;
    limits_.fanout = 1;
    add("hangs", host_that(MemoryReply::End::hang));
    add("later", host_with(0));
    const auto result = run();
    EXPECT_TRUE(result.deadline_passed);
    EXPECT_EQ(verdicts(result), "hangs:unknown later:unknown");
    EXPECT_EQ(result.hosts[0].error->kind, "deadline");
    EXPECT_EQ(result.hosts[1].error->kind, "not_tried");
}

TEST_F(ASweep, StopsAtItsFailureLimit) {
    limits_.max_failures = 2;
    limits_.fanout = 1;
    for (int i = 0; i < 10; ++i) add(fmt::format("n{:02}", i), host_that(MemoryReply::End::close));
    const auto result = run();
    EXPECT_TRUE(result.failure_limit_reached);
    EXPECT_EQ(std::ranges::count_if(result.hosts, [](const auto& h) { return h.started; }), 3);
}

// Those that have been silent for longer than a place is theirs count as failures to come.
TEST_F(ASweep, BeginsNoHostInThePlaceOfASilentOneWhereThatWouldPassTheFailureLimit) {
    limits_.max_failures = 3;
    limits_.fanout = 2;
    limits_.under_way = 40;
    limits_.threads = 1;
    MemoryHost dead;
    dead.open_delay = 3s;
    dead.open_error = Error{"connect_timeout", "connect", "no answer", ""};
    for (int i = 0; i < 20; ++i) add(fmt::format("n{:02}", i), dead);
    const auto result = run();
    EXPECT_TRUE(result.failure_limit_reached);
    EXPECT_LE(std::ranges::count_if(result.hosts, [](const auto& h) { return h.started; }), 5);
}

TEST_F(ASweep, TakesAShareOfTheHostsAsAFailureLimit) {
    limits_.max_failures = 0.5;
    limits_.fanout = 1;
    for (int i = 0; i < 10; ++i) add(fmt::format("n{:02}", i), host_that(MemoryReply::End::close));
    EXPECT_EQ(std::ranges::count_if(run().hosts, [](const auto& h) { return h.started; }), 6);
}

TEST_F(ASweep, StoppedOnceBeginsNoFurtherHostAndStoppedTwiceCutsWhatHangs) {
    limits_.fanout = 1;
    limits_.threads = 1;
    add("hangs", host_that(MemoryReply::End::hang));
    add("later", host_with(0));
    std::thread stopper;
    crowd_.on_start = [&] {
        stopper = std::thread([&] {
            engine_->stop();
            engine_->stop();
        });
        crowd_.on_start = nullptr;
    };
    const auto result = run();
    stopper.join();
    EXPECT_TRUE(result.interrupted);
    EXPECT_EQ(result.hosts[0].error->kind, "cancelled");
    EXPECT_EQ(result.hosts[1].error->kind, "not_tried");
}

TEST_F(ASweep, AnswersARunWithItsStatusOnlyWhereTheEndRecordProvesIt) {
    job_.kind = Job::Kind::run;
    job_.command = "true";
    limits_.max_failures = 0;
    MemoryHost proven;
    proven.reply = [](const Script& script) {
        // The nonce is the last word of the script's last line.
        const auto text = script.input.substr(0, script.input.size() - 1);
        MemoryReply reply;
        reply.out = "hello\n\nend " + text.substr(text.rfind(' ') + 1) + " 0\n";
        return reply;
    };
    add("proven", proven);
    auto result = run();
    EXPECT_FALSE(result.hosts[0].error) << result.hosts[0].error->message;
    EXPECT_FALSE(result.failure_limit_reached) << "a host without a verdict is no failure of run";
    EXPECT_TRUE(result.hosts[0].commands.at(0).ok);
    EXPECT_EQ(result.hosts[0].commands.at(0).out, "hello\n");

    tasks_.clear();
    MemoryHost silent;
    silent.reply = [](const Script&) { return MemoryReply{}; };  // status 0, and nothing that proves it
    add("silent", silent);
    result = run();
    EXPECT_FALSE(result.hosts[0].commands.at(0).ok);
    EXPECT_TRUE(result.hosts[0].error);
}

}  // namespace
}  // namespace cleanslate::agentless
