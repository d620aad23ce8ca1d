// What a survey asks nvidia-smi beside the core queries: when, how often, and of which fields.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "agentless/nvidia_smi_optional.hpp"
#include "base/text.hpp"
#include "tests/scripts/survey_fixture.hpp"

namespace cleanslate::agentless::survey_tests {
namespace {

using cleanslate::testing::all_shells;
using cleanslate::testing::inside;
using cleanslate::testing::Runner;
using cleanslate::testing::Sandbox;
using cleanslate::testing::Seen;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Names = std::vector<std::string>;

Names all_fields() {
    Names names;
    for (const auto& field : optional_fields()) names.emplace_back(field.name);
    return names;
}

Names without(Names names, const Names& gone) {
    for (const auto& name : gone) std::erase(names, name);
    return names;
}

// Answers as a binary does that knows the fields of /run/known, and notes each call in /run/calls. `before`
// (sh) comes first; `help` is how it answers --help-query-gpu.
void install(
    Sandbox& host, const Names& known, const std::string& before = "",
    const std::string& help = "for f in $known; do echo \"\\\"$f\\\"\"; echo 'What it \"is\".'; done") {
    std::string words;
    for (const auto& name : known) words += " " + name;
    host.file(
        "/opt/bin/nvidia-smi",
        "#!/bin/sh\nknown='" + words + " '\necho \"$1\" >>/run/calls\n" + before +
            "\ncase $1 in\n"
            "--query-compute-apps=*) exit 0 ;;\n"
            "--query-gpu=index,uuid,pci.bus_id,memory.used,*)\n"
            "  echo '0, GPU-00000000-1111-2222-3333-444444444444, 00000000:00:06.0, 0 MiB, 143771 MiB, 30, "
            "P0, NVIDIA H200' ;;\n"
            "--query-gpu=*)\n"
            "  row= all=${1#*=index,uuid,pci.bus_id,}\n"
            "  IFS=,\n"
            "  for f in $all; do\n"
            "    case $known in *\" $f \"*) row=\"$row, [N/A]\" ;; *)\n"
            "      printf 'Field \"%s\" is not a valid field to query.\\n\\n' \"$f\"; exit 2 ;; esac\n"
            "  done\n"
            "  echo \"0, GPU-00000000-1111-2222-3333-444444444444, 00000000:00:06.0$row\" ;;\n"
            "--help-query-gpu) " +
            help +
            " ;;\n"
            "-L) echo 'GPU 0: NVIDIA H200 (UUID: GPU-00000000-1111-2222-3333-444444444444)' ;;\n"
            "esac\n");
}

int calls(const std::string& what) {
    std::ifstream in("/run/calls");
    int count = 0;
    for (std::string line; std::getline(in, line);) count += line.starts_with(what) ? 1 : 0;
    return count;
}

void count_calls(Seen& out) {
    out.ids["opt"] = calls("--query-gpu=") - 1;
    out.ids["help"] = calls("--help-query-gpu");
    out.ids["list"] = calls("-L");
}

class SurveyOptional : public SurveyScript {
  protected:
    Seen look(const Names& known, SurveyRequest request = usual(), const std::string& before = "") {
        return inside([&](Sandbox& host, Seen& out) {
            install(host, known, before);
            host.run(GetParam(), survey_script(request, nonce), out);
            count_calls(out);
            out.ids["left"] = host.left();
        });
    }
    Seen look_with_help(const Names& known, const std::string& help) {
        return inside([&](Sandbox& host, Seen& out) {
            install(host, known, "", help);
            host.run(GetParam(), survey_script(usual(), nonce), out);
            count_calls(out);
            out.ids["pwned"] = ::access("/run/pwned", F_OK) == 0;
        });
    }
};
INSTANTIATE_TEST_SUITE_P(Shells, SurveyOptional, ::testing::ValuesIn(all_shells()), name_of);

void expect_core(const Evidence& evidence) {
    EXPECT_TRUE(evidence.complete);
    EXPECT_EQ(evidence.gpu_query.exit_status, 0);
    EXPECT_EQ(evidence.app_query.exit_status, 0);
    EXPECT_THAT(evidence.gpus, SizeIs(1));
    EXPECT_THAT(evidence.messages, IsEmpty());
    EXPECT_THAT(evidence.cuts, IsEmpty());
    EXPECT_TRUE(evidence.holders_visible);
}

TEST_P(SurveyOptional, AsksOnceWhereEveryFieldIsKnown) {
    const auto seen = look(all_fields());
    const auto evidence = read(seen);
    expect_core(evidence);
    EXPECT_EQ(evidence.optional_query.exit_status, 0);
    EXPECT_EQ(evidence.optional_fields, all_fields());
    EXPECT_THAT(evidence.unknown_fields, IsEmpty());
    EXPECT_THAT(evidence.optional_problems, IsEmpty());
    EXPECT_THAT(evidence.gpus.at(0).optional, SizeIs(all_fields().size()));
    ASSERT_TRUE(evidence.listed.has_value());
    EXPECT_THAT(*evidence.listed, SizeIs(1));
    for (const auto* tool :
         {&evidence.gpu_query, &evidence.app_query, &evidence.optional_query, &evidence.list_query}) {
        EXPECT_TRUE(tool->took.has_value());
        EXPECT_FALSE(tool->skipped);
    }
    EXPECT_EQ(seen.ids.at("opt"), 1);
    EXPECT_EQ(seen.ids.at("help"), 0);
    EXPECT_EQ(seen.ids.at("list"), 1);
    EXPECT_EQ(seen.ids.at("left"), 0);
}

TEST_P(SurveyOptional, AsksForOlderNamesAndLeavesOutWhatTheHelpDoesNotList) {
    const Names newer{"clocks_event_reasons.hw_slowdown", "clocks_event_reasons.sw_thermal_slowdown"};
    const Names gone{"gpu_recovery_action", "fabric.state", "fabric.status", "addressing_mode"};
    auto known = without(without(all_fields(), newer), gone);
    known.emplace_back("clocks_throttle_reasons.hw_slowdown");
    known.emplace_back("clocks_throttle_reasons.sw_thermal_slowdown");
    const auto seen = look(known);
    const auto evidence = read(seen);
    expect_core(evidence);
    EXPECT_EQ(evidence.optional_query.exit_status, 0);
    EXPECT_THAT(evidence.unknown_fields, ::testing::UnorderedElementsAreArray(gone));
    EXPECT_THAT(evidence.optional_fields, ::testing::UnorderedElementsAreArray(known));
    EXPECT_THAT(evidence.optional_problems, IsEmpty());
    EXPECT_THAT(evidence.gpus.at(0).optional, SizeIs(known.size()));
    EXPECT_EQ(seen.ids.at("opt"), 2);
    EXPECT_EQ(seen.ids.at("help"), 1);
    EXPECT_EQ(seen.ids.at("list"), 1);
    EXPECT_EQ(seen.ids.at("left"), 0);
}

TEST_P(SurveyOptional, LeavesOutOneFieldAfterTheOtherWhereTheHelpIsNoHelp) {
    const auto all = all_fields();
    const Names four{all[0], all[3], all[4], all.back()};
    for (const auto* help : {"echo nothing", ": ", "echo '\"$(: >/run/pwned)\" or \"`: >/run/pwned`\" or \"'",
                             "echo '\"*\"'; echo '\"index,uuid\"'; exit 3"}) {
        const auto seen = look_with_help(without(all, four), help);
        const auto evidence = read(seen);
        expect_core(evidence);
        EXPECT_EQ(evidence.unknown_fields, four);
        EXPECT_EQ(evidence.optional_fields, without(all, four));
        EXPECT_EQ(evidence.optional_query.exit_status, 0);
        EXPECT_EQ(seen.ids.at("opt"), 5);
        EXPECT_EQ(seen.ids.at("help"), 1);
        EXPECT_EQ(seen.ids.at("pwned"), 0);
    }
}

TEST_P(SurveyOptional, GivesUpOnABinaryThatNamesOneUnknownFieldAfterTheOther) {
    const auto all = all_fields();
    const auto seen = look_with_help({}, "for f in " + all[0] + " " + all[1] + " " + all[2] + " " + all[3] +
                                             " " + all[4] + " " + all[5] + "; do echo \"\\\"$f\\\"\"; done");
    const auto evidence = read(seen);
    expect_core(evidence);
    EXPECT_EQ(evidence.optional_query.exit_status, 2);
    EXPECT_THAT(evidence.optional_problems, Not(IsEmpty()));
    EXPECT_THAT(evidence.gpus.at(0).optional, IsEmpty());
    EXPECT_THAT(evidence.unknown_fields, SizeIs(all.size() - 2));
    EXPECT_EQ(seen.ids.at("opt"), 5);
    EXPECT_EQ(seen.ids.at("help"), 1);
}

TEST_P(SurveyOptional, AsksNothingWhereNoFieldIsKnown) {
    const auto seen = look_with_help({}, "echo '\"index\"'; echo '\"clocks_throttle_reasons.hw_slowdown\"'");
    const auto evidence = read(seen);
    expect_core(evidence);
    EXPECT_TRUE(evidence.optional_query.skipped);
    EXPECT_THAT(evidence.optional_fields, IsEmpty());
    EXPECT_THAT(evidence.unknown_fields, Contains("clocks_throttle_reasons.hw_slowdown"));
    EXPECT_THAT(evidence.unknown_fields, SizeIs(all_fields().size()));
    EXPECT_EQ(seen.ids.at("opt"), 2);
    EXPECT_EQ(seen.ids.at("help"), 1);
}

TEST_P(SurveyOptional, BelievesNoFieldNameThatWasNotAskedFor) {
    for (const auto* name : {"$(: >/run/pwned)", "`: >/run/pwned`", "*", "index", "", "a,b", "x\" \"y"}) {
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            host.file("/run/answer",
                      std::string("Field \"") + name + "\" is not a valid field to query.\n\n");
            install(host, all_fields(),
                    "case $1 in *memory.used,*) ;; --query-gpu=*) cat /run/answer; exit 2 ;; esac");
            host.run(GetParam(), survey_script(usual(), nonce), out);
            count_calls(out);
            out.ids["pwned"] = ::access("/run/pwned", F_OK) == 0;
        });
        const auto evidence = read(seen);
        expect_core(evidence);
        EXPECT_EQ(evidence.optional_query.exit_status, 2) << name;
        EXPECT_THAT(evidence.optional_problems, Contains(HasSubstr("not a valid field"))) << name;
        EXPECT_THAT(evidence.unknown_fields, IsEmpty());
        EXPECT_EQ(seen.ids.at("opt"), 1);
        EXPECT_EQ(seen.ids.at("help"), 0);
        EXPECT_EQ(seen.ids.at("pwned"), 0);
    }
}

