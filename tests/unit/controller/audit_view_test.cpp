#include "controller/audit_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "audit_lines.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string shown(const std::string& log) {
    Page page(80, false);
    AuditReader reader({}, [&](const AuditedSweep& sweep) { write_audited_sweep(page, sweep); });
    reader.feed(log);
    reader.finish();
    return page.take();
}

TEST(AuditView, SaysWhoDidWhatToWhomWhenWhyAndWhatBecameOfIt) {
    EXPECT_EQ(shown(log_of({begin(), signal_line("intend", 812), signal_line("result", 812), end()})),
              "2026-11-30T12:00:00Z root@laptop (logged in as alice), pid 4711: done at\n"
              "2026-11-30T12:00:30Z, exit 0\n"
              "    cleanslate clear -H gpu01 --yes\n"
              "    step 1 TERM: python serve.py\n"
              "        ended after 0.13 s\n"
              "        gpu01: pid 812\n"
              "        2026-11-30T12:00:10Z, of alice: holding gpu\n");
}

TEST(AuditView, FoldsWhatWasDoneAlike) {
    std::vector<Line> lines{begin()};
    for (const int pid : {812, 813}) lines.push_back(signal_line("intend", pid));
    lines.push_back(signal_line("intend", 990, "gpu02"));
    for (const int pid : {812, 813}) lines.push_back(signal_line("result", pid));
    lines.push_back(signal_line("result", 990, "gpu02"));
    for (const char* host : {"gpu01", "gpu02", "gpu03"})
        for (const char* event : {"intend", "result"})
            lines.push_back(command_line(event, host, "systemctl stop x.service"));
    const std::string text = shown(log_of(lines));
    EXPECT_THAT(
        text, HasSubstr("        ended after at most 0.13 s\n        gpu01: pid 812, 813; gpu02: pid 990\n"));
    EXPECT_THAT(text, HasSubstr("    step 2 stop: systemctl stop x.service\n"
                                "        failed (exit 5) after at most 1.2 s\n"
                                "        gpu[01-03] (3)\n"
                                "        2026-11-30T12:00:00Z: supervisor of 812\n"));
    EXPECT_THAT(text, HasSubstr("pid 4711: no end was\nrecorded: it still runs, or was cut\n"));
}

TEST(AuditView, SaysWhatIsNotKnown) {
    Line unseen = signal_line("result", 2);
    unseen["result"] = nullptr;
    const std::string text = shown(log_of(
        {begin(), signal_line("intend", 1), signal_line("intend", 2), unseen, signal_line("result", 3)}));
    EXPECT_THAT(text, HasSubstr("sent; what became of it was not recorded\n        gpu01: pid 1\n"));
    EXPECT_THAT(text, HasSubstr("sent; what became of it was not seen after 0.13 s\n        gpu01: pid 2\n"));
    EXPECT_THAT(text, HasSubstr("its intent is not in this part of the log\n        gpu01: pid 3\n"));
    EXPECT_THAT(shown(log_of({signal_line("intend", 1)})),
                HasSubstr("(its beginning is not in this part of the log)"));
    EXPECT_THAT(shown(log_of({begin(), end()})), HasSubstr("    nothing was sent\n"));
}

TEST(AuditView, FitsEightyColumnsAndIsSafeWhateverTheLogHas) {
    Line hostile = signal_line("intend", 1, "gpu\n\x1b[2J[1-");
    hostile["command"] = "x\x1b]0;owned\x07" + std::string(3000, 'y');
    hostile["rule"] = std::string(500, 'z') + "\n2026-11-30T12:00:00Z somebody else";
    hostile["owner"] =
        "\u202e"
        "ecila";
    const std::string text = shown(log_of({begin(), hostile, end()}));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\u202e")));
    EXPECT_THAT(text, Not(HasSubstr("\n2026-11-30T12:00:00Z somebody else")));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), 80u) << line;
}

TEST(AuditView, SurvivesDurationsThatNoProgramWrote) {
    Line odd = signal_line("result", 1);
    for (const double seconds : {-1.0, 1e300}) {
        odd["seconds"] = seconds;
        EXPECT_THAT(shown(log_of({signal_line("intend", 1), odd})), HasSubstr("ended"));
    }
}

TEST(AuditJson, HasEachActWithNullForWhatIsNotKnown) {
    nlohmann::ordered_json json;
    AuditReader reader({}, [&](const AuditedSweep& sweep) { json = audited_sweep_json(sweep); });
    reader.feed(log_of({begin(), signal_line("intend", 812), end()}));
    reader.finish();
    EXPECT_EQ(json["sweep"], "s1");
    EXPECT_EQ(json["by"], "root");
    EXPECT_EQ(json["from"], "laptop");
    EXPECT_EQ(json["login"], "alice");
    EXPECT_EQ(json["command_line"], "cleanslate clear -H gpu01 --yes");
    EXPECT_EQ(json["exit_status"], 0);
    const auto& act = json["acts"].at(0);
    EXPECT_EQ(act["pid"], 812);
    EXPECT_EQ(act["start"], "5812");
    EXPECT_EQ(act["rule"], "holding gpu");
    EXPECT_EQ(act["intended"], true);
    EXPECT_EQ(act["recorded"], false);
    EXPECT_TRUE(act["result"].is_null());
    EXPECT_TRUE(act["kind"].is_null());
}

}  // namespace
}  // namespace cleanslate::controller::testing
