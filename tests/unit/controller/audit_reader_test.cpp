#include "controller/audit_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audit_lines.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::SizeIs;

struct Read {
    std::vector<AuditedSweep> sweeps;
    std::uint64_t records = 0, unreadable = 0, first = 0;
    bool torn = false;
};

Read read_log(const std::string& log, AuditQuery query = {}, AuditReader::Bounds bounds = {},
              std::size_t piece = 1000) {
    Read read;
    AuditReader reader(
        std::move(query), [&](const AuditedSweep& sweep) { read.sweeps.push_back(sweep); }, bounds);
    for (std::size_t at = 0; at < log.size(); at += piece)
        reader.feed(std::string_view(log).substr(at, piece));
    reader.finish();
    read.records = reader.records();
    read.unreadable = reader.unreadable();
    read.first = reader.first_unreadable();
    read.torn = reader.torn();
    return read;
}

TEST(AuditReader, PairsWhatWasMeantWithWhatBecameOfIt) {
    const auto read =
        read_log(log_of({begin(), signal_line("intend", 812), signal_line("result", 812), end()}));
    ASSERT_THAT(read.sweeps, SizeIs(1));
    const AuditedSweep& sweep = read.sweeps[0];
    EXPECT_EQ(sweep.by, "root");
    EXPECT_EQ(sweep.from, "laptop");
    EXPECT_EQ(sweep.login, "alice");
    EXPECT_EQ(sweep.by_pid, 4711);
    EXPECT_EQ(sweep.command_line, "cleanslate clear -H gpu01 --yes");
    EXPECT_EQ(sweep.why, "done");
    EXPECT_EQ(sweep.exit_status, 0);
    ASSERT_THAT(sweep.acts, SizeIs(1));
    const AuditedAct& act = sweep.acts[0];
    EXPECT_TRUE(act.intended && act.ended);
    EXPECT_EQ(act.host, "gpu01");
    EXPECT_EQ(act.pid, 812);
    EXPECT_EQ(act.start, "5812");
    EXPECT_EQ(act.owner, "alice");
    EXPECT_EQ(act.rule, "holding gpu");
    EXPECT_EQ(act.result, "ended");
    EXPECT_EQ(act.took, 0.13);
    EXPECT_EQ(read.records, 4u);
    EXPECT_EQ(read.unreadable, 0u);
}

TEST(AuditReader, PairsARebootWithItsResultThoughTheBootIdIsAnother) {
    Line intend = command_line("intend", "gpu01", "reboot"),
         result = command_line("result", "gpu01", "reboot");
    intend["kind"] = result["kind"] = "reboot";
    intend["boot_id"] = "b00t";
    result["boot_id"] = "b01t";
    const auto read = read_log(log_of({begin(), intend, result, end()}));
    ASSERT_THAT(read.sweeps, SizeIs(1));
    ASSERT_THAT(read.sweeps[0].acts, SizeIs(1));
    EXPECT_TRUE(read.sweeps[0].acts[0].intended && read.sweeps[0].acts[0].ended);
    EXPECT_EQ(read.sweeps[0].acts[0].boot_id, "b00t");
}

TEST(AuditReader, GivesTheFirstOfTwoAlikeTheFirstResult) {
    Line second = command_line("result", "gpu01", "true");
    second["exit_status"] = 7;
    const auto read = read_log(
        log_of({begin(), command_line("intend", "gpu01", "true"), command_line("intend", "gpu01", "true"),
                command_line("result", "gpu01", "true"), second, end()}));
    ASSERT_THAT(read.sweeps, SizeIs(1));
    ASSERT_THAT(read.sweeps[0].acts, SizeIs(2));
    EXPECT_EQ(read.sweeps[0].acts[0].exit_status, 5);
    EXPECT_EQ(read.sweeps[0].acts[1].exit_status, 7);
}

TEST(AuditReader, KeepsAnIntentWithoutItsResult) {
    const auto read = read_log(log_of(
        {begin(), signal_line("intend", 812), signal_line("intend", 813), signal_line("result", 813)}));
    ASSERT_THAT(read.sweeps, SizeIs(1));
    ASSERT_THAT(read.sweeps[0].acts, SizeIs(2));
    EXPECT_FALSE(read.sweeps[0].acts[0].ended);
    EXPECT_TRUE(read.sweeps[0].acts[1].ended);
    EXPECT_EQ(read.sweeps[0].ended, "");
}

