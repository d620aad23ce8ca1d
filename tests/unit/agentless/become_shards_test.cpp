// The password over several shards: who waits on one thread is woken from another.

#include <gtest/gtest.h>

#include <map>

#include "agentless/become.hpp"
#include "agentless/engine.hpp"
#include "tests/unit/agentless/memory_sudo.hpp"

namespace cleanslate::agentless {
namespace {

struct NoAudit : Audit {
    Status intend(const HostOutcome&, const std::vector<SignalAction>&) override { return {}; }
    Status intend(const HostOutcome&, const std::vector<CommandAction>&) override { return {}; }
    void result(const HostOutcome&, const std::vector<SignalAction>&) override {}
    void result(const HostOutcome&, const std::vector<CommandAction>&) override {}
};

class BecomeOverShards : public ::testing::Test {
  protected:
    // 64 hosts whose sudo knows `right`, on four threads.
    SweepResult sweep(const std::string& right) {
        const auto fleet = std::make_shared<MemoryFleet>();
        std::vector<HostTask> tasks(64);
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            const std::string name = "gpu" + std::to_string(100 + i);
            tasks[i].host.name = tasks[i].host.address = name;
            tasks[i].host.become = true;
            sudos[name].right = right;
            (*fleet)[name].reply = [&sudo = sudos[name]](const Script& script) { return sudo.reply(script); };
        }
        SweepLimits limits;
        limits.threads = 4;
        Observer observer;
        NoAudit audit;
        Engine engine(std::move(tasks), Job{}, Reach{}, limits, observer, audit);
        const auto secret = std::make_shared<SharedSecret>("open-sesame-4711");
        return engine.run([&](auto& io) { return becoming(make_memory_transport(io, fleet), secret); });
    }
    std::map<std::string, MemorySudo> sudos;
};

TEST_F(BecomeOverShards, AWrongPasswordIsReadByOneOf64Hosts) {
    const auto result = sweep("another");
    int wrong = 0;
    for (const auto& [name, sudo] : sudos) wrong += sudo.wrong;
    EXPECT_EQ(wrong, 1);
    for (const auto& host : result.hosts) {
        ASSERT_TRUE(host.error) << host.name;
        EXPECT_EQ(host.error->kind, "become_failed");
        EXPECT_EQ(host.error->phase, "become");
        EXPECT_EQ(host.verdict, Verdict::unknown);
    }
}

TEST_F(BecomeOverShards, ARightOneIsGivenToAllOfThem) {
    const auto result = sweep("open-sesame-4711");
    for (const auto& [name, sudo] : sudos) {
        EXPECT_EQ(sudo.asked, 1) << name;
        EXPECT_EQ(sudo.wrong, 0) << name;
    }
    // What these hosts run is no survey, but they ran it.
    for (const auto& host : result.hosts) EXPECT_EQ(host.error.value_or(Error{}).kind, "protocol");
}

}  // namespace
}  // namespace cleanslate::agentless
