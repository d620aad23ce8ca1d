#include "controller/formats/event_stream.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "../golden_report.hpp"
#include "../temporary_folder.hpp"
#include "controller/json_report.hpp"

namespace cleanslate::controller::testing {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// Each line as an object; a line that is none fails.
std::vector<json> read_lines(const std::string& text) {
    std::vector<json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
    return lines;
}

std::vector<std::string> names_of(const std::vector<json>& events) {
    std::vector<std::string> names;
    for (const json& event : events) {
        std::string name = event.at("event");
        if (event.contains("host")) name += " " + event.at("host").get<std::string>();
        if (event.contains("stage")) name += " " + event.at("stage").get<std::string>();
        names.push_back(name);
    }
    return names;
}

// A stream into a file, and what has arrived there at the end.
class Stream {
  public:
    explicit Stream(std::string command = "check", bool raw = false) {
        head_ = report_of({}, std::move(command));
        head_.inventory = "fleet.yaml";
        events_ = std::make_unique<EventStream>(head_, raw);
        EXPECT_TRUE(events_->add({Format::jsonl, folder_.file("events")}));
    }
    EventStream* operator->() { return events_.get(); }
    EventStream& get() { return *events_; }
    Report report(std::vector<HostOutcome> hosts) const {
        Report report = head_;
        report.result.hosts = std::move(hosts);
        return report;
    }
    std::vector<json> finish(const Report& report) {
        Output out(-1);
        EXPECT_TRUE(events_->finish(report, out));
        return read_lines(contents_of(folder_.file("events")));
    }