TEST(AuditReader, KnowsAResultOfNullFromNone) {
    Line result = signal_line("result", 812);
    result["result"] = nullptr;
    const auto read = read_log(log_of({begin(), signal_line("intend", 812), result, end()}));
    EXPECT_TRUE(read.sweeps.at(0).acts.at(0).ended);
    EXPECT_EQ(read.sweeps.at(0).acts.at(0).result, "");
}

TEST(AuditReader, PairsOnlyWithinAHostAStepAndAStartTime) {
    Line other_step = signal_line("result", 812), other_start = signal_line("result", 812);
    other_step["step"] = 2;
    other_start["start"] = "1";
    const auto read = read_log(log_of({begin(), signal_line("intend", 812),
                                       signal_line("result", 812, "gpu02"), other_step, other_start, end()}));
    ASSERT_THAT(read.sweeps.at(0).acts, SizeIs(4));
    EXPECT_FALSE(read.sweeps[0].acts[0].ended);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_FALSE(read.sweeps[0].acts[i].intended);
}

TEST(AuditReader, KeepsSweepsThatRanAtOnceApart) {
    const auto read = read_log(
        log_of({begin("a"), begin("b"), signal_line("intend", 1, "x", "a"),
                signal_line("intend", 1, "x", "b"), signal_line("result", 1, "x", "b"), end("b"), end("a")}));
    ASSERT_THAT(read.sweeps, SizeIs(2));
    EXPECT_EQ(read.sweeps[0].id, "b");
    EXPECT_TRUE(read.sweeps[0].acts.at(0).ended);
    EXPECT_FALSE(read.sweeps[1].acts.at(0).ended);
}

TEST(AuditReader, ReadsTheSameInPiecesOfAnySize) {
    const std::string log = log_of({begin(), signal_line("intend", 812), signal_line("result", 812), end()});
    for (std::size_t piece = 1; piece < 70; ++piece) {
        const auto read = read_log(log, {}, {}, piece);
        EXPECT_EQ(read.records, 4u) << piece;
        EXPECT_THAT(read.sweeps, SizeIs(1));
    }
}

