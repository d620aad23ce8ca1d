#include "controller/commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "agentless/findings.hpp"
#include "playbooks/playbook.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

struct Ended {
    int status = -1;
    std::string out, err;
    Json json() const { return Json::parse(out, nullptr, false); }
};

// A command line from its words to its end, in this process, without a terminal.
class Program : public ::testing::Test {
  protected:
    Ended run(const std::vector<std::string>& arguments) {
        const Environment environment{{"HOME", folder_.file("home")}};
        const auto options = read_command_line(arguments, environment);
        if (!options) return {options.error().exit_status, options.error().out, options.error().err};
        std::FILE* file = std::fopen(folder_.file("stdout").c_str(), "w");
        Output out(::fileno(file));
        ::testing::internal::CaptureStderr();
        Ended ended;
        ended.status = run_command_line({*options, environment, arguments, Terminal{}, out});
        ended.err = ::testing::internal::GetCapturedStderr();
        std::fclose(file);
        ended.out = contents_of(folder_.file("stdout"));
        return ended;
    }
    std::string input(const std::string& text) {
        put(folder_.file("input"), text);
        return folder_.file("input");
    }
    TemporaryFolder folder_;
};

// The samples of seeds.txt: what stands below each run of comment lines.
std::vector<std::string> seeds() {
    std::vector<std::string> samples;
    std::istringstream lines(contents_of(CLEANSLATE_SOURCE_DIR "/tests/corpus/seeds.txt"));
    bool comment_before = false;
    for (std::string line; std::getline(lines, line);) {
        const bool comment = line.starts_with('#');
        if (comment && !comment_before) samples.emplace_back();
        if (!comment) samples.back() += line + "\n";
        comment_before = comment;
    }
    return samples;
}

TEST_F(Program, HostsPrintsTheSelectedNames) {
    put(folder_.file("fleet.yaml"), "all:\n  hosts:\n    gpu[01-03]:\n    cpu01:\n");
    const Ended all = run({"hosts", "-i", folder_.file("fleet.yaml"), "-l", "gpu*"});
    EXPECT_EQ(all.status, 0);
    EXPECT_EQ(all.out, "gpu01\ngpu02\ngpu03\n");
    EXPECT_EQ(run({"hosts", "-i", folder_.file("fleet.yaml"), "-l", "gpu*", "--folded"}).out, "gpu[01-03]\n");
    EXPECT_EQ(run({"hosts", "-H", "root@n[1-2]"}).out, "n1\nn2\n");
}

TEST_F(Program, HostsTellsTheSettingsInForceAndTheGroups) {
    put(folder_.file("fleet.yaml"),
        "all:\n  vars: {ansible_user: root, gpus: 8}\n  children:\n"
        "    rack1: {hosts: {gpu01: {ansible_port: 2222, protect: [ours]}}}\n"
        "    rack2: {hosts: {gpu02: }}\n");
    const Json json =
        run({"hosts", "-i", folder_.file("fleet.yaml"), "-l", "gpu01", "--format", "json"}).json();
    EXPECT_EQ(json["schema"], "cleanslate.hosts/1");
    ASSERT_EQ(json["hosts"].size(), 1u);
    const Json& host = json["hosts"][0];
    EXPECT_EQ(host["name"], "gpu01");
    EXPECT_EQ(host["address"], "gpu01");
    EXPECT_EQ(host["port"], 2222);
    EXPECT_EQ(host["user"], "root");
    EXPECT_EQ(host["gpus"], 8);
    EXPECT_EQ(host["become"], nullptr) << "not said is not false";
    EXPECT_EQ(host["protect"], Json({"ours"}));
    EXPECT_EQ(host["groups"], Json({"all", "rack1"}));
    EXPECT_EQ(run({"hosts", "-i", folder_.file("fleet.yaml"), "--groups"}).out, "all\nrack1\nrack2\n");
    EXPECT_EQ(run({"hosts", "-i", folder_.file("fleet.yaml"), "-l", "gpu02", "--groups"}).out,
              "all\nrack2\n");
    EXPECT_EQ(run({"hosts", "--local", "--format", "json"}).json()["hosts"].size(), 1u);
    EXPECT_EQ(run({"hosts", "-H", "n1", "--folded", "--format", "json"}).status, 2);
}

