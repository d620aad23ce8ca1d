#include <gmock/gmock.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "controller/commands.hpp"
#include "controller/json_report.hpp"
#include "nights.hpp"

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

struct Ended {
    int status = -1;
    std::string out, err;
    Json json() const { return Json::parse(out, nullptr, false); }
};

// A command line from its words to its end, in this process, without a terminal.
class HistoryCommand : public WithHistory {
  protected:
    Ended run(std::vector<std::string> words, bool with_file = true) {
        close();
        words.insert(words.begin(), "history");
        if (with_file) words.insert(words.end(), {"--history", file()});
        const auto options = read_command_line(words, {});
        if (!options) return {options.error().exit_status, options.error().out, options.error().err};
        std::FILE* stream = std::fopen(folder_.file("stdout").c_str(), "w");
        Output out(::fileno(stream));
        ::testing::internal::CaptureStderr();
        Ended ended;
        ended.status = run_command_line({*options, {}, words, Terminal{}, out});
        ended.err = ::testing::internal::GetCapturedStderr();
        std::fclose(stream);
        ended.out = contents_of(folder_.file("stdout"));
        return ended;
    }
};

TEST_F(HistoryCommand, WithoutAHistorySaysSo) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{}, {"diff"}, {"show", "last"}, {"top"}, {"prune", "--keep", "1d"}}) {
        const Ended ended = run(words);
        EXPECT_EQ(ended.status, 2);
        EXPECT_EQ(ended.out, "");
        EXPECT_THAT(ended.err, HasSubstr("there is none yet\n  -> a check or a clear begins it"));
    }
    EXPECT_EQ(run({}, false).status, 2);
    EXPECT_THAT(run({}, false).err, HasSubstr("give --history FILE"));
    EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(HistoryCommand, ListsSweeps) {
    for (int i = 0; i < 25; ++i) night({clean("a")});
    EXPECT_THAT(run({}).out, HasSubstr("and 5 older"));
    EXPECT_EQ(run({"--last", "3", "--format", "json"}).json()["sweeps"].size(), 3u);
    EXPECT_EQ(run({"--format", "json", "-i", "/etc/fleet.yaml"}).json()["sweeps"].size(), 20u);
    EXPECT_EQ(run({"--format", "json", "-i", "/etc/other.yaml"}).json()["sweeps"].size(), 0u);
    EXPECT_EQ(run({"--since", "2026-12-20", "--format", "json"}).json()["sweeps"].size(), 3u);
    EXPECT_EQ(run({"--since", "yesterday"}).status, 2);
}

TEST_F(HistoryCommand, ShowsAReportInAnyForm) {
    Report report = report_of({clean("a"), dirty("b")});
    const SweepId id = night_of(report);
    report.started = rfc3339(first_night);
    std::string json;
    write_json(report, false, [&](std::string_view piece) { json += piece; });
    EXPECT_EQ(run({"show", "last", "--format", "json"}).out, json);
    const Ended text = run({"show", std::to_string(id)});
    EXPECT_EQ(text.status, 0) << "a look at what was dirty is no failure";
    EXPECT_THAT(text.out, StartsWith("b dirty"));
    const std::string html = folder_.file("x.html"), list = folder_.file("clean.txt");
    const Ended files =
        run({"show", "1", "--format", "html=" + html, "--format", "csv", "--clean-hosts", list});
    EXPECT_EQ(files.status, 0) << files.err;
    EXPECT_EQ(contents_of(list), "a\n");
    EXPECT_TRUE(std::filesystem::exists(html));
    EXPECT_THAT(run({"show", "1", "--format", "jsonl"}).out, HasSubstr("\n"));
    EXPECT_EQ(run({"show", "1", "--format", "json=" + folder_.file("no/such/x")}).status, 5);
}

TEST_F(HistoryCommand, ShowsSecretsOnlyWhereTheyAreAskedForAgain) {
    HostOutcome host = dirty("a");
    host.last->gpus[2].holders[0].command = "./serve --token geheim-4711";
    Report report = report_of({host});
    ASSERT_TRUE(record(store(), report, {"i", "all"}, true));
    for (const char* form : {"text", "json", "csv", "html", "jsonl"})
        EXPECT_THAT(run({"show", "last", "--format", form}).out, Not(HasSubstr("geheim"))) << form;
    EXPECT_THAT(run({"show", "last", "--raw-commands"}).out, HasSubstr("geheim-4711"));
    for (const std::vector<std::string>& words : {std::vector<std::string>{"diff"}, {"top"}, {"--host", "a"}})
        EXPECT_THAT(run(words).out, Not(HasSubstr("geheim"))) << words[0];
}

