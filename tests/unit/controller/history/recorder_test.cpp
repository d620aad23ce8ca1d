#include <gmock/gmock.h>

#include <fstream>
#include <thread>

#include "controller/help_texts.hpp"
#include "controller/history/report_parts.hpp"
#include "controller/history/sweeps.hpp"
#include "nights.hpp"
#include "tests/unit/controller/golden_report.hpp"

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Recorder : public WithHistory {
  protected:
    SweepHead head(SweepId id) {
        auto found = find_sweep(store(), id);
        EXPECT_TRUE(found);
        return found.value_or(SweepHead{});
    }
    // All that the files hold, also what is not in its place yet.
    std::string raw() {
        std::string bytes = contents_of(file());
        if (std::filesystem::exists(file() + "-wal")) bytes += contents_of(file() + "-wal");
        return bytes;
    }
};

TEST_F(Recorder, KeepsWhatIsSaidOfTheSweepAsAWhole) {
    Report report =
        report_of({clean("a"), dirty("b"), sick("c"), unreachable_host("d"), not_tried_host("e")}, "clear");
    report.playbook = "sweep";
    report.dry_run = report.declined = true;
    report.result.interrupted = true;
    report.exit_status = 130;
    const SweepHead kept = head(night_of(report, {"/etc/fleet.yaml", "rack1"}));
    EXPECT_EQ(kept.id, 1);
    EXPECT_EQ(kept.started, first_night);
    EXPECT_EQ(kept.took, report.took);
    EXPECT_EQ(kept.command, "clear");
    EXPECT_EQ(kept.playbook, "sweep");
    EXPECT_EQ(kept.scope, (SweepScope{"/etc/fleet.yaml", "rack1"}));
    EXPECT_TRUE(kept.dry_run);
    EXPECT_TRUE(kept.declined);
    EXPECT_EQ(kept.stopped_by, "interrupted");
    EXPECT_EQ(kept.exit_status, 130);
    EXPECT_EQ(kept.hosts, (std::array<std::size_t, 5>{1, 1, 1, 0, 1}));
    EXPECT_EQ(kept.not_begun, 1u);
    EXPECT_EQ(kept.gpus, (std::array<std::size_t, 5>{22, 1, 1, 0, 0}));
    EXPECT_EQ(kept.program, program_version());
}

TEST_F(Recorder, GivesNoNumberTwice) {
    night({clean("a")});
    const SweepId second = night({clean("a")});
    store().database().execute("DELETE FROM parts; DELETE FROM host_results; DELETE FROM sweeps");
    EXPECT_EQ(night({clean("a")}), second + 1);
}

TEST_F(Recorder, KeepsRowsOfWhatIsNotCleanAlone) {
    night({clean("a"), dirty("b")});
    EXPECT_EQ(integer_of("SELECT count(*) FROM host_results"), 2);
    EXPECT_EQ(integer_of("SELECT count(*) FROM gpu_results"), 1);
    EXPECT_EQ(integer_of("SELECT count(*) FROM holders"), 1);
    EXPECT_EQ(integer_of("SELECT count(*) FROM findings"), 1);
    EXPECT_EQ(integer_of("SELECT count(*) FROM actions"), 0);
    HostOutcome host = clean("a");
    Holder monitor = holder(7, "root", "dcgm");
    monitor.is_protected = true;
    host.last->gpus[0].holders = {monitor};
    host.last->openers = {monitor, holder(8, "bob", "tail -f /dev/nvidia0")};
    host.last->gpus[0].findings.push_back({Severity::note, "mig-mode", "", ""});
    night({host});
    EXPECT_EQ(integer_of("SELECT count(*) FROM holders WHERE sweep = 2"), 1) << "the unprotected opener";
    EXPECT_EQ(integer_of("SELECT count(*) FROM findings WHERE sweep = 2"), 0) << "a note";
}

TEST_F(Recorder, KeepsWhatWasDone) {
    HostOutcome host = clean("a");
    const Holder worker = holder(812, "alice", "python train.py");
    host.signals = {signal_action(1, "TERM", worker, SignalResult::alive),
                    signal_action(2, "KILL", worker, SignalResult::sent)};
    host.commands = {done(act(CommandAction::Kind::stop, 3, "systemctl stop vllm.service"))};
    night_of(report_of({host}, "clear"));
    EXPECT_EQ(text_of("SELECT group_concat(w.text || ' ' || ifnull(r.text, '?'), ', ') FROM actions a "
                      "JOIN words w ON w.id = a.what LEFT JOIN words r ON r.id = a.result"),
              "TERM alive, KILL ?, stop ok");
    EXPECT_EQ(integer_of("SELECT count(*) FROM actions WHERE pid = 812"), 2);
}