TEST_F(Program, HostsTellsWhatIsWorthSayingAboutTheInventory) {
    const std::string name = folder_.file("fleet.yaml");
    put(name, "all: {hosts: {rack1: , gpu01: {rack: a}}, more: 1}\nrack1: {hosts: {gpu01: }}\n");
    const std::vector<std::string> notes{
        "variables of the inventory that mean nothing here: rack (" + name + ":1:32)",
        name +
            ":1:43: passed over, as Ansible does: the key more in group all, which has hosts, vars and "
            "children",
        name + ": a host and a group at once, a limit selects both: rack1"};
    std::string lines;
    for (const std::string& note : notes) lines += "note: " + note + "\n";
    EXPECT_EQ(run({"hosts", "-i", name}).err, lines);
    EXPECT_EQ(run({"hosts", "-i", name}).out, "rack1\ngpu01\n");
    EXPECT_EQ(run({"hosts", "-i", name, "--groups"}).err, lines);
    const Ended json = run({"hosts", "-i", name, "--format", "json"});
    EXPECT_EQ(json.err, lines);
    EXPECT_EQ(json.json()["notes"], Json(notes));
    EXPECT_EQ(run({"hosts", "-H", "n1", "--format", "json"}).json()["notes"], Json::array());
    EXPECT_EQ(run({"hosts", "-H", "n1"}).err, "");
}

TEST_F(Program, HostsRefusesWhatSelectsNothing) {
    put(folder_.file("fleet.yaml"), "all:\n  hosts:\n    gpu[01-03]:\n");
    const Ended none = run({"hosts", "-i", folder_.file("fleet.yaml"), "-l", "gpu09"});
    EXPECT_EQ(none.status, 2);
    EXPECT_EQ(none.out, "");
    EXPECT_THAT(none.err, HasSubstr("gpu09"));
    put(folder_.file("broken.yaml"), "all:\n  hosts:\n    a:\n    a:\n");
    const Ended broken = run({"hosts", "-i", folder_.file("broken.yaml")});
    EXPECT_EQ(broken.status, 2);
    EXPECT_THAT(broken.err, HasSubstr("broken.yaml:4:5"));
}

TEST_F(Program, PlaybooksListsTheBuiltInOnesWithTheirDescriptions) {
    const Ended listed = run({"playbooks"});
    EXPECT_EQ(listed.status, 0);
    for (const auto& built_in : playbooks::built_in_playbooks())
        EXPECT_THAT(listed.out, ::testing::ContainsRegex("(^|\n)" + std::string(built_in.name) + " +[^ \n]"));
}

TEST_F(Program, PlaybooksPrintsOneUnchanged) {
    for (const auto& built_in : playbooks::built_in_playbooks()) {
        const Ended printed = run({"playbooks", std::string(built_in.name)});
        EXPECT_EQ(printed.status, 0);
        EXPECT_EQ(printed.out, built_in.text);
    }
    EXPECT_EQ(run({"playbooks", "no-such-playbook"}).status, 2);
}

TEST_F(Program, ParseJudgesTheSeeds) {
    const auto samples = seeds();
    ASSERT_EQ(samples.size(), 4u);
    const int expected[] = {0, 0, 1, 3};
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::string file = input(samples[i]);
        const Ended text = run({"parse", "--expect", "8", file});
        EXPECT_EQ(text.status, expected[i]) << text.out;
        const Ended json = run({"parse", "--expect", "8", "--format", "json", file});
        EXPECT_EQ(json.status, expected[i]);
        ASSERT_FALSE(json.json().is_discarded());
        EXPECT_EQ(json.json()["command"], "parse");
        EXPECT_EQ(json.json()["hosts"][0]["name"], "-");
        EXPECT_EQ(json.json()["summary"]["exit_status"], expected[i]);
    }
}

TEST_F(Program, ParseSaysWhichGpuIsDirty) {
    const Json host =
        run({"parse", "--expect", "8", "--format", "json", input(seeds()[2])}).json()["hosts"][0];
    ASSERT_EQ(host["gpus"].size(), 8u);
    for (const Json& gpu : host["gpus"]) EXPECT_EQ(gpu["verdict"], gpu["index"] == 2 ? "dirty" : "clean");
    EXPECT_THAT(run({"parse", "--expect", "8", input(seeds()[2])}).out,
                HasSubstr("GPU 2       dirty   76107 MiB"));
}

TEST_F(Program, ParseReportsTheRepairedRow) {
    const Json host =
        run({"parse", "--expect", "8", "--format", "json", input(seeds()[1])}).json()["hosts"][0];
    ASSERT_EQ(host["gpus"].size(), 8u);
    EXPECT_EQ(host["gpus"][0]["index"], 0);
    EXPECT_EQ(host["gpus"][0]["repaired"], true);
    EXPECT_THAT(run({"parse", "--expect", "8", input(seeds()[1])}).out, HasSubstr("repaired"));
}

