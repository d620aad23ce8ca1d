#include "controller/audit_log.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "controller/signals.hpp"
#include "outcomes.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

Actor operator_() {
    Actor actor;
    actor.user = "ops";
    actor.uid = 1000;
    actor.from = "laptop";
    actor.pid = 4711;
    actor.command_line = "cleanslate clear -H gpu01 --yes";
    return actor;
}

std::vector<Json> records_of(const std::string& path) {
    std::vector<Json> records;
    std::istringstream lines(contents_of(path));
    for (std::string line; std::getline(lines, line);) records.push_back(Json::parse(line, nullptr, false));
    return records;
}

std::string refusal(const std::string& path) {
    const auto log = AuditLog::open(path, operator_());
    EXPECT_FALSE(log);
    if (log) return "";
    EXPECT_EQ(log.error().kind, "audit");
    return log.error().message;
}

std::vector<SignalAction> one_signal(SignalResult result) {
    return {signal_action(1, "TERM", holder(812, "alice", "python serve.py"), result)};
}

TEST(AuditLog, BeginsWithWhoDoesWhat) {
    const TemporaryFolder folder;
    ASSERT_TRUE(AuditLog::open(folder.file("audit.jsonl"), operator_()));
    const auto records = records_of(folder.file("audit.jsonl"));
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0]["event"], "begin");
    EXPECT_EQ(records[0]["by"], "ops");
    EXPECT_EQ(records[0]["from"], "laptop");
    EXPECT_EQ(records[0]["by_uid"], 1000);
    EXPECT_EQ(records[0]["by_pid"], 4711);
    EXPECT_EQ(records[0]["command_line"], "cleanslate clear -H gpu01 --yes");
    EXPECT_THAT(records[0]["time"].get<std::string>(), ::testing::MatchesRegex("....-..-..T..:..:..Z"));
}

TEST(AuditLog, HasEachIntendedSignalOnTheDiskBeforeItIsSent) {
    const TemporaryFolder folder;
    auto log = AuditLog::open(folder.file("audit.jsonl"), operator_()).value();
    ASSERT_TRUE(log->intend(dirty_host("gpu01"), one_signal(SignalResult::sent)));
    const auto records = records_of(folder.file("audit.jsonl"));
    ASSERT_EQ(records.size(), 2u);
    const Json& intent = records[1];
    EXPECT_EQ(intent["event"], "intend");
    EXPECT_EQ(intent["sweep"], records[0]["sweep"]);
    EXPECT_EQ(intent["by"], "ops");
    EXPECT_EQ(intent["from"], "laptop");
    EXPECT_EQ(intent["host"], "gpu01");
    EXPECT_EQ(intent["boot_id"], "b00t");
    EXPECT_EQ(intent["step"], 1);
    EXPECT_EQ(intent["signal"], "TERM");
    EXPECT_EQ(intent["pid"], 812);
    EXPECT_EQ(intent["start"], "5812");
    EXPECT_EQ(intent["owner"], "alice");
    EXPECT_EQ(intent["command"], "python serve.py");
    EXPECT_EQ(intent["rule"], "holding gpu");
    EXPECT_FALSE(intent.contains("result"));
}

TEST(AuditLog, HasTheResultAfterIt) {
    const TemporaryFolder folder;
    auto log = AuditLog::open(folder.file("audit.jsonl"), operator_()).value();
    log->result(dirty_host("gpu01"), one_signal(SignalResult::ended));
    log->result(dirty_host("gpu01"), one_signal(SignalResult::sent));
    const auto records = records_of(folder.file("audit.jsonl"));
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[1]["event"], "result");
    EXPECT_EQ(records[1]["result"], "ended");
    EXPECT_EQ(records[1]["seconds"], 0.13);
    EXPECT_TRUE(records[2]["result"].is_null());
}

TEST(AuditLog, HasCommandsToo) {
    const TemporaryFolder folder;
    auto log = AuditLog::open(folder.file("audit.jsonl"), operator_()).value();
    HostOutcome host = asked_host("gpu01", 7, "secret output");
    host.commands[0].kind = CommandAction::Kind::stop;
    host.commands[0].about = "supervisor of 812";
    ASSERT_TRUE(log->intend(host, host.commands));
    log->result(host, host.commands);
    const auto records = records_of(folder.file("audit.jsonl"));
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[1]["command"], "uname -r");
    EXPECT_EQ(records[1]["kind"], "stop");
    EXPECT_EQ(records[1]["about"], "supervisor of 812");
    EXPECT_EQ(records[2]["result"], "failed");
    EXPECT_EQ(records[2]["exit_status"], 7);
    EXPECT_THAT(contents_of(folder.file("audit.jsonl")), Not(HasSubstr("secret output")));
}