TEST_F(Recorder, SharesWhatNightsHaveInCommon) {
    const std::vector<HostOutcome> hosts = {clean("a"), dirty("b"), clean("c")};
    night(hosts);
    const auto count = [&](const std::string& table) { return integer_of("SELECT count(*) FROM " + table); };
    const std::int64_t words = count("words");
    for (int i = 0; i < 10; ++i) night(hosts);
    EXPECT_EQ(count("hosts"), 3);
    EXPECT_EQ(count("gpu_sets"), 3);
    EXPECT_EQ(count("words"), words);
    EXPECT_EQ(count("bases"), 2) << "of the head, and of the hosts";
    EXPECT_LT(integer_of("SELECT max(length(packed)) FROM parts"), 100);
}

TEST_F(Recorder, KeepsNoSecretThatReportsMask) {
    const std::string secret = "geheim-4711";
    Report report = golden_report();
    HostOutcome host = clean("secretive");
    host.commands = {done(act(CommandAction::Kind::before, 1, "curl --token " + secret + " http://x")),
                     done(act(CommandAction::Kind::run, 1, "API_TOKEN=" + secret + " ./login"))};
    report.result.hosts.push_back(host);
    night_of(report);
    const std::string on_disk = raw();
    EXPECT_THAT(on_disk, HasSubstr("./login"));
    EXPECT_THAT(on_disk, Not(HasSubstr(secret)));
}

TEST_F(Recorder, KeepsSecretsThatWereAskedForInTheReportAlone) {
    const std::string secret = "geheim-4711";
    HostOutcome host = dirty("secretive");
    host.last->gpus[2].holders[0].command = "./serve --token " + secret;
    host.signals = {signal_action(1, "TERM", host.last->gpus[2].holders[0], SignalResult::alive)};
    host.commands = {done(act(CommandAction::Kind::run, 1, "API_TOKEN=" + secret + " ./login"))};
    const auto id = record(store(), report_of({host}, "clear"), {"i", "all"}, true);
    ASSERT_TRUE(id);
    EXPECT_EQ(integer_of("SELECT count(*) FROM words WHERE text LIKE '%./serve%'"), 1);
    EXPECT_EQ(integer_of("SELECT count(*) FROM words WHERE text LIKE '%" + secret + "%'"), 0);
    const auto report = load_report(store(), *id);
    ASSERT_TRUE(report);
    EXPECT_THAT(report->result.hosts[0].commands[0].command, HasSubstr(secret));
}

TEST_F(Recorder, LeavesWhatWasThereWhereTheDiskIsFull) {
    night({dirty("a")});
    store().database().execute("PRAGMA max_page_count=40");
    std::vector<HostOutcome> many;
    for (int i = 0; i < 2000; ++i) many.push_back(dirty("host" + std::to_string(i)));
    const auto refused = record(store(), report_of(many), {"i", "all"}, false);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("no space"));
    close();
    EXPECT_EQ(integer_of("SELECT count(*) FROM sweeps"), 1);
    EXPECT_EQ(integer_of("SELECT count(*) FROM hosts"), 1);
    EXPECT_EQ(text_of("PRAGMA integrity_check"), "ok");
}

TEST_F(Recorder, WaitsForAnotherAndReadersSeeTheWholeOrNothing) {
    night({clean("a")});
    std::atomic<bool> done = false;
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 3; ++writer)
        writers.emplace_back([&] {
            auto store = Store::open(file(), Use::record);
            for (int i = 0; store && i < 10; ++i)
                EXPECT_TRUE(record(**store, report_of({clean("a"), dirty("b")}), {"i", "all"}, false));
        });
    std::thread reader([&] {
        auto store = Store::open(file(), Use::read);
        ASSERT_TRUE(store);
        while (!done) {
            const auto odd = (*store)->database().integer_of(
                "SELECT count(*) FROM sweeps s WHERE s.id > 1 AND "
                "(SELECT count(*) FROM host_results r WHERE r.sweep = s.id) != 2");
            EXPECT_EQ(odd, 0);
            ASSERT_TRUE((*store)->database().state());
        }
    });
    for (std::thread& writer : writers) writer.join();
    done = true;
    reader.join();
    EXPECT_EQ(integer_of("SELECT count(*) FROM sweeps"), 31);
}

TEST_F(Recorder, TakesTheGoldenReport) {
    night_of(golden_report());
    EXPECT_EQ(head(1).hosts[static_cast<std::size_t>(Verdict::dirty)],
              summarize(golden_report()).hosts[static_cast<std::size_t>(Verdict::dirty)]);
    EXPECT_EQ(text_of("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(text_of("PRAGMA foreign_key_check"), "");
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
