#include "controller/exit_status.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "outcomes.hpp"

namespace cleanslate::controller::testing {
namespace {

HostOutcome host_with(Verdict verdict) {
    HostOutcome host = clean_host("gpu01");
    host.verdict = verdict;
    return host;
}

int status_of(std::vector<HostOutcome> hosts, std::string command = "check", Ending ending = {}) {
    return exit_status(report_of(std::move(hosts), std::move(command)), ending);
}

TEST(ExitStatus, FollowsTheWorstHost) {
    const HostOutcome clean = host_with(Verdict::clean), dirty = host_with(Verdict::dirty),
                      sick = host_with(Verdict::sick), unknown = host_with(Verdict::unknown),
                      unreachable = host_with(Verdict::unreachable);
    EXPECT_EQ(status_of({clean}), 0);
    EXPECT_EQ(status_of({clean, clean}), 0);
    EXPECT_EQ(status_of({clean, dirty}), 1);
    EXPECT_EQ(status_of({sick, clean}), 1);
    EXPECT_EQ(status_of({clean, unknown}), 3);
    EXPECT_EQ(status_of({unreachable, clean}), 3);
    EXPECT_EQ(status_of({dirty, unknown, clean}), 3);
    EXPECT_EQ(status_of({unreachable, dirty}), 3);
}

TEST(ExitStatus, IsNeverZeroWithoutAHost) {
    for (const std::string command : {"check", "clear", "run", "parse"})
        EXPECT_EQ(exit_status(report_of({}, command), {}), 3) << command;
}

TEST(ExitStatus, OfAHostThatWasNeverTriedIsThree) { EXPECT_EQ(status_of({not_tried_host("gpu01")}), 3); }

TEST(ExitStatus, OfADryRunIsThatOfACheck) {
    Report report = report_of({planned_host("gpu01")}, "clear");
    report.dry_run = true;
    EXPECT_EQ(exit_status(report, {}), 1);
    report.result.hosts = {clean_host("gpu01")};
    EXPECT_EQ(exit_status(report, {}), 0);
}

TEST(ExitStatus, IsFourWhereALimitOrTheDeadlineStoppedTheSweep) {
    Report report = report_of({clean_host("gpu01"), unreachable_host("gpu02")});
    report.result.failure_limit_reached = true;
    EXPECT_EQ(exit_status(report, {}), 4);
    report.result.failure_limit_reached = false;
    report.result.deadline_passed = true;
    EXPECT_EQ(exit_status(report, {}), 4);
    report.result.hosts = {clean_host("gpu01")};
    EXPECT_EQ(exit_status(report, {}), 4);
}

TEST(ExitStatus, SaysBySignalThatItWasInterrupted) {
    EXPECT_EQ(status_of({clean_host("gpu01")}, "check", {SIGINT, false}), 130);
    EXPECT_EQ(status_of({clean_host("gpu01")}, "check", {SIGTERM, false}), 143);
    EXPECT_EQ(status_of({dirty_host("gpu01")}, "check", {SIGHUP, false}), 143);
    Report report = report_of({clean_host("gpu01")});
    report.result.interrupted = true;
    EXPECT_EQ(exit_status(report, {}), 130);
    report.result.deadline_passed = true;
    EXPECT_EQ(exit_status(report, {}), 130);
}

TEST(ExitStatus, IsFiveBeforeEverythingElseWhereAReportOrAuditWasNotWritten) {
    EXPECT_EQ(status_of({clean_host("gpu01")}, "check", {0, true}), 5);
    EXPECT_EQ(status_of({unreachable_host("gpu01")}, "check", {SIGINT, true}), 5);
    Report report = report_of({clean_host("gpu01")}, "clear");
    report.result.audit_failed = true;
    report.result.deadline_passed = true;
    EXPECT_EQ(exit_status(report, {SIGTERM, false}), 5);
}

TEST(ExitStatus, OfAnAdHocCommandIsOneWhereItFailedAndThreeWhereAHostCouldNotBeAsked) {
    const HostOutcome good = asked_host("gpu01", 0, "x"), bad = asked_host("gpu02", 7, "x");
    EXPECT_EQ(status_of({good, good}, "run"), 0);
    EXPECT_EQ(status_of({good, bad}, "run"), 1);
    EXPECT_EQ(status_of({good, bad, unreachable_host("gpu03")}, "run"), 3);
    EXPECT_EQ(status_of({not_tried_host("gpu01")}, "run"), 3);
}

TEST(ExitStatus, OfAnAdHocCommandThatDidNotComeToItsEndIsThreeAndNeverZero) {
    HostOutcome cut = asked_host("gpu01", 0, "x");
    cut.commands.front().ran_to_end = false;
    EXPECT_EQ(status_of({cut}, "run"), 3);
    cut.commands.clear();
    EXPECT_EQ(status_of({cut}, "run"), 3);
    HostOutcome lost = asked_host("gpu01", 0, "x");
    lost.error = Error{"timeout", "command", "the deadline passed before the command ended", ""};
    EXPECT_EQ(status_of({lost}, "run"), 3);
}

// Who reads the last line, or takes the list of clean hosts, may want the whole host.
TEST(ExitStatus, OfAHostThatIsCleanInPartSaysThatOnlySomeGpusWereJudged) {
    Report report;
    report.command = "clear";
    report.result.hosts.push_back(clean_host("gpu01"));
    EXPECT_FALSE(is_clean_in_part(report.result.hosts[0]));
    EXPECT_EQ(meaning_of(report), "every host is proven clean");
    auto& gpu = report.result.hosts[0].last->gpus.at(1);
    gpu.judged = false;
    EXPECT_FALSE(is_clean_in_part(report.result.hosts[0])) << "the others are clean, too";
    gpu.verdict = Verdict::dirty;
    EXPECT_TRUE(is_clean_in_part(report.result.hosts[0]));
    EXPECT_EQ(meaning_of(report), "the GPUs that were judged are proven clean");
}

Report expecting(int hosts, std::vector<HostOutcome> outcomes) {
    Report report = report_of(std::move(outcomes));
    report.expect_hosts = hosts;
    return report;
}

TEST(ExitStatus, IsZeroWhereAsManyHostsAreCleanAsAreExpectedWhateverTheRest) {
    const std::vector<HostOutcome> hosts{clean_host("gpu01"), clean_host("gpu02"), dirty_host("gpu03"),
                                         unreachable_host("gpu04"), not_tried_host("gpu05")};
    EXPECT_EQ(exit_status(expecting(1, hosts), {}), 0);
    EXPECT_EQ(exit_status(expecting(2, hosts), {}), 0);
    EXPECT_EQ(exit_status(expecting(3, hosts), {}), 1);
    EXPECT_EQ(exit_status(expecting(1, {}), {}), 1);
    Report cut = expecting(2, hosts);
    cut.result.deadline_passed = true;
    EXPECT_EQ(exit_status(cut, {}), 0);
    cut.expect_hosts = 3;
    EXPECT_EQ(exit_status(cut, {}), 1);
    cut.expect_hosts = 2;
    cut.result.failure_limit_reached = true;
    EXPECT_EQ(exit_status(cut, {}), 0);
}

TEST(ExitStatus, OfExpectedHostsYieldsToInterruptionsAndFailedWrites) {
    const Report report = expecting(1, {clean_host("gpu01")});
    EXPECT_EQ(exit_status(report, {SIGINT, false}), 130);
    EXPECT_EQ(exit_status(report, {SIGTERM, false}), 143);
    EXPECT_EQ(exit_status(report, {0, true}), 5);
    Report audit = report;
    audit.result.audit_failed = true;
    EXPECT_EQ(exit_status(audit, {}), 5);
}

TEST(ExitStatus, CountsNoHostAsExpectedThatIsCleanInPart) {
    HostOutcome host = clean_host("gpu01");
    host.last->gpus[1].judged = false;
    host.last->gpus[1].verdict = Verdict::dirty;
    EXPECT_EQ(exit_status(expecting(1, {host}), {}), 1);
}

TEST(ExitStatus, SaysHowManyHostsAreCleanAndExpected) {
    Report report = expecting(1, {clean_host("gpu01"), clean_host("gpu02"), dirty_host("gpu03")});
    EXPECT_EQ(meaning_of(report), "2 hosts are clean, 1 expected");
    report.expect_hosts = 3;
    report.exit_status = 1;
    EXPECT_EQ(meaning_of(report), "2 hosts are clean, 3 expected");
    report.exit_status = 130;
    EXPECT_EQ(meaning_of(report), "interrupted");
}

TEST(ExitStatus, HasAMeaningForEachStatus) {
    for (const int status : {0, 1, 2, 3, 4, 5, 130, 143}) {
        EXPECT_NE(meaning_of(status), "unknown") << status;
        EXPECT_NE(meaning_of(status, true), "unknown") << status;
    }
}

}  // namespace
}  // namespace cleanslate::controller::testing
