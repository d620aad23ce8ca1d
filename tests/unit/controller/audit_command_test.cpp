#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "audit_lines.hpp"
#include "controller/audit_log.hpp"
#include "controller/commands.hpp"
#include "outcomes.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;

struct Ended {
    int status = -1;
    std::string out, err;
};

class AuditCommand : public ::testing::Test {
  protected:
    Ended run(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "audit");
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
    std::string log(const std::string& text) {
        put(folder_.file("log"), text);
        return folder_.file("log");
    }
    TemporaryFolder folder_;
};

TEST_F(AuditCommand, ReadsBackWhatTheLogWrites) {
    Actor actor;
    actor.user = "ops";
    actor.from = "laptop";
    actor.pid = 7;
    actor.command_line = "cleanslate clear -l all";
    const auto written = AuditLog::open(folder_.file("home/.local/state/cleanslate/audit.jsonl"), actor);
    ASSERT_TRUE(written);
    const HostOutcome host = dirty_host("gpu01");
    const std::vector<SignalAction> sent{
        signal_action(1, "TERM", holder(812, "alice", "python serve.py"), SignalResult::sent)};
    const std::vector<SignalAction> ended{
        signal_action(1, "TERM", holder(812, "alice", "python serve.py"), SignalResult::ended)};
    ASSERT_TRUE((*written)->intend(host, sent));
    (*written)->result(host, ended);
    std::vector<CommandAction> stop{
        done(act(CommandAction::Kind::stop, 2, "systemctl stop x", "supervisor of 812"))};
    ASSERT_TRUE((*written)->intend(host, stop));
    (*written)->result(host, stop);
    (*written)->end("done", 0);
    const Ended read = run({});
    EXPECT_EQ(read.status, 0) << read.err;
    EXPECT_THAT(read.out, HasSubstr("ops@laptop, pid 7: done"));
    EXPECT_THAT(read.out, HasSubstr("    step 1 TERM: python serve.py\n        ended after 0.13 s\n"));
    EXPECT_THAT(read.out, HasSubstr("of alice: holding gpu\n"));
    EXPECT_THAT(read.out, HasSubstr("    step 2 stop: systemctl stop x\n        ok (exit 0) after 1.2 s\n"));
    EXPECT_THAT(read.out, HasSubstr("\n1 sweep, 2 acts\n"));
}

TEST_F(AuditCommand, IsJsonForPrograms) {
    const Ended ended =
        run({"--audit",
             log(log_of({begin("a"), signal_line("intend", 1, "x", "a"), end("a"), begin("b"), end("b")})),
             "--format", "json"});
    EXPECT_EQ(ended.status, 0);
    const auto json = nlohmann::json::parse(ended.out, nullptr, false);
    ASSERT_TRUE(json.is_object()) << ended.out;
    EXPECT_EQ(json["schema"], "cleanslate.audit/1");
    EXPECT_EQ(json["sweeps"].size(), 2u);
    EXPECT_EQ(json["sweeps"][0]["acts"].size(), 1u);
    EXPECT_EQ(json["records"], 5);
    EXPECT_EQ(json["unreadable_lines"], 0);
    EXPECT_EQ(json["torn"], false);
    const auto empty =
        nlohmann::json::parse(run({"--audit", log(""), "--format", "json"}).out, nullptr, false);
    EXPECT_EQ(empty["sweeps"].size(), 0u);
}

TEST_F(AuditCommand, SaysWhatIsWrongWithTheLogAndReadsTheRest) {
    const Ended ended = run({"--audit", log("garbage\n" + log_of({begin(), end()}) + "{\"time\":")});
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.out,
                HasSubstr("1 sweep, 0 acts; 1 line of the log is no record (the first is line 1); its last "
                          "record is cut\n"));
    EXPECT_EQ(run({"--audit", log("")}).out, "no record fits\n");
}

TEST_F(AuditCommand, FollowsALinkAndReadsAFileThatOthersMayWrite) {
    const std::string file = log(log_of({begin(), end()}));
    ASSERT_EQ(::symlink(file.c_str(), folder_.file("link").c_str()), 0);
    EXPECT_EQ(run({"--audit", folder_.file("link")}).status, 0);
}

TEST_F(AuditCommand, WritesNothing) {
    EXPECT_EQ(run({}).status, 5);
    EXPECT_FALSE(std::filesystem::exists(folder_.file("home")));
}

TEST_F(AuditCommand, EndsWithFiveWhereTheLogCannotBeRead) {
    const Ended absent = run({"--audit", folder_.file("absent")});
    EXPECT_EQ(absent.status, 5);
    EXPECT_EQ(absent.out, "");
    EXPECT_THAT(absent.err, HasSubstr("absent"));
    EXPECT_EQ(run({"--audit", folder_.file(".")}).status, 5);
}

TEST_F(AuditCommand, EndsWithTwoForAQuestionThatIsNone) {
    const std::string file = log("");
    EXPECT_EQ(run({"--audit", file, "--since", "yesterday"}).status, 2);
    EXPECT_EQ(run({"--audit", file, "--host", "gpu[3-1]"}).status, 2);
    EXPECT_EQ(run({"--audit", file, "--host", "!gpu01"}).status, 2);
    EXPECT_EQ(run({"--frob"}).status, 2);
}

TEST_F(AuditCommand, PicksHostsAndTimes) {
    const std::string file =
        log(log_of({begin(), signal_line("intend", 1), signal_line("intend", 2, "gpu02"), end()}));
    EXPECT_THAT(run({"--audit", file, "--host", "gpu[02-09]"}).out, HasSubstr("\n1 sweep, 1 act\n"));
    EXPECT_EQ(run({"--audit", file, "--since", "2026-12-01"}).out, "no record fits\n");
    EXPECT_THAT(run({"--audit", file, "--since", "2026-11-30"}).out, HasSubstr("1 sweep, 2 acts"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