TEST_P(SurveyOptional, AsksOnceForWhatAnEarlierSurveyFoundOut) {
    auto request = usual();
    request.optional_fields = Names{"mig.mode.current", "clocks_throttle_reasons.hw_slowdown"};
    const auto seen = look(*request.optional_fields, request);
    const auto evidence = read(seen);
    expect_core(evidence);
    EXPECT_EQ(evidence.optional_fields, *request.optional_fields);
    EXPECT_EQ(evidence.optional_query.exit_status, 0);
    EXPECT_THAT(evidence.gpus.at(0).optional, SizeIs(2));
    const auto other = look({}, request);
    EXPECT_EQ(read(other).optional_query.exit_status, 2);
    EXPECT_EQ(other.ids.at("opt"), 1);
    EXPECT_EQ(other.ids.at("help"), 0);
    request.optional_fields = Names{};
    const auto none = look(all_fields(), request);
    EXPECT_TRUE(read(none).optional_query.skipped);
    EXPECT_EQ(none.ids.at("opt"), 0);
    EXPECT_EQ(none.ids.at("list"), 1);
}

TEST_P(SurveyOptional, AsksNothingThatIsNotWanted) {
    auto request = usual();
    request.optional_evidence = false;
    const auto seen = look(all_fields(), request);
    const auto evidence = read(seen);
    expect_core(evidence);
    EXPECT_TRUE(evidence.optional_query.skipped && evidence.list_query.skipped);
    EXPECT_FALSE(evidence.listed.has_value());
    EXPECT_EQ(seen.ids.at("opt") + seen.ids.at("list"), 0);
}