TEST(AuditLog, MasksTheSecretsOfCommands) {
    const TemporaryFolder folder;
    HostOutcome host = asked_host("gpu01", 0, "");
    host.commands[0].command = "serve --api-key geheim";
    auto masked = AuditLog::open(folder.file("masked"), operator_()).value();
    ASSERT_TRUE(masked->intend(host, host.commands));
    EXPECT_THAT(contents_of(folder.file("masked")), Not(HasSubstr("geheim")));
    Actor frank = operator_();
    frank.raw_commands = true;
    auto raw = AuditLog::open(folder.file("raw"), frank).value();
    ASSERT_TRUE(raw->intend(host, host.commands));
    EXPECT_THAT(contents_of(folder.file("raw")), HasSubstr("geheim"));
}

TEST(AuditLog, MasksTheSecretsOfItsOwnCommandLine) {
    const Actor actor = actor_of_process({"run", "-H", "gpu01", "--", "serve", "--api-key", "geheim"}, false);
    EXPECT_THAT(actor.command_line, HasSubstr("cleanslate run -H gpu01 -- serve --api-key"));
    EXPECT_THAT(actor.command_line, Not(HasSubstr("geheim")));
    EXPECT_THAT(actor_of_process({"--api-key", "geheim"}, true).command_line, HasSubstr("geheim"));
}

TEST(AuditLog, LetsNoHostForgeARecord) {
    const TemporaryFolder folder;
    auto log = AuditLog::open(folder.file("audit.jsonl"), operator_()).value();
    auto actions = one_signal(SignalResult::sent);
    actions[0].process.command = "x\"}\n{\"event\":\"end\"}\n\xff";
    ASSERT_TRUE(log->intend(dirty_host("gpu01"), actions));
    const auto records = records_of(folder.file("audit.jsonl"));
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[1]["command"], "x\"}\\x0A{\"event\":\"end\"}\\x0A\\xFF");
}

TEST(AuditLog, IsPrivate) {
    const TemporaryFolder folder;
    ASSERT_TRUE(AuditLog::open(folder.file("state/cleanslate/audit.jsonl"), operator_()));
    EXPECT_EQ(mode_of(folder.file("state")), 0700u);
    EXPECT_EQ(mode_of(folder.file("state/cleanslate")), 0700u);
    EXPECT_EQ(mode_of(folder.file("state/cleanslate/audit.jsonl")), 0600u);
    ::chmod(folder.file("state/cleanslate/audit.jsonl").c_str(), 0644);
    ASSERT_TRUE(AuditLog::open(folder.file("state/cleanslate/audit.jsonl"), operator_()));
    EXPECT_EQ(mode_of(folder.file("state/cleanslate/audit.jsonl")), 0600u);
}

TEST(AuditLog, KeepsWhatIsThere) {
    const TemporaryFolder folder;
    ASSERT_TRUE(AuditLog::open(folder.file("audit.jsonl"), operator_()));
    ASSERT_TRUE(AuditLog::open(folder.file("audit.jsonl"), operator_()));
    const auto records = records_of(folder.file("audit.jsonl"));
    ASSERT_EQ(records.size(), 2u);
    EXPECT_NE(records[0]["sweep"], records[1]["sweep"]);
}

TEST(AuditLog, StartsANewLineAfterHalfARecord) {
    const TemporaryFolder folder;
    put(folder.file("audit.jsonl"), "{\"event\":\"inte");
    ASSERT_TRUE(AuditLog::open(folder.file("audit.jsonl"), operator_()));
    const auto records = records_of(folder.file("audit.jsonl"));
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[1]["event"], "begin");
}

TEST(AuditLog, RefusesAPlaceThatSomebodyElseDecidesOn) {
    const TemporaryFolder folder;
    put(folder.file("real"), "");
    std::filesystem::create_symlink(folder.file("real"), folder.file("link"));
    EXPECT_THAT(refusal(folder.file("link")), HasSubstr("symbolic link"));
    ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);
    EXPECT_THAT(refusal(folder.file("fifo")), HasSubstr("not a regular file"));
    EXPECT_THAT(refusal("/dev/null"), HasSubstr("not a regular file"));
    EXPECT_THAT(refusal(folder.file("")), HasSubstr("audit log"));
    EXPECT_THAT(refusal(""), HasSubstr("$HOME"));
}