  private:
    TemporaryFolder folder_;
    Report head_;
    std::unique_ptr<EventStream> events_;
};

TEST(EventStream, TellsACheckFromItsBeginningToItsEnd) {
    Stream stream;
    stream->sweep_started(2, false);
    HostOutcome host = clean_host("gpu01");
    host.finished = false;
    for (const char* doing : {"connect", "survey", "survey"}) {
        host.doing = doing;
        if (host.doing == "connect") stream->host_started(host);
        stream->host_progress(host);
    }
    host.finished = true;
    stream->host_finished(host);
    SweepResult result;
    result.hosts = {host, not_tried_host("gpu02")};
    stream->sweep_ended(result);
    ASSERT_EQ(result.hosts.size(), 2u) << "it is left as it was";
    const Report report = stream.report(result.hosts);
    const auto events = stream.finish(report);
    EXPECT_THAT(names_of(events),
                ElementsAre("sweep_started", "host_started gpu01", "step gpu01", "step gpu01",
                            "host_finished gpu01", "host_finished gpu02", "sweep_finished"));
    EXPECT_EQ(events[0].at("schema"), "cleanslate.events/1");
    EXPECT_EQ(events[0].at("command"), "check");
    EXPECT_EQ(events[0].at("inventory"), "fleet.yaml");
    EXPECT_EQ(events[0].at("hosts"), 2);
    EXPECT_EQ(events[0].at("dry_run"), false);
    EXPECT_EQ(events[2].at("doing"), "connect");
    EXPECT_EQ(events[3].at("doing"), "survey");
    EXPECT_EQ(events[4].at("report"), json::parse(json_of_host(report, host, false)));
    EXPECT_EQ(events[5].at("report").at("error").at("kind"), "not_tried");
    EXPECT_EQ(events[6].at("summary"), json::parse(json_of_summary(report)));
    for (const json& event : events) {
        EXPECT_THAT(event.at("time").get<std::string>(), MatchesRegex("20..-..-..T..:..:..\\....Z"));
        EXPECT_TRUE(event.at("phase").is_null());
    }
    for (std::size_t i = 1; i < events.size(); ++i) EXPECT_LE(events[i - 1]["time"], events[i]["time"]);
}

TEST(EventStream, TellsASignalBeforeItIsSentAndWhatBecameOfIt) {
    Stream stream("clear");
    stream->sweep_started(1, false);
    HostOutcome host = dirty_host("gpu01");
    stream->host_started(host);
    host.signals = {signal_action(1, "TERM", holder(70, "alice", "serve"), SignalResult::sent),
                    signal_action(1, "TERM", holder(71, "alice", "serve"), SignalResult::sent)};
    host.doing = "step 1: TERM to 2 processes";
    stream->host_progress(host);
    host.signals[0].result = SignalResult::ended;
    host.signals[0].took = Milliseconds{130};
    stream->host_progress(host);
    stream->host_progress(host);
    stream->host_finished(host);  // the other's result never came
    const auto events = stream.finish(stream.report({host}));
    EXPECT_THAT(names_of(events),
                ElementsAre("sweep_started", "host_started gpu01", "step gpu01", "signal gpu01 intent",
                            "signal gpu01 intent", "signal gpu01 result", "signal gpu01 result",
                            "host_finished gpu01", "sweep_finished"));
    EXPECT_EQ(events[3].at("action").at("pid"), 70);
    EXPECT_TRUE(events[3].at("action").at("result").is_null());
    EXPECT_EQ(events[5].at("action"), events[7].at("report").at("actions")[0]);
    EXPECT_EQ(events[5].at("action").at("result"), "ended");
    EXPECT_EQ(events[6].at("action").at("pid"), 71);
    EXPECT_TRUE(events[6].at("action").at("result").is_null());
    for (const json& event : events) EXPECT_EQ(event.at("phase"), "act");
}

TEST(EventStream, TellsCommandsAndMasksTheirSecrets) {
    Stream stream("run");
    stream->sweep_started(1, false);
    HostOutcome host = asked_host("gpu01", 0, "6.1.0\n");
    CommandAction done = host.commands[0];
    done.command = "deploy --token=geheim";
    host.commands = {act(CommandAction::Kind::run, 0, done.command)};
    stream->host_started(host);
    stream->host_progress(host);
    host.commands = {done};
    stream->host_progress(host);
    stream->host_finished(host);
    const auto events = stream.finish(stream.report({host}));
    EXPECT_THAT(names_of(events),
                ElementsAre("sweep_started", "host_started gpu01", "command gpu01 intent",
                            "command gpu01 result", "host_finished gpu01", "sweep_finished"));
    EXPECT_EQ(events[3].at("command"), events[4].at("report").at("commands")[0]);
    EXPECT_EQ(events[3].at("command").at("stdout"), "6.1.0\n");
    for (const json& event : events) EXPECT_THAT(event.dump(), Not(HasSubstr("geheim")));
}

TEST(EventStream, TellsWhatIsPlannedOrNotSentOnce) {
    Stream stream("clear");
    stream->sweep_started(1, true);
    HostOutcome host = planned_host("gpu01");
    host.signals[1].result = SignalResult::not_sent;
    plan_act(host, act(CommandAction::Kind::stop, 3, "systemctl stop x.service"));
    plan_act(host, act(CommandAction::Kind::reset, 4, "nvidia-smi --gpu-reset")).withheld = true;
    stream->host_started(host);
    stream->host_progress(host);
    stream->host_finished(host);
    EXPECT_THAT(
        names_of(stream.finish(stream.report({host}))),
        ElementsAre("sweep_started", "host_started gpu01", "signal gpu01 plan", "signal gpu01 result",
                    "command gpu01 plan", "command gpu01 result", "host_finished gpu01", "sweep_finished"));
}

TEST(EventStream, TellsThePlanAndTheDeedAsTwoSweeps) {
    Stream stream("clear");
    stream->sweep_started(2, true);
    SweepResult plan;
    plan.hosts = {dirty_host("gpu01"), clean_host("gpu02")};
    for (const HostOutcome& host : plan.hosts) stream->host_finished(host);
    stream->sweep_ended(plan);
    stream->sweep_started(1, false);
    SweepResult deed;
    deed.hosts = {clean_host("gpu01")};
    stream->host_finished(deed.hosts[0]);
    stream->sweep_ended(deed);
    const auto events = stream.finish(stream.report({clean_host("gpu01"), clean_host("gpu02")}));
    std::vector<std::string> told;
    for (const json& event : events)
        told.push_back(event.at("phase").get<std::string>() + " " + event.at("event").get<std::string>());
    EXPECT_THAT(told, ElementsAre("plan sweep_started", "plan host_finished", "plan host_finished",
                                  "plan sweep_finished", "act sweep_started", "act host_finished",
                                  "act sweep_finished"));
    EXPECT_EQ(events[3].at("summary").at("verdict"), "dirty");
    EXPECT_EQ(events[3].at("dry_run"), true);
    EXPECT_EQ(events[4].at("hosts"), 1);
    EXPECT_EQ(events[6].at("summary").at("hosts").at("clean"), 2) << "the whole report's";
}

TEST(EventStream, EndsAPlanThatWasDeclinedOnce) {
    Stream stream("clear");
    stream->sweep_started(1, true);
    SweepResult plan;
    plan.hosts = {dirty_host("gpu01")};
    stream->host_finished(plan.hosts[0]);
    stream->sweep_ended(plan);
    Report report = stream.report(plan.hosts);
    report.dry_run = report.declined = true;
    report.exit_status = 1;
    const auto events = stream.finish(report);
    EXPECT_THAT(names_of(events), ElementsAre("sweep_started", "host_finished gpu01", "sweep_finished"));
    EXPECT_EQ(events[2].at("phase"), "plan");
    EXPECT_EQ(events[2].at("summary").at("exit_status"), 1);
}

TEST(EventStream, TellsAllAtTheEndWhereNoSweepWasBegun) {
    Stream stream("run");
    EXPECT_THAT(names_of(stream.finish(stream.report({not_tried_host("gpu01"), not_tried_host("gpu02")}))),
                ElementsAre("sweep_started", "host_finished gpu01", "host_finished gpu02", "sweep_finished"));
}

TEST(EventStream, IsWholeWhereManyThreadsTell) {
    Stream stream;
    stream->sweep_started(80, false);
    std::vector<std::thread> shards;
    for (int shard = 0; shard < 4; ++shard)
        shards.emplace_back([&stream, shard] {
            for (int i = 0; i < 20; ++i) {
                HostOutcome host = clean_host("gpu" + std::to_string(shard) + "-" + std::to_string(i));
                stream->host_started(host);
                host.doing = "survey";
                stream->host_progress(host);
                stream->host_finished(host);
            }
        });
    for (std::thread& shard : shards) shard.join();
    const auto events = stream.finish(stream.report({}));
    std::map<std::string, std::vector<std::string>> by_host;
    for (const json& event : events)
        if (event.contains("host")) by_host[event["host"]].push_back(event["event"]);
    EXPECT_EQ(by_host.size(), 80u);
    for (const auto& [host, told] : by_host)
        EXPECT_THAT(told, ElementsAre("host_started", "step", "host_finished")) << host;
}

TEST(EventStream, WithoutATargetDoesNothing) {
    EventStream events(report_of({}), false);
    events.sweep_started(1, false);
    events.host_started(clean_host("gpu01"));
    events.host_finished(clean_host("gpu01"));
    Output out(-1);
    EXPECT_TRUE(events.finish(report_of({clean_host("gpu01")}), out));
}

TEST(EventStream, SaysWhichFileCannotBeWritten) {
    EventStream events(report_of({}), false);
    const auto added = events.add({Format::jsonl, "/nowhere/events"});
    ASSERT_FALSE(added);
    EXPECT_THAT(added.error().message, HasSubstr("--format jsonl: /nowhere/events: "));
}

TEST(WriteEvents, TellsWhatAFinishedReportKnows) {
    const Report report = golden_report();
    std::string text;
    write_events(report, false, [&](std::string_view piece) { text += piece; });
    const auto events = read_lines(text);
    ASSERT_EQ(events.size(), report.result.hosts.size() + 2);
    EXPECT_EQ(events.front().at("event"), "sweep_started");
    EXPECT_EQ(events.front().at("time"), report.started);
    EXPECT_EQ(events.front().at("hosts"), report.result.hosts.size());
    EXPECT_EQ(events.back().at("event"), "sweep_finished");
    EXPECT_EQ(events.back().at("notes").size(), report.result.notes.size());
    for (std::size_t i = 0; i < report.result.hosts.size(); ++i) {
        EXPECT_EQ(events[i + 1].at("report"),
                  json::parse(json_of_host(report, report.result.hosts[i], false)));
        EXPECT_TRUE(events[i + 1].at("time").is_null());
    }
}

}  // namespace
}  // namespace cleanslate::controller::testing
