// report, from its words to its end, in this process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"
#include "controller/commands.hpp"
#include "controller/formats/render.hpp"
#include "golden_report.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string form(const Report& report, Format format) {
    std::string text;
    render(report, format, {}, [&](std::string_view piece) { text += piece; });
    return text;
}

class ReportCommand : public ::testing::Test {
  protected:
    // Its exit status; what it wrote in out_ and err_.
    int run(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "report");
        const auto options = read_command_line(arguments, {});
        if (!options) {
            err_ = options.error().err;
            return options.error().exit_status;
        }
        std::FILE* file = std::fopen(folder_.file("stdout").c_str(), "w");
        Output out(::fileno(file));
        ::testing::internal::CaptureStderr();
        const int status = run_command_line({*options, {}, arguments, Terminal{}, out});
        err_ = ::testing::internal::GetCapturedStderr();
        std::fclose(file);
        out_ = contents_of(folder_.file("stdout"));
        return status;
    }
    std::string file_of(const std::string& name, const Report& report) {
        put(folder_.file(name), form(report, Format::json));
        return folder_.file(name);
    }
    TemporaryFolder folder_;
    std::string out_, err_;
};

TEST_F(ReportCommand, ShowsAReportInEveryForm) {
    const Report golden = golden_report();
    const std::string file = file_of("golden.json", golden);
    for (const Format format : {Format::text, Format::json, Format::jsonl, Format::csv, Format::junit,
                                Format::prom, Format::html}) {
        EXPECT_EQ(run({"show", file, "--format", std::string(to_string(format))}), 3);
        EXPECT_EQ(out_, form(golden, format)) << to_string(format);
    }
    EXPECT_THAT(err_, HasSubstr("note: gpu99 stands twice in the inventory\n"));
    EXPECT_THAT(err_, Not(HasSubstr("\x1b")));
}

TEST_F(ReportCommand, WritesSeveralFormsAndTheHostListsAtOnce) {
    const std::string file = file_of("a.json", report_of({clean_host("gpu01"), dirty_host("gpu02")}));
    EXPECT_EQ(run({"show", file, "--format", "json=" + folder_.file("copy.json"), "--clean-hosts",
                   folder_.file("clean"), "--not-clean-hosts", folder_.file("others"), "-q"}),
              1);
    EXPECT_EQ(
        contents_of(folder_.file("copy.json")),
        contents_of(file).replace(contents_of(file).find("\"exit_status\":0"), 15, "\"exit_status\":1"));
    EXPECT_THAT(contents_of(folder_.file("clean")), HasSubstr("gpu01"));
    EXPECT_THAT(contents_of(folder_.file("others")), HasSubstr("gpu02"));
    EXPECT_THAT(out_, HasSubstr("2 hosts: 1 clean, 1 dirty"));
    EXPECT_THAT(out_, Not(HasSubstr("GPU 2")));
}

TEST_F(ReportCommand, MergesShards) {
    const std::string one = file_of("1.json", report_of({clean_host("gpu01")}));
    const std::string two = file_of("2.json", report_of({dirty_host("gpu02")}));
    EXPECT_EQ(run({"merge", one, two}), 1);
    EXPECT_THAT(out_, HasSubstr("gpu01 clean"));
    EXPECT_THAT(out_, HasSubstr("2 hosts: 1 clean, 1 dirty"));
    EXPECT_THAT(out_, HasSubstr("exit 1"));
    EXPECT_EQ(run({"merge", one}), 0);
}

TEST_F(ReportCommand, RefusesAHostOfTwoShardsAndWritesNothing) {
    const std::string one = file_of("1.json", report_of({clean_host("gpu01")}));
    const std::string two = file_of("2.json", report_of({dirty_host("gpu01")}));
    put(folder_.file("clean"), "kept\n");
    EXPECT_EQ(run({"merge", one, two, "--clean-hosts", folder_.file("clean")}), 2);
    EXPECT_EQ(out_, "");
    EXPECT_THAT(err_, HasSubstr("gpu01 stands in " + one + " and in " + two));
    EXPECT_EQ(contents_of(folder_.file("clean")), "kept\n");
}