TEST(AuditLog, RefusesAFileOfSomebodyElse) {
    const TemporaryFolder folder;
    put(folder.file("audit.jsonl"), "");
    if (::chown(folder.file("audit.jsonl").c_str(), 12'345, 12'345) != 0) GTEST_SKIP() << "needs root";
    EXPECT_THAT(refusal(folder.file("audit.jsonl")), HasSubstr("belongs to uid 12345"));
}

// The limit stands for a full disk.
TEST(AuditLog, RefusesTheSignalWhereTheRecordDoesNotFitAndRecovers) {
    ignore_write_signals();
    const TemporaryFolder folder;
    auto log = AuditLog::open(folder.file("audit.jsonl"), operator_()).value();
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{std::filesystem::file_size(folder.file("audit.jsonl")) + 20, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto intended = log->intend(dirty_host("gpu01"), one_signal(SignalResult::sent));
    ::setrlimit(RLIMIT_FSIZE, &before);
    ASSERT_FALSE(intended);
    EXPECT_THAT(intended.error().message, HasSubstr("File too large"));
    EXPECT_FALSE(log->state());
    // Room again: the next record stands on a line of its own, and the failure is not forgotten.
    ASSERT_TRUE(log->intend(dirty_host("gpu02"), one_signal(SignalResult::sent)));
    const auto records = records_of(folder.file("audit.jsonl"));
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[2]["host"], "gpu02");
    EXPECT_FALSE(log->state());
}

TEST(AuditLog, TakesRecordsFromManyThreads) {
    const TemporaryFolder folder;
    auto log = AuditLog::open(folder.file("audit.jsonl"), operator_()).value();
    std::vector<std::thread> shards;
    for (int shard = 0; shard < 4; ++shard)
        shards.emplace_back([&] {
            for (int i = 0; i < 25; ++i)
                EXPECT_TRUE(log->intend(dirty_host("gpu01"), one_signal(SignalResult::sent)));
        });
    for (std::thread& shard : shards) shard.join();
    const auto records = records_of(folder.file("audit.jsonl"));
    ASSERT_EQ(records.size(), 101u);
    for (const Json& record : records) EXPECT_FALSE(record.is_discarded());
}

TEST(AuditLog, EndsWithTheExitStatus) {
    const TemporaryFolder folder;
    auto log = AuditLog::open(folder.file("audit.jsonl"), operator_()).value();
    log->end("declined", 1);
    const auto records = records_of(folder.file("audit.jsonl"));
    EXPECT_EQ(records.back()["event"], "end");
    EXPECT_EQ(records.back()["why"], "declined");
    EXPECT_EQ(records.back()["exit_status"], 1);
    EXPECT_TRUE(log->state());
}

TEST(AuditFile, IsUnderTheStateHome) {
    EXPECT_EQ(default_audit_file({{"XDG_STATE_HOME", "/state"}, {"HOME", "/home/a"}}),
              "/state/cleanslate/audit.jsonl");
    EXPECT_EQ(default_audit_file({{"HOME", "/home/a"}}), "/home/a/.local/state/cleanslate/audit.jsonl");
    EXPECT_EQ(default_audit_file({{"XDG_STATE_HOME", "relative"}, {"HOME", "/home/a"}}),
              "/home/a/.local/state/cleanslate/audit.jsonl");
    EXPECT_EQ(default_audit_file({}), "");
}

TEST(NoAudit, LetsNothingBeSent) {
    NoAudit audit;
    EXPECT_FALSE(audit.intend(dirty_host("a"), one_signal(SignalResult::sent)));
    EXPECT_FALSE(audit.intend(dirty_host("a"), std::vector<CommandAction>{}));
}

TEST(Who, IsWhoLoggedInOnWhichMachineBeforeWhatSudoMadeOfThem) {
    Actor actor = operator_();
    EXPECT_EQ(who_text(actor), "ops@laptop, cleanslate 4711");
    actor.user = "root";
    actor.login = "alice";
    EXPECT_EQ(who_text(actor), "alice@laptop, cleanslate 4711");
    actor.login.clear();
    actor.from.clear();
    EXPECT_EQ(who_text(actor), "root, cleanslate 4711");
    actor.from = "\x1b[2J";
    EXPECT_EQ(who_text(actor), "root@\\x1B[2J, cleanslate 4711");
    EXPECT_FALSE(actor_of_process({}, false).from.empty());
}

}  // namespace
}  // namespace cleanslate::controller::testing