TEST_F(Program, ParseWithoutACountIsUnknownAndNamesTheFlag) {
    const Ended ended = run({"parse", input("0, 0 MiB\n1, 0 MiB\n")});
    EXPECT_EQ(ended.status, 3);
    EXPECT_THAT(ended.out, HasSubstr("--expect"));
    EXPECT_EQ(run({"parse", "--expect", "any", input("0, 0 MiB\n1, 0 MiB\n")}).status, 0);
}

TEST_F(Program, ParseRefusesAFileThatIsNotThere) {
    const Ended ended = run({"parse", folder_.file("absent")});
    EXPECT_EQ(ended.status, 2);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr("absent"));
}

TEST_F(Program, ClearWithoutATerminalWantsYesOrADryRunBeforeAnythingElse) {
    for (const auto& command : {std::vector<std::string>{"clear", "-H", "127.0.0.1:1"},
                                std::vector<std::string>{"run", "-H", "127.0.0.1:1", "--", "true"}}) {
        const Ended ended = run(command);
        EXPECT_EQ(ended.status, 2);
        EXPECT_EQ(ended.out, "");
        EXPECT_THAT(ended.err, HasSubstr("--yes"));
        EXPECT_FALSE(std::filesystem::exists(folder_.file("home/.local")));
    }
}

TEST_F(Program, ClearWithoutAnAuditLogContactsNobody) {
    put(folder_.file("home"), "a file where the home should be");
    const Ended ended = run({"clear", "-H", "127.0.0.1:1", "--yes"});
    EXPECT_EQ(ended.status, 5);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr("audit log"));
    EXPECT_EQ(run({"run", "-H", "127.0.0.1:1", "--yes", "--", "true"}).status, 5);
}

TEST_F(Program, CleanHostsThatCannotBeWrittenStopEverythingBefore) {
    const Ended ended = run({"check", "-H", "127.0.0.1:1", "--clean-hosts", folder_.file("no/such/file")});
    EXPECT_EQ(ended.status, 5);
    EXPECT_EQ(ended.out, "");
}

TEST_F(Program, ExplainListsEveryCodeInLinesOfEightyColumns) {
    const Ended listed = run({"explain"});
    EXPECT_EQ(listed.status, 0);
    std::istringstream all(listed.out);
    for (std::string line; std::getline(all, line);) EXPECT_LE(line.size(), 80u) << line;
    for (const auto& kind : agentless::finding_kinds()) {
        EXPECT_THAT(listed.out, ::testing::ContainsRegex("(^|\n)" + std::string(kind.code) + " +" +
                                                         std::string(to_string(kind.severity)) + " "));
    }
}

TEST_F(Program, ExplainSaysAllThatTheTableSaysOfEachCode) {
    for (const auto& kind : agentless::finding_kinds()) {
        const Ended told = run({"explain", std::string(kind.code)});
        EXPECT_EQ(told.status, 0);
        std::string flat;  // as one line
        for (const char c : told.out) flat += c == '\n' ? ' ' : c;
        flat.erase(std::unique(flat.begin(), flat.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
                   flat.end());
        EXPECT_THAT(flat, ::testing::StartsWith(std::string(kind.code) + ": "));
        for (const auto part : {kind.meaning, kind.evidence, kind.remedy})
            EXPECT_THAT(flat, HasSubstr(std::string(part)));
        std::istringstream lines(told.out);
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
    }
}

TEST_F(Program, ExplainTakesACodeAsItIsCopiedOutOfAReport) {
    const std::string told = run({"explain", "driver-hung"}).out;
    EXPECT_EQ(run({"explain", "driver-hung:"}).out, told);
    EXPECT_EQ(run({"explain", "Driver_Hung"}).out, told);
    EXPECT_EQ(run({"explain", "driver-hung", "driver-hung"}).out, told) << "once";
    EXPECT_EQ(run({"explain", "held", "driver-hung"}).out, run({"explain", "held"}).out + told);
}

TEST_F(Program, ExplainNamesCodesNearToOneThatDoesNotExist) {
    const Ended slip = run({"explain", "held", "memory-in-us"});
    EXPECT_EQ(slip.status, 2);
    EXPECT_EQ(slip.out, "") << "all or nothing";
    EXPECT_THAT(slip.err, HasSubstr("no such finding code: memory-in-us\n  -> did you mean memory-in-use?"));
    EXPECT_THAT(run({"explain", "hung"}).err, HasSubstr("driver-hung"));
    EXPECT_THAT(run({"explain", "quite-another-thing"}).err,
                HasSubstr("`cleanslate explain` lists them all"));
    for (const std::string& word : {std::string(""), std::string("-"), std::string(10'000, 'x'),
                                    std::string("\x1b[2J\n\xff"), std::string("held\0x", 6)}) {
        const Ended odd = run({"explain", "--", word});
        EXPECT_EQ(odd.status, 2);
        EXPECT_EQ(odd.out, "");
        EXPECT_LT(odd.err.size(), 400u);
        EXPECT_EQ(odd.err.find('\x1b'), std::string::npos);
    }
}

TEST_F(Program, ExplainAsJsonHasTheWholeTable) {
    const Json all = run({"explain", "--format", "json"}).json();
    ASSERT_FALSE(all.is_discarded());
    EXPECT_EQ(all["schema"], "cleanslate.findings/1");
    ASSERT_EQ(all["findings"].size(), agentless::finding_kinds().size());
    const Json one = run({"explain", "--format", "json", "mig-mode"}).json()["findings"];
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0]["severity"], "note");
    EXPECT_TRUE(one[0]["remedy"].is_null());
}