TEST_F(ReportCommand, SaysWhichFileIsNoReport) {
    const std::string good = file_of("good.json", report_of({clean_host("gpu01")}));
    EXPECT_EQ(run({"show", folder_.file("missing.json")}), 2);
    EXPECT_THAT(err_, HasSubstr("missing.json"));
    put(folder_.file("noise"), std::string(100'000, 'x'));
    EXPECT_EQ(run({"merge", good, folder_.file("noise")}), 2);
    EXPECT_THAT(err_, HasSubstr(folder_.file("noise") + ": no JSON report"));
    put(folder_.file("cut.json"), contents_of(good).substr(0, 500));
    EXPECT_EQ(run({"merge", good, folder_.file("cut.json")}), 2);
    EXPECT_THAT(err_, HasSubstr("cut.json: hosts[0]"));
    EXPECT_THAT(err_, HasSubstr("it ends in the middle"));
    put(folder_.file("empty.json"), "");
    EXPECT_EQ(run({"show", folder_.file("empty.json")}), 2);
    EXPECT_EQ(out_, "");
}

TEST_F(ReportCommand, GivesUpOnEndlessNoiseAtOnce) {
    EXPECT_EQ(run({"show", "/dev/zero"}), 2);
    EXPECT_FALSE(err_.empty());
}

TEST_F(ReportCommand, MasksSecretsUnlessAskedAndThere) {
    HostOutcome host = asked_host("gpu01", 0, "");
    host.commands[0].command = "serve --api-key geheim";
    std::string json;
    Rendering raw;
    raw.raw_commands = true;
    render(report_of({host}, "run"), Format::json, raw, [&](std::string_view piece) { json += piece; });
    put(folder_.file("raw.json"), json);
    EXPECT_EQ(run({"show", folder_.file("raw.json"), "--format", "json"}), 0);
    EXPECT_THAT(out_, Not(HasSubstr("geheim")));
    EXPECT_EQ(run({"show", folder_.file("raw.json"), "--format", "json", "--raw-commands"}), 0);
    EXPECT_EQ(out_, json);
}

TEST_F(ReportCommand, MasksTheSecretsOfEveryProcess) {
    const auto secret = [](Holder process) {
        process.command = "serve --api-key geheim";
        return process;
    };
    HostOutcome host = dirty_host("gpu01");
    const Holder worker = secret(host.last->gpus[2].holders[0]);
    host.last->gpus[2].holders[0] = worker;
    host.last->openers = {worker};
    host.signals = {signal_action(1, "TERM", worker, SignalResult::alive)};
    host.spared = {Spared{worker.key, "protected", "x"}};
    host.spared_holders = {worker};
    const std::string file = file_of("raw.json", report_of({host}, "clear"));
    for (const std::string form : {"text", "json", "jsonl", "junit", "html"}) {
        EXPECT_EQ(run({"show", file, "--format", form}), 1) << form;
        EXPECT_THAT(out_, Not(HasSubstr("geheim"))) << form;
    }
    EXPECT_EQ(run({"show", file, "--format", "json", "--raw-commands"}), 1);
    EXPECT_THAT(out_, HasSubstr("geheim"));
}

TEST_F(ReportCommand, ReadsManyBlanksInBoundedTime) {
    put(folder_.file("blanks.json"), std::string(64u << 20, '\n') + "[");
    EXPECT_EQ(run({"show", folder_.file("blanks.json")}), 2);
}

TEST_F(ReportCommand, OfAnAdHocCommandHasNoFormOfGpus) {
    const std::string file = file_of("run.json", golden_run());
    EXPECT_EQ(run({"show", file, "--format", "csv"}), 2);
    EXPECT_THAT(err_, HasSubstr("it surveyed no GPU"));
    EXPECT_EQ(run({"show", file, "--format", "junit"}), 3);
}

TEST_F(ReportCommand, SaysWhatItsWordsMayBe) {
    EXPECT_THAT(refusal({"report"}), HasSubstr("ACTION"));
    EXPECT_THAT(refusal({"report", "fix", "a.json"}), HasSubstr("wants show or merge, not 'fix'"));
    EXPECT_THAT(refusal({"report", "show"}), HasSubstr("FILE"));
    EXPECT_THAT(refusal({"report", "merge", "-", "a.json", "-"}), HasSubstr("give - once"));
    const std::string file = file_of("a.json", report_of({clean_host("gpu01")}));
    EXPECT_EQ(run({"show", file, file}), 2);
    EXPECT_THAT(err_, HasSubstr("cleanslate report merge"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
