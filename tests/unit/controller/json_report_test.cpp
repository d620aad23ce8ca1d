#include "controller/json_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden_report.hpp"

namespace cleanslate::controller::testing {
namespace {

using Json = nlohmann::json;

std::string written(const Report& report, bool raw = false) {
    std::string text;
    write_json(report, raw, [&](std::string_view piece) { text += piece; });
    return text;
}

Json read_back(const Report& report) { return Json::parse(written(report)); }

Json only_host(HostOutcome host, std::string command = "check") {
    return read_back(report_of({std::move(host)}, std::move(command)))["hosts"][0];
}

TEST(JsonReport, HasTheHeadOfItsSchema) {
    Report report = report_of({clean_host("gpu01"), dirty_host("gpu02"), unreachable_host("gpu03")}, "clear");
    report.exit_status = 3;
    const Json json = read_back(report);
    EXPECT_EQ(json["schema"], "cleanslate.report/1");
    EXPECT_EQ(json["command"], "clear");
    EXPECT_EQ(json["playbook"], "clear");
    EXPECT_EQ(json["started"], "2026-11-29T12:00:00Z");
    EXPECT_EQ(json["seconds"], 1.9);
    EXPECT_EQ(json["dry_run"], false);
    EXPECT_EQ(json["summary"]["verdict"], "unreachable");
    EXPECT_EQ(json["summary"]["exit_status"], 3);
    EXPECT_EQ(json["summary"]["hosts"],
              Json::parse(R"({"clean":1,"dirty":1,"sick":0,"unknown":0,"unreachable":1})"));
    EXPECT_EQ(json["summary"]["gpus"], Json::parse(R"({"clean":15,"dirty":1,"sick":0,"unknown":0})"));
    EXPECT_EQ(json["hosts"].size(), 3u);
}

TEST(JsonReport, HasNoPlaybookForACheck) {
    EXPECT_TRUE(read_back(report_of({clean_host("a")}))["playbook"].is_null());
}

TEST(JsonReport, OfACleanHostHasEachGpu) {
    const Json host = only_host(clean_host("gpu01"));
    EXPECT_EQ(host["name"], "gpu01");
    EXPECT_EQ(host["address"], "127.0.1.1");
    EXPECT_EQ(host["port"], 22);
    EXPECT_EQ(host["verdict"], "clean");
    EXPECT_EQ(host["seconds"], 1.2);
    EXPECT_EQ(host["findings"], Json::array());
    EXPECT_EQ(host["openers"], Json::array());
    EXPECT_EQ(host["actions"], Json::array());
    EXPECT_TRUE(host["error"].is_null());
    ASSERT_EQ(host["gpus"].size(), 8u);
    EXPECT_EQ(host["gpus"][4], Json::parse(R"({"index":4,"uuid":"GPU-4","bus_id":"00000000:04:00.0",
        "name":"NVIDIA H200","used_mib":51,"total_mib":143771,"limit_mib":null,"verdict":"clean",
        "judged":true,"repaired":false,"findings":[],"holders":[],"optional":null,"instances":[]})"));
}

TEST(JsonReport, HasNeitherPidNorStartOfAHolderThatTheDriverDoesNotName) {
    HostOutcome host = dirty_host("gpu01");
    host.last->gpus[2].holders[0].key = {};
    host.last->gpus[2].instances.emplace_back().holders = {{}};
    host.spared = {{{}, "protected", "it is protected"}};
    const Json json = only_host(host);
    const Json& gpu = json["gpus"][2];
    for (const Json& unnamed : {gpu["holders"][0], gpu["instances"][0]["holders"][0], json["spared"][0]}) {
        ASSERT_TRUE(unnamed.contains("pid") && unnamed.contains("start"));
        EXPECT_TRUE(unnamed["pid"].is_null()) << unnamed;
        EXPECT_TRUE(unnamed["start"].is_null()) << unnamed;
    }
}

TEST(JsonReport, HasTheLimitAndTheOptionalCellsAsTheyWerePrinted) {
    HostOutcome host = clean_host("gpu01");
    host.last->gpus[0].limit = Mebibytes{101};
    host.last->gpus[0].optional = {{"gpu_recovery_action", "None"}, {"mig.mode.current", "[N/A]"}};
    const Json gpu = only_host(host)["gpus"][0];
    EXPECT_EQ(gpu["limit_mib"], 101);
    EXPECT_EQ(gpu["optional"], Json::parse(R"({"gpu_recovery_action":"None","mig.mode.current":"[N/A]"})"));
}

TEST(JsonReport, HasTheInstancesOfAGpuWithTheirHolders) {
    HostOutcome host = clean_host("gpu01");
    MigInstance whole;
    whole.device = 0;
    whole.gpu_instance = 7;
    whole.compute_instance = 0;
    whole.profile = "1g.18gb";
    whole.uuid = "MIG-aaaa";
    whole.holders = {{812, 5812}};
    host.last->gpus[0].instances = {whole, MigInstance{}};
    EXPECT_EQ(only_host(host)["gpus"][0]["instances"], Json::parse(R"([
        {"device":0,"gpu_instance":7,"compute_instance":0,"profile":"1g.18gb","uuid":"MIG-aaaa",
         "holders":[{"pid":812,"start":"5812"}]},
        {"device":null,"gpu_instance":null,"compute_instance":null,"profile":null,"uuid":null,"holders":null}])"));
}

TEST(JsonReport, StaysWellFormedWhateverAnOptionalCellHolds) {
    HostOutcome host = clean_host("gpu01");
    const std::string evil = "\"},\n\x1b[2J\xff\xe2\x80\xae";
    host.last->gpus[0].optional = {{evil, evil}, {evil, "second"}};
    host.last->gpus[0].instances = {{{}, {}, {}, evil, evil, {}}};
    const std::string text = written(report_of({host}));
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        ASSERT_TRUE(byte == '\n' || (byte >= 0x20 && byte < 0x7f)) << int(byte);
    }
    const Json gpu = Json::parse(text)["hosts"][0]["gpus"][0];
    ASSERT_EQ(gpu["optional"].size(), 1u);
    EXPECT_EQ(gpu["optional"].front(), gpu["instances"][0]["profile"]) << "the first of two stays";
}

TEST(JsonReport, OfADirtyHostHasItsHolders) {
    const Json gpu = only_host(dirty_host("gpu01"))["gpus"][2];
    EXPECT_EQ(gpu["verdict"], "dirty");
    EXPECT_EQ(gpu["used_mib"], 76'107);
    EXPECT_EQ(gpu["findings"][0]["severity"], "dirty");
    EXPECT_EQ(gpu["findings"][0]["code"], "memory-in-use");
    const Json holder = gpu["holders"][0];
    EXPECT_EQ(holder["pid"], 812);
    EXPECT_EQ(holder["start"], "5812");
    EXPECT_EQ(holder["user"], "alice");
    EXPECT_EQ(holder["exe"], "/usr/bin/python3.11");
    EXPECT_EQ(holder["command"], "sleep 100000");
    EXPECT_EQ(holder["state"], "S");
    EXPECT_EQ(holder["used_mib"], 76'107);
    EXPECT_EQ(holder["protected"], false);
    EXPECT_TRUE(holder["unit"].is_null());
    EXPECT_EQ(holder["inherited"], true);
}

TEST(JsonReport, SaysNullForWhatWasNotObserved) {
    HostOutcome host = clean_host("gpu01");
    GpuVerdict lost;
    lost.holders.emplace_back().key.pid = 70;
    lost.holders.back().ghost = true;
    host.last->gpus = {lost};
    const Json gpu = only_host(host)["gpus"][0];
    for (const char* name : {"index", "uuid", "bus_id", "name", "used_mib", "total_mib"})
        EXPECT_TRUE(gpu[name].is_null()) << name;
    EXPECT_EQ(gpu["verdict"], "unknown");
    for (const char* name : {"start", "user", "exe", "command", "state", "used_mib", "unit", "age_seconds"})
        EXPECT_TRUE(gpu["holders"][0][name].is_null()) << name;
}

TEST(JsonReport, KeepsAStartTimeThatNoDoubleCanHold) {
    HostOutcome host = dirty_host("gpu01");
    host.last->gpus[2].holders[0].key.start = 18'446'744'073'709'551'615u;
    EXPECT_EQ(only_host(host)["gpus"][2]["holders"][0]["start"], "18446744073709551615");
}

TEST(JsonReport, NamesEachVerdict) {
    const std::pair<Verdict, const char*> all[] = {{Verdict::clean, "clean"},
                                                   {Verdict::dirty, "dirty"},
                                                   {Verdict::sick, "sick"},
                                                   {Verdict::unknown, "unknown"},
                                                   {Verdict::unreachable, "unreachable"}};
    for (const auto& [verdict, word] : all) {
        HostOutcome host = clean_host("gpu01");
        host.verdict = verdict;
        const Json json = read_back(report_of({host}));
        EXPECT_EQ(json["hosts"][0]["verdict"], word);
        EXPECT_EQ(json["summary"]["verdict"], word);
        EXPECT_EQ(json["summary"]["hosts"][word], 1);
    }
}

TEST(JsonReport, HasTheErrorOfAHost) {
    const Json host = only_host(unreachable_host("gpu01"));
    EXPECT_EQ(host["verdict"], "unreachable");
    EXPECT_EQ(host["error"], Json::parse(R"({"kind":"connect_refused","phase":"connect",
        "message":"connection refused","remedy":"see that sshd runs there"})"));
    EXPECT_EQ(host["gpus"], Json::array());
}

TEST(JsonReport, SaysWhoWasNeverTried) {
    const Json host = only_host(not_tried_host("gpu01"));
    EXPECT_EQ(host["verdict"], "unknown");
    EXPECT_EQ(host["error"]["kind"], "not_tried");
    EXPECT_TRUE(host["error"]["phase"].is_null());
    EXPECT_TRUE(host["seconds"].is_null());
}

TEST(JsonReport, NamesEachResultOfASignal) {
    const std::pair<SignalResult, const char*> all[] = {
        {SignalResult::ended, "ended"},      {SignalResult::alive, "alive"},
        {SignalResult::zombie, "zombie"},    {SignalResult::changed, "changed"},
        {SignalResult::planned, "planned"},  {SignalResult::not_permitted, "not_permitted"},
        {SignalResult::not_sent, "not_sent"}};
    for (const auto& [result, word] : all) {
        HostOutcome host = clean_host("gpu01");
        host.signals.push_back(signal_action(1, "TERM", holder(70, "root", "x"), result));
        const Json action = only_host(host)["actions"][0];
        EXPECT_EQ(action["result"], word);
        EXPECT_EQ(action["step"], 1);
        EXPECT_EQ(action["signal"], "TERM");
        EXPECT_EQ(action["pid"], 70);
        EXPECT_EQ(action["start"], "5070");
        EXPECT_EQ(action["seconds"].is_null(), result != SignalResult::ended);
    }
}

TEST(JsonReport, NeverLosesASignalWhoseResultDidNotComeBack) {
    HostOutcome host = unreachable_host("gpu01", "the connection was lost");
    host.signals.push_back(signal_action(1, "KILL", holder(70, "root", "x"), SignalResult::sent));
    const Json actions = only_host(host)["actions"];
    ASSERT_EQ(actions.size(), 1u);
    EXPECT_TRUE(actions[0]["result"].is_null());
    EXPECT_TRUE(actions[0]["seconds"].is_null());
}

TEST(JsonReport, ShowsInvalidBytesAsText) {
    HostOutcome host = dirty_host("gpu01");
    host.last->gpus[2].holders[0].command = "a\xff\x1b[31m\xc3\xa9";
    host.last->gpus[2].name = std::string("\xed\xa0\x80", 3);
    host.error = Error{"x", "y", "banner \xfe", ""};
    const std::string text = written(report_of({host}));
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    const Json json = Json::parse(text)["hosts"][0];
    EXPECT_EQ(json["gpus"][2]["holders"][0]["command"], "a\\xFF\\x1B[31m\xc3\xa9");
    EXPECT_EQ(json["gpus"][2]["name"], "\\xED\\xA0\\x80");
    EXPECT_EQ(json["error"]["message"], "banner \\xFE");
}

TEST(JsonReport, OfAnAdHocCommandHasItsOutput) {
    const Report report =
        report_of({asked_host("gpu01", 7, "one\ntwo\x07\n"), unreachable_host("gpu02")}, "run");
    const Json json = read_back(report);
    EXPECT_EQ(json["summary"]["commands"], Json::parse(R"({"ok":0,"failed":1,"not_asked":1})"));
    EXPECT_TRUE(json["hosts"][0]["verdict"].is_null());
    EXPECT_EQ(json["hosts"][1]["verdict"], "unreachable");
    const Json command = json["hosts"][0]["commands"][0];
    EXPECT_EQ(command["command"], "uname -r");
    EXPECT_EQ(command["result"], "failed");
    EXPECT_EQ(command["exit_status"], 7);
    EXPECT_EQ(command["stdout"], "one\ntwo\\x07\n");
    EXPECT_EQ(command["stderr"], "");
}

TEST(JsonReport, OfADryRunShowsCommandsAsPlannedAndNothingAsSeen) {
    HostOutcome host = planned_host("gpu01");
    CommandAction& command = host.commands.emplace_back();
    command.step = 3;
    command.command = "systemctl stop ollama";
    command.planned = true;
    Report report = report_of({host}, "clear");
    report.dry_run = true;
    const Json json = read_back(report);
    EXPECT_EQ(json["dry_run"], true);
    EXPECT_EQ(json["hosts"][0]["actions"][1]["result"], "planned");
    EXPECT_EQ(json["hosts"][0]["commands"][0]["result"], "planned");
    EXPECT_TRUE(json["hosts"][0]["commands"][0]["stdout"].is_null());
}

TEST(JsonReport, MasksTheSecretsOfACommandUnlessRawOnesWereAskedFor) {
    HostOutcome host = asked_host("gpu01", 0, "");
    host.commands[0].command = "serve --api-key geheim";
    EXPECT_EQ(written(report_of({host}, "run")).find("geheim"), std::string::npos);
    EXPECT_NE(written(report_of({host}, "run"), true).find("geheim"), std::string::npos);
}

TEST(JsonReport, ListsWhatWasLeftAlone) {
    HostOutcome host = dirty_host("gpu01");
    host.spared = {{{345, 99}, "protected", "built-in: nvidia-persistenced"}};
    host.spared_holders = {holder(345, "root", "nvidia-persistenced")};
    const Json spared = only_host(host)["spared"][0];
    EXPECT_EQ(spared["pid"], 345);
    EXPECT_EQ(spared["start"], "99");
    EXPECT_EQ(spared["user"], "root");
    EXPECT_EQ(spared["command"], "nvidia-persistenced");
    EXPECT_EQ(spared["exe"], "/usr/bin/python3.11") << "all that is known of a holder";
    EXPECT_EQ(spared["code"], "protected");
    EXPECT_EQ(spared["why"], "built-in: nvidia-persistenced");
}

TEST(JsonReport, SaysWhatStoppedTheSweep) {
    Report report = report_of({not_tried_host("gpu01")});
    EXPECT_TRUE(read_back(report)["summary"]["stopped_by"].is_null());
    report.result.failure_limit_reached = true;
    EXPECT_EQ(read_back(report)["summary"]["stopped_by"], "max-failures");
    report.result.deadline_passed = true;
    EXPECT_EQ(read_back(report)["summary"]["stopped_by"], "deadline");
    report.result.interrupted = true;
    EXPECT_EQ(read_back(report)["summary"]["stopped_by"], "interrupted");
}

TEST(JsonReport, OfThisMachineHasNoPort) {
    Report report = report_of({clean_host("here")});
    report.local = true;
    EXPECT_TRUE(read_back(report)["hosts"][0]["port"].is_null());
}

TEST(JsonReport, SaysOfWhichGpusAVerdictIsAndWhoseTheHostIs) {
    HostOutcome host = clean_host("gpu01");
    host.last->gpus[1].judged = false;
    host.driver_version = "570.86.15";
    const Json json = only_host(host);
    EXPECT_EQ(json["gpus"][0]["judged"], true);
    EXPECT_EQ(json["gpus"][1]["judged"], false);
    EXPECT_EQ(json["boot_id"], "b00t");
    EXPECT_EQ(json["driver_version"], "570.86.15");
    EXPECT_EQ(json["surveyed"], true);
    EXPECT_EQ(only_host(unreachable_host("gpu01"))["surveyed"], false);
}

TEST(JsonReport, SaysAllThatIsKnownOfASignalledProcessAndHowItWasAtTheEnd) {
    HostOutcome host = dirty_host("gpu01");
    host.signals = {signal_action(1, "TERM", host.last->gpus[2].holders[0], SignalResult::alive)};
    host.signals[0].state = 'D';
    const Json action = only_host(host, "clear")["actions"][0];
    EXPECT_EQ(action["state"], "S");
    EXPECT_EQ(action["end_state"], "D");
    EXPECT_EQ(action["used_mib"], 76'107);
    EXPECT_EQ(action["inherited"], true);
}

TEST(JsonReport, SaysWhoTheTargetsOfAStopAre) {
    HostOutcome host = planned_host("gpu01");
    host.plan_steps[1].targets.push_back({900, 5900});
    host.plan_steps[1].target_holders = {holder(900, "bob", "bash")};
    const Json targets = only_host(host, "clear")["plan"][1]["targets"];
    EXPECT_FALSE(targets[0].contains("user"));
    EXPECT_EQ(targets[1]["user"], "bob");
}

TEST(JsonReport, SaysThatAnAuditFailed) {
    Report report = report_of({clean_host("gpu01")}, "clear");
    EXPECT_TRUE(read_back(report)["audit_error"].is_null());
    report.result.audit_failed = true;
    report.result.audit_error = "disk full";
    EXPECT_EQ(read_back(report)["audit_error"], "disk full");
}

TEST(JsonReport, HasItsPiecesAloneAsTheyStandInTheDocument) {
    const Report report = golden_report();
    const std::string text = written(report);
    EXPECT_NE(text.find("\"summary\":" + json_of_summary(report) + ",\n\"hosts\":["), std::string::npos);
    for (const HostOutcome& host : report.result.hosts)
        EXPECT_NE(text.find("\n" + json_of_host(report, host, false)), std::string::npos) << host.name;
}

TEST(JsonReport, IsWrittenHostByHost) {
    std::size_t pieces = 0, longest = 0;
    std::vector<HostOutcome> hosts(100, clean_host("gpu01"));
    write_json(report_of(hosts), false, [&](std::string_view piece) {
        ++pieces;
        longest = std::max(longest, piece.size());
    });
    EXPECT_EQ(pieces, 102u);
    EXPECT_LT(longest, 4096u);
}

TEST(JsonReport, OfNoHostIsStillOneDocument) { EXPECT_EQ(read_back(report_of({}))["hosts"], Json::array()); }

TEST(JsonReport, OfAnActHasItsKindWhatItIsAboutAndWhetherItIsWithheld) {
    using Kind = CommandAction::Kind;
    HostOutcome host = dirty_host("gpu01");
    host.commands = {done(act(Kind::stop, 2, "systemctl stop x.service", "supervisor of 812")),
                     act(Kind::clean_shm, 3, "/dev/shm/nccl-1", "--allow-shm was not given")};
    host.commands[1].withheld = true;
    host.commands[1].bytes = 4096;
    const Json commands = only_host(host, "clear")["commands"];
    EXPECT_EQ(commands[0]["kind"], "stop");
    EXPECT_EQ(commands[0]["about"], "supervisor of 812");
    EXPECT_EQ(commands[0]["withheld"], false);
    EXPECT_EQ(commands[0]["result"], "ok");
    EXPECT_TRUE(commands[0]["bytes"].is_null());
    EXPECT_EQ(commands[1]["kind"], "clean_shm");
    EXPECT_EQ(commands[1]["withheld"], true);
    EXPECT_EQ(commands[1]["result"], "withheld");
    EXPECT_EQ(commands[1]["bytes"], 4096);
    EXPECT_TRUE(commands[1]["stdout"].is_null());
}

TEST(JsonReport, OfADryRunHasEachStepOfThePlan) {
    HostOutcome host = planned_host("gpu01");
    plan_act(host, act(CommandAction::Kind::run, 4, "sync"));
    host.plan_steps[0].spared = {{{345, 99}, "protected", "built-in"}};
    host.plan_steps[2].notes = {"not reached"};
    const Json plan = only_host(host, "clear")["plan"];
    ASSERT_EQ(plan.size(), 4u);
    EXPECT_EQ(plan[0], Json::parse(R"({"step":1,"name":"TERM holders","targets":[{"pid":812,"start":"5812"}],
        "spared":[{"pid":345,"start":"99","code":"protected","why":"built-in"}],"commands":[],"notes":[]})"));
    EXPECT_EQ(plan[2]["notes"], Json::parse(R"(["not reached"])"));
    EXPECT_EQ(plan[3]["commands"], Json::parse("[0]"));
    EXPECT_TRUE(only_host(dirty_host("gpu01"))["plan"].is_null());
}

}  // namespace
}  // namespace cleanslate::controller::testing