TEST_F(HistoryCommand, KnowsNoSweepThatIsNotThere) {
    night({clean("a")});
    for (const std::vector<std::string>& words : {std::vector<std::string>{"show", "2"},
                                                  {"show", "x"},
                                                  {"diff", "1", "2"},
                                                  {"diff", "7"},
                                                  {"--host", "b"}}) {
        const Ended ended = run(words);
        EXPECT_EQ(ended.status, 2) << words.back();
        EXPECT_EQ(ended.out, "");
        EXPECT_THAT(ended.err, HasSubstr("->"));
    }
}

TEST_F(HistoryCommand, ShowsCourses) {
    night({clean("gpu01"), dirty("gpu02"), clean("cpu01")});
    night({clean("gpu01"), clean("gpu02"), clean("cpu01")});
    const Json json = run({"--host", "gpu[01-09]", "--format", "json"}).json();
    ASSERT_EQ(json["hosts"].size(), 2u);
    EXPECT_EQ(json["hosts"][1]["stretches"].size(), 2u);
    EXPECT_THAT(run({"--host", "gpu*"}).out, HasSubstr("gpu02: 2 sweeps\n    clean "));
    EXPECT_EQ(run({"--host", "gpu[03-01]"}).status, 2);
}

TEST_F(HistoryCommand, ShowsDiffs) {
    night({clean("a")});
    night({dirty("a")});
    night({dirty("a")});
    EXPECT_EQ(run({"diff", "--format", "json"}).json()["still_dirty"][0]["host"], "a");
    EXPECT_EQ(run({"diff", "2", "--format", "json"}).json()["newly_dirty"][0]["host"], "a");
    EXPECT_EQ(run({"diff", "1", "last", "--format", "json"}).json()["newly_dirty"][0]["host"], "a");
    EXPECT_EQ(run({"diff", "1", "--format", "json"}).json()["older"], nullptr);
    const Ended text = run({"diff"});
    EXPECT_EQ(text.status, 0);
    EXPECT_THAT(text.out, HasSubstr("still dirty or sick (1)"));
}

TEST_F(HistoryCommand, ShowsTheTop) {
    const auto ago = [&](std::int64_t days) { nights_ = (std::time(nullptr) - first_night) / day - days; };
    ago(40);
    night({dirty("a")});
    EXPECT_EQ(run({"top", "--since", "60d", "--format", "json"}).json()["users"][0]["name"], "alice");
    EXPECT_THAT(run({"top", "--since", "60d"}).out, HasSubstr("alice"));
    ago(32);
    night({dirty("b")});
    ago(2);
    night({dirty("c")});
    const Json month = run({"top", "--format", "json"}).json();
    ASSERT_EQ(month["hosts"].size(), 1u) << "30 days";
    EXPECT_EQ(month["hosts"][0]["name"], "c");
}

TEST_F(HistoryCommand, SaysWhatAPruneWouldTakeAndTakesIt) {
    for (int i = 0; i < 3; ++i) night({clean("a")});
    const Ended dry = run({"prune", "--keep-last", "1", "--dry-run"});
    EXPECT_EQ(dry.out, "2 sweeps (2026-11-28T02:00:00Z to 2026-11-29T02:00:00Z) would go, 1 stay\n");
    EXPECT_EQ(run({"prune", "--keep-last", "1", "--dry-run", "--format", "json"}).json()["bytes_after"],
              nullptr);
    const Json done = run({"prune", "--keep-last", "1", "--format", "json"}).json();
    EXPECT_EQ(done["going"], Json::parse("[1,2]"));
    EXPECT_EQ(done["staying"], 1);
    EXPECT_GT(done["bytes_before"], 0);
    EXPECT_EQ(run({"--format", "json"}).json()["sweeps"].size(), 1u);
    EXPECT_THAT(run({"prune", "--keep-last", "1"}).out, StartsWith("0 sweeps gone, 1 stay; "));
}

TEST_F(HistoryCommand, OfADamagedFileEndsWithFive) {
    put(folder_.file("broken.db"), std::string(9000, 'x'));
    const Ended ended = run({"--history", folder_.file("broken.db")}, false);
    EXPECT_EQ(ended.status, 5);
    EXPECT_THAT(ended.err, HasSubstr("this is no history"));
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