TEST_F(Program, BaselineLeavesAFileAloneThatIsNone) {
    for (const char* text : {"all:\n  hosts:\n    gpu01:\n", "names\nof hosts\n",
                             "\x7f"
                             "ELF"}) {
        put(folder_.file("other"), text);
        const Ended ended = run({"baseline", "-H", "127.0.0.1:1", "-o", folder_.file("other")});
        EXPECT_EQ(ended.status, 2);
        EXPECT_EQ(ended.out, "");
        EXPECT_THAT(ended.err, HasSubstr("no baseline"));
        EXPECT_EQ(contents_of(folder_.file("other")), text);
    }
}

TEST_F(Program, BaselineSaysBeforeAnyContactThatItsFileCannotBeWritten) {
    EXPECT_EQ(run({"baseline", "-H", "127.0.0.1:1", "-o", folder_.file("no/such/file")}).status, 5);
    EXPECT_EQ(run({"baseline", "-H", "127.0.0.1:1", "-o", folder_.file("")}).status, 5) << "a folder";
    ASSERT_EQ(::mkfifo(folder_.file("pipe").c_str(), 0600), 0);
    EXPECT_EQ(run({"baseline", "-H", "127.0.0.1:1", "-o", folder_.file("pipe")}).status, 5);
    EXPECT_EQ(run({"baseline", "-i", folder_.file("absent.yaml"), "-o", folder_.file("new")}).status, 2);
    EXPECT_FALSE(std::filesystem::exists(folder_.file("new")));
}

TEST_F(Program, BaselineOfHostsThatCannotBeReachedLeavesTheOldOneInPlace) {
    const std::string old =
        "version: 1\n"
        "gpus:\n"
        "  GPU-00000000-1111-2222-3333-444444444444: {host: gpu01, index: 0, used_mib: 4}\n";
    put(folder_.file("idle.yaml"), old);
    const Ended ended = run({"baseline", "-H", "127.0.0.1:1", "-o", folder_.file("idle.yaml"),
                             "--known-hosts", folder_.file("none"), "--host-key-check", "off"});
    EXPECT_EQ(ended.status, 3);
    EXPECT_EQ(contents_of(folder_.file("idle.yaml")), old);
    EXPECT_THAT(ended.err, HasSubstr("no GPU could be recorded"));
    EXPECT_THAT(ended.out, HasSubstr("left as it was"));
}

TEST_F(Program, RefusesABaselineThatIsNoneBeforeAnyContact) {
    put(folder_.file("broken.yaml"), "version: 1\ngpus:\n  GPU-1: {}\n");
    for (const auto* command : {"check", "parse"}) {
        std::vector<std::string> words{command, "--baseline", folder_.file("broken.yaml")};
        if (std::string(command) == "check") words.insert(words.end(), {"-H", "127.0.0.1:1"});
        const Ended ended = run(words);
        EXPECT_EQ(ended.status, 2);
        EXPECT_EQ(ended.out, "");
        EXPECT_THAT(ended.err, HasSubstr("broken.yaml:3:3: "));
    }
}

TEST_F(Program, RefusesAPlaybookOrInventoryBeforeAnyContact) {
    EXPECT_EQ(run({"clear", "-H", "127.0.0.1:1", "--yes", "-p", "no-such"}).status, 2);
    EXPECT_EQ(run({"check", "-i", folder_.file("absent.yaml")}).status, 2);
    EXPECT_EQ(run({"check", "-H", "gpu[03-01]"}).status, 2);
    EXPECT_EQ(run({"clear", "-H", "127.0.0.1:1", "--yes", "--set", "nope=1"}).status, 2);
}

