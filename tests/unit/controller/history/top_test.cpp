#include "controller/history/top.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "nights.hpp"

namespace cleanslate::controller::history::testing {
namespace {

// Held by these users, each with so many MiB on the GPU of that place.
HostOutcome held(std::string name, std::vector<std::pair<std::string, std::int64_t>> users) {
    HostOutcome host = clean(std::move(name));
    host.verdict = host.last->verdict = Verdict::dirty;
    int place = 0;
    for (const auto& [user, mib] : users) {
        GpuVerdict& gpu = host.last->gpus[static_cast<std::size_t>(place)];
        gpu.verdict = Verdict::dirty;
        gpu.holders.push_back(holder(100 + place++, user, user + ".py"));
        gpu.holders.back().used = Mebibytes{mib};
    }
    return host;
}

class Tops : public WithHistory {
  protected:
    Top of(std::int64_t since = 0, std::size_t most = 10) {
        auto made = top(store(), since, most);
        EXPECT_TRUE(made) << (made ? "" : made.error().message);
        return made.value_or(Top{});
    }
};

TEST_F(Tops, CountHostNightsAndMemory) {
    night({held("a", {{"alice", 1000}, {"alice", 500}, {"bob", 7}}), held("b", {{"alice", 100}})});
    night({held("a", {{"alice", 10}}), clean("b")});
    const Top now = of();
    EXPECT_EQ(now.sweeps, 2u);
    ASSERT_EQ(now.users.size(), 2u);
    EXPECT_EQ(now.users[0].name, "alice");
    EXPECT_EQ(now.users[0].host_nights, 3u);
    EXPECT_EQ(now.users[0].hosts, 2u);
    EXPECT_EQ(now.users[0].mib_nights, 1500 + 100 + 10);
    EXPECT_EQ(now.users[0].most_mib, 1500);
    EXPECT_EQ(now.users[1].name, "bob");
    ASSERT_EQ(now.hosts.size(), 2u);
    EXPECT_EQ(now.hosts[0].name, "a");
    EXPECT_EQ(now.hosts[0].host_nights, 2u);
    EXPECT_EQ(now.commands[0].name, "alice.py");
}

TEST_F(Tops, CountADayOnceHoweverOftenItIsLookedAt) {
    for (int i = 0; i < 3; ++i) {
        night({held("a", {{"alice", 100 * i}})});
        --nights_;
    }
    const Top now = of();
    EXPECT_EQ(now.users[0].host_nights, 1u);
    EXPECT_EQ(now.users[0].mib_nights, 200) << "the day's worst";
}

TEST_F(Tops, CountWhatASweepHasEnded) {
    HostOutcome host = clean("a");
    const Holder worker = holder(812, "carol", "python train.py");
    host.signals = {signal_action(1, "TERM", worker, SignalResult::alive),
                    signal_action(2, "KILL", worker, SignalResult::ended)};
    host.commands = {done(act(CommandAction::Kind::before, 1, "true"))};
    night_of(report_of({host}, "clear"));
    const Top now = of();
    ASSERT_EQ(now.users.size(), 1u);
    EXPECT_EQ(now.users[0].name, "carol");
    EXPECT_EQ(now.users[0].host_nights, 1u);
    EXPECT_EQ(now.commands.size(), 1u) << "a playbook's command is nobody's leftover";
}

TEST_F(Tops, LeaveOutProtectedProcessesAndOlderSweeps) {
    HostOutcome host = held("a", {{"root", 200}});
    host.last->gpus[0].holders[0].is_protected = true;
    night({host});
    EXPECT_TRUE(of().users.empty());
    night({held("a", {{"alice", 1}})});
    EXPECT_EQ(of(first_night + day).users.size(), 1u);
    EXPECT_TRUE(of(first_night + 2 * day).users.empty());
}

TEST_F(Tops, ReadAsATranscript) {
    night({held("gpu01", {{"alice", 1000}, {"bob", 7}}), held("gpu02", {{"alice", 100}}),
           held("gpu03", {{"", 3}})});
    Page page(80, false);
    top_text(page, of(first_night, 2));
    EXPECT_EQ(page.take(), R"(users         host-nights   hosts   MiB a night MiB at most
                        2       2           550        1000
  alice
                        1       1             7           7
  bob
commands      host-nights   hosts   MiB a night MiB at most
                        2       2           550        1000
  alice.py
                        1       1             7           7
  bob.py
hosts         host-nights   hosts   MiB a night MiB at most
                        1       1          1007        1007
  gpu01
                        1       1           100         100
  gpu02
1 sweep since 2026-11-28T02:00:00Z
)");
    const auto json = nlohmann::json::parse(top_json(of()));
    EXPECT_EQ(json["schema"], "cleanslate.top/1");
    EXPECT_EQ(json["users"].size(), 3u);
    EXPECT_EQ(json["users"][2]["name"], nullptr);
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
