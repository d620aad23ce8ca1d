#include "controller/history/diff_view.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "nights.hpp"

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class DiffView : public WithHistory {
  protected:
    Diff last() {
        auto made = diff(store(), find_sweep(store(), "last")->id);
        EXPECT_TRUE(made);
        return made.value_or(Diff{});
    }
    static std::string text(const Diff& diff, std::size_t columns = 80) {
        Page page(columns, false);
        diff_text(page, diff);
        return page.take();
    }
};

TEST_F(DiffView, JsonHasEveryFact) {
    night({clean("a"), dirty("b"), clean("c")});
    HostOutcome swapped = clean("c");
    swapped.last->gpus[1].uuid = "GPU-spare";
    night({dirty("a"), unreachable_host("b"), swapped});
    const Json json = Json::parse(diff_json(last()));
    EXPECT_EQ(json["schema"], "cleanslate.diff/1");
    EXPECT_EQ(json["older"]["id"], 1);
    EXPECT_EQ(json["newer"]["id"], 2);
    EXPECT_EQ(json["same_scope"], true);
    const Json& fresh = json["newly_dirty"].at(0);
    EXPECT_EQ(fresh["host"], "a");
    EXPECT_EQ(fresh["verdict"], "dirty");
    EXPECT_EQ(fresh["before"], "clean");
    EXPECT_EQ(fresh["dirty_since"], "2026-11-29T02:00:00Z");
    EXPECT_EQ(fresh["unknown_since"], nullptr);
    EXPECT_EQ(fresh["why"], nullptr);
    EXPECT_EQ(fresh["codes"], Json::parse(R"(["memory-in-use"])"));
    EXPECT_EQ(fresh["gpus"], Json::parse(R"([{"index":2,"uuid":"GPU-a-2","verdict":"dirty","used_mib":76107,
                                             "newly":true}])"));
    EXPECT_EQ(fresh["holders"], Json::parse(R"([{"gpus":[2],"pid":812,"start":"5812","user":"alice",
        "exe":"/usr/bin/python3.11","command":"sleep 100000","unit":null,"used_mib":76107,"age_seconds":11400,
        "protected":false,"ghost":false,"inherited":true,"foreign_pid":false,"without_device":false}])"));
    EXPECT_EQ(json["newly_unknown"][0]["why"], "connect: connection refused");
    EXPECT_EQ(json["newly_unknown"][0]["dirty_since"], "2026-11-28T02:00:00Z");
    EXPECT_EQ(json["gpus_swapped"], Json::parse(R"([{"uuid":"GPU-spare","name":"NVIDIA H200",
        "uuid_before":"GPU-c-1","before":{"host":"c","index":1,"bus_id":"00000000:01:00.0"},
        "now":{"host":"c","index":1,"bus_id":"00000000:01:00.0"}}])"));
    EXPECT_EQ(json["hosts_gone"], Json::array());
    for (const char* key :
         {"newly_clean", "still_dirty", "still_unknown", "gpus_gone", "gpus_new", "gpus_moved"})
        EXPECT_EQ(json[key], Json::array()) << key;
    EXPECT_EQ(json["still_clean"], 1);
}

TEST_F(DiffView, JsonOfTheFirstSweepHasNoOlder) {
    night({dirty("a")});
    const Json json = Json::parse(diff_json(last()));
    EXPECT_EQ(json["older"], nullptr);
    EXPECT_EQ(json["same_scope"], false);
    EXPECT_EQ(json["hosts_new"], nullptr);
    EXPECT_EQ(json["newly_dirty"][0]["before"], nullptr);
    EXPECT_EQ(json["newly_dirty"][0]["gpus"][0]["newly"], nullptr);
    EXPECT_THAT(text(last()), HasSubstr("everything is new"));
}

TEST_F(DiffView, FoldsHostsOfWhichTheSameIsSaid) {
    std::vector<HostOutcome> before, now;
    for (int i = 1; i <= 9; ++i) {
        before.push_back(clean("gpu0" + std::to_string(i)));
        now.push_back(unreachable_host("gpu0" + std::to_string(i)));
    }
    night(before);
    night(now);
    EXPECT_THAT(text(last()), HasSubstr("    gpu[01-09] (9) unreachable: connect: connection refused\n"));
    night(before);
    EXPECT_THAT(text(last()), HasSubstr("    gpu[01-09] (9), unreachable before\n"));
}

TEST_F(DiffView, TellsAFewDirtyHostsAndNamesTheOthers) {
    std::vector<HostOutcome> before, now;
    for (int i = 100; i < 200; ++i) {
        before.push_back(clean("gpu" + std::to_string(i)));
        now.push_back(dirty("gpu" + std::to_string(i)));
    }
    night(before);
    night(now);
    const std::string told = text(last());
    EXPECT_THAT(told, HasSubstr("newly dirty or sick (100)\n"));
    EXPECT_THAT(told, HasSubstr("    and gpu[140-199] (60)\n"));
    EXPECT_THAT(told, HasSubstr("\n100 newly dirty or sick\n"));
}

TEST_F(DiffView, PutsProcessesOfOneCommandTogether) {
    night({clean("a")});
    HostOutcome host = dirty("a");
    for (int i = 3; i < 8; ++i) {
        host.last->gpus[static_cast<std::size_t>(i)].holders = {holder(800 + i, "alice", "sleep 100000")};
        host.last->gpus[static_cast<std::size_t>(i)].verdict = Verdict::dirty;
    }
    for (int i = 0; i < 5; ++i)
        host.last->openers.push_back(holder(900 + i, "bob", "tail " + std::to_string(i)));
    night({host});
    EXPECT_THAT(text(last()), HasSubstr("        alice, 6 processes, GPU 2-7, 76107 MiB: sleep 100000\n"
                                        "        pid 900 bob, 3h10m: tail 0\n"
                                        "        pid 901 bob, 3h10m: tail 1\n"
                                        "        and 3 more\n"));
}

TEST_F(DiffView, NoHostSteersTheTerminalOrAForeignLine) {
    night({clean("a")});
    HostOutcome host = dirty("a");
    host.last->gpus[2].holders[0].command = "x\x1b[2J\r\nnewly clean (1)\n    evil";
    host.last->gpus[2].holders[0].user = "\x1b]0;title\x07";
    night({host});
    const std::string told = text(last());
    EXPECT_EQ(told.find('\x1b'), std::string::npos);
    EXPECT_EQ(told.find("\nnewly clean"), std::string::npos);
    EXPECT_EQ(diff_json(last()).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