TEST(AuditReader, CountsLinesThatAreNoRecordAndGoesOn) {
    for (const std::string& wrong :
         {std::string("garbage"), std::string("{\"event\":\"intend\""), std::string("[1,2]"),
          std::string("null"), std::string("{}"), std::string("{\"event\":\"intend\",\"sweep\":7}"),
          std::string(5, '\0'), std::string("\xff\xfe"), std::string(100'000, '['),
          "{\"a\":" + std::string(100'000, '[')}) {
        const auto read =
            read_log(log_of({begin()}) + wrong + "\n" + log_of({signal_line("intend", 812), end()}));
        EXPECT_EQ(read.unreadable, 1u) << wrong.substr(0, 40);
        EXPECT_EQ(read.first, 2u);
        EXPECT_THAT(read.sweeps.at(0).acts, SizeIs(1));
        EXPECT_FALSE(read.torn);
    }
}

TEST(AuditReader, TellsATornLastLineFromOneThatLacksItsEndOnly) {
    std::string log = log_of({begin(), signal_line("intend", 812)});
    EXPECT_TRUE(read_log(log.substr(0, log.size() - 10)).torn);
    EXPECT_EQ(read_log(log.substr(0, log.size() - 10)).unreadable, 0u);
    log.pop_back();
    EXPECT_FALSE(read_log(log).torn);
    EXPECT_EQ(read_log(log).records, 2u);
}

TEST(AuditReader, TakesRecordsWhoseFieldsAreOfAnotherKindForRecordsWithoutThem) {
    Line odd = signal_line("intend", 812);
    odd["pid"] = "812";
    odd["step"] = {1, 2};
    odd["owner"] = 7;
    odd["rule"] = nullptr;
    odd["start"] = 18446744073709551615ull;
    const auto read = read_log(log_of({begin(), odd, end()}));
    const AuditedAct& act = read.sweeps.at(0).acts.at(0);
    EXPECT_EQ(act.pid, std::nullopt);
    EXPECT_EQ(act.step, std::nullopt);
    EXPECT_EQ(act.owner, "");
    EXPECT_EQ(act.start, "");
}

TEST(AuditReader, PicksHosts) {
    AuditQuery query;
    query.hosts = HostFilter::read({"gpu02"}).value();
    const auto read = read_log(
        log_of({begin("a"), signal_line("intend", 1, "gpu01", "a"), end("a"), begin("b"),
                signal_line("intend", 1, "gpu01", "b"), signal_line("intend", 2, "gpu02", "b"), end("b")}),
        query);
    ASSERT_THAT(read.sweeps, SizeIs(1));
    ASSERT_THAT(read.sweeps[0].acts, SizeIs(1));
    EXPECT_EQ(read.sweeps[0].acts[0].pid, 2);
}

TEST(AuditReader, PicksWhatWasDoneSince) {
    AuditQuery query;
    query.since = parse_time("2026-11-30T12:00:15Z");
    const auto read = read_log(
        log_of({begin(), signal_line("intend", 1), signal_line("result", 1), signal_line("intend", 2),
                signal_line("result", 2, "gpu01", "s1", "2026-11-30T12:00:20Z"),
                signal_line("intend", 3, "gpu01", "s1", "2026-11-30T12:00:25Z"), end()}),
        query);
    ASSERT_THAT(read.sweeps, SizeIs(1));
    ASSERT_THAT(read.sweeps[0].acts, SizeIs(2)) << "one ended since then, one began";
    EXPECT_EQ(read.sweeps[0].acts[0].pid, 2);
    query.since = parse_time("2026-12-01");
    EXPECT_THAT(read_log(log_of({begin(), signal_line("intend", 1), end()}), query).sweeps, SizeIs(0));
}

TEST(AuditReader, TellsOfASweepThatDidNothing) {
    EXPECT_THAT(read_log(log_of({begin(), end()})).sweeps, SizeIs(1));
    AuditQuery query;
    query.hosts = HostFilter::read({"gpu02"}).value();
    EXPECT_THAT(read_log(log_of({begin(), end()}), query).sweeps, SizeIs(0));
}

TEST(AuditReader, HoldsLittleOfALongSweepAndLosesNothing) {
    std::vector<Line> lines{begin()};
    for (int pid = 1; pid <= 500; ++pid) {
        lines.push_back(signal_line("intend", pid));
        if (pid > 1) lines.push_back(signal_line("result", pid - 1));
    }
    lines.push_back(end());
    const auto read = read_log(log_of(lines), {}, {.bytes = 20'000, .sweeps = 4, .line = 10'000});
    EXPECT_GT(read.sweeps.size(), 5u);
    std::size_t acts = 0, ended = 0, first_parts = 0;
    for (const AuditedSweep& sweep : read.sweeps) {
        EXPECT_LT(sweep.acts.size(), 100u);
        acts += sweep.acts.size();
        for (const AuditedAct& act : sweep.acts) ended += act.intended && act.ended ? 1 : 0;
        first_parts += sweep.continued ? 0 : 1;
    }
    EXPECT_EQ(acts, 500u);
    EXPECT_EQ(ended, 499u) << "of the last one no result came";
    EXPECT_EQ(first_parts, 1u);
}

TEST(AuditReader, HoldsLittleWhereNothingEverEnds) {
    std::vector<Line> lines;
    for (int i = 0; i < 500; ++i) {
        lines.push_back(begin("sweep" + std::to_string(i)));
        lines.push_back(signal_line("intend", i + 1, "gpu01", "sweep" + std::to_string(i)));
    }
    for (int i = 0; i < 200; ++i) lines.push_back(signal_line("intend", 1000 + i, "gpu01", "last"));
    const auto read = read_log(log_of(lines), {}, {.bytes = 20'000, .sweeps = 4, .line = 10'000});
    std::size_t acts = 0;
    for (const AuditedSweep& sweep : read.sweeps) acts += sweep.acts.size();
    EXPECT_EQ(acts, 700u);
}

TEST(AuditReader, ReadsNoLineThatIsTooLongAndHoldsNoneOfIt) {
    const auto read = read_log(log_of({begin()}) + std::string(50'000, 'x') + "\n" + log_of({end()}), {},
                               {.bytes = 20'000, .sweeps = 4, .line = 10'000});
    EXPECT_EQ(read.unreadable, 1u);
    EXPECT_EQ(read.records, 2u);
}

}  // namespace
}  // namespace cleanslate::controller::testing
