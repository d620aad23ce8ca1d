// The fan-out bounds what acts, however long it takes: places are left while a host is waited for only.

#include "cleared_host.hpp"

namespace cleanslate::agentless {
namespace {

using namespace std::chrono_literals;
using testing::AClearedHost;

// When each act was begun. Each takes `length` at least, and so counts for as long.
class Acts {
  public:
    MemoryReply slow(MemoryReply reply) {
        const std::lock_guard guard(mutex_);
        begun_.push_back(Clock::now());
        reply.delay = length;
        return reply;
    }
    std::size_t most_at_a_time() const {
        std::size_t most = 0;
        for (const auto first : begun_)
            most = std::max(most, static_cast<std::size_t>(std::ranges::count_if(
                                      begun_, [&](auto t) { return t >= first && t < first + length; })));
        return most;
    }
    std::size_t count() const { return begun_.size(); }

    Milliseconds length{1200};  // longer than a silent host keeps its place

  private:
    std::mutex mutex_;
    std::vector<Clock::time_point> begun_;
};

// How many hosts have been begun to act on and are not at their end, at most.
struct Engaged : Observer {
    void acted() {
        const int now = ++hosts;
        int seen = most;
        while (seen < now && !most.compare_exchange_weak(seen, now)) {
        }
    }
    void host_progress(const HostOutcome& host) override {
        if (on_progress) on_progress(host);
    }
    void host_finished(const HostOutcome&) override { --hosts; }
    std::function<void(const HostOutcome&)> on_progress;
    std::atomic<int> hosts{0}, most{0};
};

class AFanoutOfTwo : public AClearedHost {
  protected:
    void SetUp() override {
        limits_.fanout = 2;
        limits_.under_way = 100;
    }
    // Its acts, as the mark in their scripts tells them, are slow.
    std::shared_ptr<testing::Machine> add_slow(const std::string& name, const std::string& mark) {
        auto machine = add(name);
        (*fleet_)[name].reply = [this, machine, mark](const Script& script) {
            auto reply = machine->answer(script);
            if (script.input.find(mark) == std::string::npos) return reply;
            engaged_.acted();
            return acts_.slow(std::move(reply));
        };
        return machine;
    }
    SweepResult run() {
        engine_ = std::make_unique<Engine>(tasks_, job_, Reach{}, limits_, engaged_, audit_);
        return engine_->run([&](auto& io) { return make_memory_transport(io, fleet_); });
    }
    Acts acts_;
    Engaged engaged_;
};

TEST_F(AFanoutOfTwo, HasTwoCommandsUnderWayAlsoWhereLoginsAreSlow) {
    job_.kind = Job::Kind::run;
    job_.command = "sleep 6";
    for (int threads : {1, 2}) {
        limits_.threads = threads;
        for (int i = 0; i < 5; ++i) {
            const auto name = fmt::format("n{}{}", threads, i);
            add_slow(name, "sleep 6");
            (*fleet_)[name].open_delay = i < 3 ? 1500ms : 0ms;
        }
    }
    const auto result = run();
    for (const auto& host : result.hosts) EXPECT_TRUE(host.commands.at(0).ok) << host.name;
    EXPECT_EQ(acts_.count(), 10u);
    EXPECT_LE(acts_.most_at_a_time(), 2u);
}

TEST_F(AFanoutOfTwo, HasTwoCommandsUnderWayHoweverLongTheyTake) {
    job_.kind = Job::Kind::run;
    job_.command = "sleep 6";
    limits_.threads = 1;
    for (int i = 0; i < 6; ++i) add_slow(fmt::format("n{}", i), "sleep 6");
    const auto result = run();
    for (const auto& host : result.hosts) EXPECT_TRUE(host.commands.at(0).ok) << host.name;
    EXPECT_EQ(acts_.count(), 6u);
    EXPECT_LE(acts_.most_at_a_time(), 2u);
}

TEST_F(AFanoutOfTwo, HasTwoSignalRoundsUnderWayAndSettlesUpToFourTimesAsManyHosts) {
    use(testing::kill_by_pid);
    job_.settle = 1500ms;
    limits_.threads = 1;
    for (int i = 0; i < 10; ++i) add_slow(fmt::format("n{}", i), "\nsignal=");
    const auto result = run();
    for (const auto& host : result.hosts) EXPECT_EQ(to_string(host.verdict), "clean") << host.name;
    EXPECT_EQ(acts_.count(), 10u);
    EXPECT_LE(acts_.most_at_a_time(), 2u);
    EXPECT_GT(engaged_.most, 2) << "none was begun while others settled";
    EXPECT_LE(engaged_.most, 2 * static_cast<int>(Places::most_engaged_each));
}

TEST_F(AFanoutOfTwo, EndsWhereAllHaveToWaitForTheirTurnToReboot) {
    use("steps:\n  - reboot: {deadline: 10m}\n  - verify: {within: 0s}\n  - run: write marker\n    when: "
        "after\n");
    job_.allow_reboot = true;
    for (int i = 0; i < 12; ++i) {
        const auto machine = add_slow(fmt::format("n{:02}", i), "nothing of it");
        machine->pids.clear();
        machine->memory_is_stuck = true;
        machine->after_reboot = {"new"};
    }
    limits_.deadline = 60s;
    const auto result = run();
    for (const auto& host : result.hosts) EXPECT_EQ(to_string(host.verdict), "clean") << host.name;
}

// A stop ends the line for a place: nothing is sent for those that stand in it.
TEST_F(AFanoutOfTwo, SendsNothingToThoseThatWaitForAPlaceWhenItIsStopped) {
    job_.kind = Job::Kind::run;
    job_.command = "sleep 6";
    limits_.threads = 1;
    acts_.length = 6s;  // of the others, while they wait
    for (int i = 0; i < 4; ++i) {
        const auto name = fmt::format("n{}", i);
        add_slow(name, "sleep 6");
        // The two that come late have lost their places to the others.
        (*fleet_)[name].open_delay = i < 2 ? 3s : 0ms;
    }
    engaged_.on_progress = [this, waiting = 0](const HostOutcome& host) mutable {
        if (host.doing == "waiting for others to end" && ++waiting == 2) engine_->stop();
    };
    const auto result = run();
    EXPECT_TRUE(result.interrupted);
    EXPECT_EQ(acts_.count(), 2u);
    EXPECT_EQ(std::ranges::count_if(result.hosts,
                                    [](const auto& host) { return host.commands.empty() && host.error; }),
              2);
}

}  // namespace
}  // namespace cleanslate::agentless