// A driver without persistence mode takes so long for each call.
TEST_P(SurveyOptional, AsksNothingOfASlowDriver) {
    auto request = usual();
    request.budget = Milliseconds(3'000);
    const auto seen = look(all_fields(), request, "sleep 1.1");
    const auto evidence = read(seen);
    expect_core(evidence);
    EXPECT_TRUE(evidence.optional_query.skipped && evidence.list_query.skipped);
    EXPECT_GE(evidence.gpu_query.took.value_or(Milliseconds(0)), Milliseconds(1'000));
    EXPECT_EQ(seen.ids.at("opt") + seen.ids.at("list"), 0);
}

TEST_P(SurveyOptional, TellsAnOptionalQuestionThatHangsFromACoreOne) {
    auto request = usual();
    request.budget = Milliseconds(2'000);
    const std::string hang = "trap '' TERM HUP INT; while :; do sleep 1000; done";
    struct Case {
        std::string where;
        bool opt_hangs, list_hangs;
    };
    const auto known = without(all_fields(), {"fabric.state"});
    for (const auto& [where, opt_hangs, list_hangs] :
         {Case{"--query-gpu=*,gpu_recovery_action,*) case $1 in *,fabric.state,*) ;; *) " + hang + ";; esac",
               true, false},
          Case{"--help-query-gpu) " + hang, true, false}, Case{"-L) " + hang, false, true}}) {
        const auto seen = look(known, request, "case $1 in " + where + ";; esac");
        const auto evidence = read(seen);
        expect_core(evidence);
        EXPECT_FALSE(evidence.gpu_query.timed_out || evidence.app_query.timed_out);
        EXPECT_THAT(evidence.stuck, IsEmpty());
        EXPECT_EQ(evidence.optional_query.timed_out, opt_hangs) << where;
        EXPECT_EQ(evidence.list_query.timed_out, list_hangs) << where;
        EXPECT_EQ(seen.ids.at("left"), 0);
    }
}

TEST_P(SurveyOptional, LetsNoNoiseOfAnOptionalQuestionTouchTheCore) {
    auto request = usual();
    request.budget = Milliseconds(2'000);
    const std::string noise = "while :; do echo 'GPU 7: noise'; done";
    for (const auto& where : {"-L) " + noise, "--help-query-gpu) " + noise}) {
        const auto seen =
            look(without(all_fields(), {"fabric.state"}), request, "case $1 in " + where + ";; esac");
        const auto evidence = read(seen);
        EXPECT_EQ(evidence.gpu_query.exit_status, 0);
        EXPECT_EQ(evidence.app_query.exit_status, 0);
        EXPECT_THAT(evidence.gpus, SizeIs(1));
        EXPECT_THAT(evidence.cuts, IsEmpty()) << where;
        EXPECT_FALSE(evidence.listed.has_value() && evidence.list_query.timed_out);
        EXPECT_EQ(seen.ids.at("left"), 0);
    }
}

}  // namespace
}  // namespace cleanslate::agentless::survey_tests
