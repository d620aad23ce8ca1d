// drain-list, from its words to its end, in this process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>

#include "base/text.hpp"
#include "command_line.hpp"
#include "controller/commands.hpp"
#include "controller/json_report.hpp"
#include "controller/shard.hpp"
#include "outcomes.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;

class DrainListCommand : public ::testing::Test {
  protected:
    int run(Words words) {
        words.insert(words.begin(), "drain-list");
        const Environment environment{{"PATH", folder_.file("")}};
        const auto options = read_command_line(words, environment);
        if (!options) {
            err_ = options.error().err;
            return options.error().exit_status;
        }
        std::FILE* file = std::fopen(folder_.file("stdout").c_str(), "w");
        Output out(::fileno(file));
        ::testing::internal::CaptureStderr();
        const int status = run_command_line({*options, environment, words, Terminal{}, out});
        err_ = ::testing::internal::GetCapturedStderr();
        std::fclose(file);
        out_ = contents_of(folder_.file("stdout"));
        return status;
    }
    // Begun now, as a sweep whose nodes are to be drained.
    std::string file_of(const std::string& name, Report report) {
        report.started = rfc3339(std::time(nullptr));
        return old_file_of(name, report);
    }
    std::string old_file_of(const std::string& name, const Report& report) {
        std::string text;
        write_json(report, false, [&](std::string_view piece) { text += piece; });
        put(folder_.file(name), text);
        return folder_.file(name);
    }
    // A stand-in that notes each of its arguments.
    void scontrol(const std::string& then) {
        put(folder_.file("scontrol"),
            "#!/bin/sh\nfor word; do echo \"$word\"; done >>" + folder_.file("asked") + "\n" + then + "\n");
        ::chmod(folder_.file("scontrol").c_str(), 0755);
    }
    std::string asked() { return contents_of(folder_.file("asked")); }
    TemporaryFolder folder_;
    std::string out_, err_;
};

TEST_F(DrainListCommand, PrintsAndRunsNothing) {
    scontrol("exit 0");
    const std::string file = file_of("a.json", report_of({clean_host("gpu01"), dirty_host("gpu02")}));
    put(folder_.file("asked"), "");
    EXPECT_EQ(run({file}), 0) << err_;
    EXPECT_THAT(out_, HasSubstr("scontrol update NodeName=gpu02 State=DRAIN Reason='cleanslate: "));
    EXPECT_EQ(asked(), "");
    EXPECT_EQ(run({file_of("b.json", report_of({clean_host("gpu01")}))}), 0);
    EXPECT_EQ(out_, "");
}

TEST_F(DrainListCommand, RunsWhatItPrints) {
    scontrol("exit 0");
    EXPECT_EQ(run({file_of("a.json", report_of({dirty_host("gpu02"), dirty_host("gpu03")})), "--apply"}), 0)
        << err_;
    EXPECT_THAT(asked(), HasSubstr("update\nNodeName=gpu[02-03]\nState=DRAIN\nReason=cleanslate: "));
    EXPECT_THAT(err_, HasSubstr("1 of 1 lines done"));
}

TEST_F(DrainListCommand, SaysWhichLineFailed) {
    scontrol("echo 'no such node' >&2; exit 1");
    const std::string file = file_of("a.json", report_of({dirty_host("gpu02"), unreachable_host("gpu03")}));
    EXPECT_EQ(run({file, "--apply", "--verdicts", "dirty,unreachable"}), 5);
    EXPECT_THAT(err_, HasSubstr("not drained: gpu02: exit status 1"));
    EXPECT_THAT(err_, HasSubstr("not drained: gpu03: exit status 1")) << "each is tried";
    EXPECT_THAT(err_, HasSubstr("0 of 2 lines done"));
    scontrol("exec /bin/sleep 60");
    EXPECT_EQ(run({file, "--apply", "--apply-timeout", "50ms"}), 5);
    EXPECT_THAT(err_, HasSubstr("not drained: gpu02: not done after 0.05 s"));
    ::unlink(folder_.file("scontrol").c_str());
    EXPECT_EQ(run({file, "--apply"}), 5);
    EXPECT_THAT(err_, HasSubstr("not drained: gpu02: exit status 127"));
}

TEST_F(DrainListCommand, RunsNothingOfAnOldReport) {
    scontrol("exit 0");
    put(folder_.file("asked"), "");
    Report report = report_of({dirty_host("gpu02")});
    report.started = rfc3339(std::time(nullptr) - 25 * 3600);
    const std::string file = old_file_of("a.json", report);
    EXPECT_EQ(run({file}), 0) << "printed it is";
    EXPECT_EQ(run({file, "--apply"}), 2);
    EXPECT_THAT(err_, HasSubstr("ago: too old to drain nodes by it"));
    EXPECT_EQ(asked(), "");
    EXPECT_EQ(run({file, "--apply", "--max-age", "26h"}), 0) << err_;
    EXPECT_THAT(asked(), HasSubstr("NodeName=gpu02"));
    report.started = "tonight";
    EXPECT_EQ(run({old_file_of("b.json", report), "--apply"}), 2);
}

TEST_F(DrainListCommand, TakesSlurmsNameOfALocalHost) {
    Report report = report_of({dirty_host("host.example.org")});
    EXPECT_EQ(run({file_of("a.json", report), "--node", "gpu07"}), 0) << err_;
    EXPECT_THAT(out_, HasSubstr("NodeName=gpu07 "));
    report.result.hosts.push_back(clean_host("gpu02"));
    EXPECT_EQ(run({file_of("a.json", report), "--node", "gpu07"}), 2);
    EXPECT_THAT(err_, HasSubstr("this one has 2"));
}

TEST_F(DrainListCommand, HasTheHostsOfAMissingShard) {
    Report report = report_of({});
    const std::vector<std::string> names{"gpu01", "gpu02", "gpu03", "gpu04"};
    report.share = *share_of({1, 2}, names);
    for (const std::string& name : names)
        if (shard_of(name, 2) == 1) report.result.hosts.push_back(clean_host(name));
    const std::string file = file_of("a.json", report);
    EXPECT_EQ(run({file, "--verdicts", "unknown"}), 0) << "one report is shown as it is";
    EXPECT_EQ(out_, "");
}

TEST_F(DrainListCommand, RefusesWhatItCannotMean) {
    EXPECT_EQ(run({}), 2);
    EXPECT_EQ(run({folder_.file("none.json")}), 2);
    const std::string file = file_of("a.json", report_of({dirty_host("gpu02")}));
    EXPECT_EQ(run({file, "--verdicts", "clean"}), 2);
    EXPECT_THAT(err_, HasSubstr("wants of dirty, sick, unknown, unreachable"));
    EXPECT_EQ(run({file, "--verdicts", ""}), 2);
    EXPECT_EQ(run({file_of("run.json", report_of({asked_host("gpu01", 0, "")}, "run"))}), 2);
    EXPECT_THAT(err_, HasSubstr("surveyed no GPU"));
    HostOutcome bad = dirty_host("gpu02");
    bad.name = "-";
    EXPECT_EQ(run({file_of("b.json", report_of({bad}))}), 5);
    EXPECT_THAT(err_, HasSubstr("- cannot be a node's name: not drained"));
    EXPECT_THAT(err_, HasSubstr("--node"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