TEST_F(Program, ConfigPrintsEachSettingAndItsSource) {
    put(folder_.file("own.yaml"), "fanout: 64\nprotect: [ours, 'a: b']\ninventory: []\n");
    const auto text = run({"config", "--config", folder_.file("own.yaml")});
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("# " + folder_.file("own.yaml") + ", --config: read\n"));
    EXPECT_THAT(text.out, ::testing::ContainsRegex("\nfanout: 64 +# .*own.yaml:1:9\n"));
    EXPECT_THAT(text.out,
                ::testing::ContainsRegex("\nprotect:\n  - ours +# .*own.yaml:2:11\n  - 'a: b' +# "));
    EXPECT_THAT(text.out, ::testing::ContainsRegex("\n#timeout: 60s +# built-in default\n"));
    EXPECT_THAT(text.out, ::testing::ContainsRegex("\nhistory: .*history.db +# .HOME\n"));

    const auto json = run({"config", "--config", folder_.file("own.yaml"), "--format", "json"}).json();
    EXPECT_EQ(json["schema"], "cleanslate.config/1");
    for (const auto& setting : json["settings"]) {
        if (setting["key"] != "fanout") continue;
        EXPECT_EQ(setting["values"][0]["value"], "64");
        EXPECT_EQ(setting["values"][0]["source"], "file");
        EXPECT_EQ(setting["values"][0]["line"], 1);
        EXPECT_EQ(setting["built_in"], "128");
    }
}

TEST_F(Program, ConfigsAnswerIsAConfigFileThatSaysTheSame) {
    put(folder_.file("own.yaml"), "fanout: 64\nprotect: [ours, 'a: b', \"it's\"]\nformat: [text, csv=x]\n");
    const auto first = run({"config", "--config", folder_.file("own.yaml")});
    put(folder_.file("again.yaml"), first.out);
    const auto second = run({"config", "--config", folder_.file("again.yaml")});
    EXPECT_EQ(second.status, 0) << second.err;
    EXPECT_THAT(second.out, HasSubstr("  - 'it''s' "));
    EXPECT_THAT(second.out, HasSubstr("  - csv=" + folder_.file("x") + " "));
}

TEST_F(Program, ConfigsAnswerReadsBackWhateverIsInIt) {
    put(folder_.file("own.yaml"),
        "protect: [\"a\\tb'\\\"\\\\c\", \"\\x85\\u202E\\U0001FFFE\", \"\\xE9 \\u20AC\", \"x\\ny\"]\n");
    const auto values_of = [&](const std::string& file) {
        const auto json = run({"config", "--config", file, "--format", "json"}).json();
        std::vector<std::string> values;
        for (const auto& setting : json["settings"])
            if (setting["key"] == "protect")
                for (const auto& value : setting["values"]) values.push_back(value["value"]);
        return values;
    };
    const auto text = run({"config", "--config", folder_.file("own.yaml")}).out;
    EXPECT_THAT(text, HasSubstr("\n  - \"a\\x09b'\\\"\\\\c\" "));
    EXPECT_THAT(text, HasSubstr("\n  - \"\\x85\\u202E\\U0001FFFE\" "));
    EXPECT_THAT(text, HasSubstr("\n  - '\u00E9 \u20AC' ")) << "what can be printed stays";
    put(folder_.file("again.yaml"), text);
    EXPECT_EQ(values_of(folder_.file("again.yaml")), values_of(folder_.file("own.yaml")));
    EXPECT_EQ(values_of(folder_.file("again.yaml")).size(), 4u);
}

TEST_F(Program, ConfigNamesWhatIsBrokenAndShowsTheRest) {
    put(folder_.file("own.yaml"), "fanout: lots\n");
    auto ended = run({"config", "--config", folder_.file("own.yaml")});
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.err, HasSubstr("own.yaml:1:9: fanout: wants a number"));
    put(folder_.file("own.yaml"), "fan: 3\n");
    ended = run({"config", "--config", folder_.file("own.yaml")});
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.out, HasSubstr(", --config: refused\n"));
    EXPECT_THAT(ended.out, HasSubstr("\n#fanout: 128 "));
}

TEST_F(Program, WithoutAHistoryRepeatsNothing) {
    put(folder_.file("fleet.yaml"), "all: {hosts: {gpu01: }}\n");
    for (const std::string command : {"check", "clear", "hosts"}) {
        const auto ended = run({command, "-i", folder_.file("fleet.yaml"), "--last-failed"});
        EXPECT_EQ(ended.status, 2);
        EXPECT_EQ(ended.out, "");
        EXPECT_THAT(ended.err, HasSubstr("--last-failed"));
    }
}

}  // namespace
}  // namespace cleanslate::controller::testing
