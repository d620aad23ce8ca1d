#include "controller/formats/junit_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../golden_report.hpp"
#include "outside.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;

std::string junit_of(std::vector<HostOutcome> hosts, std::string command = "check") {
    return rendered(report_of(std::move(hosts), std::move(command)), Format::junit);
}

TEST(JunitReport, IsATestCaseAHost) {
    Report report = report_of(
        {clean_host("gpu01"), dirty_host("gpu02"), unreachable_host("gpu03"), not_tried_host("gpu04")});
    report.inventory = "fleet.yaml";
    report.exit_status = 3;
    const std::string xml = rendered(report, Format::junit);
    EXPECT_THAT(xml, HasSubstr("<testsuite id=\"0\" package=\"cleanslate\" name=\"cleanslate check\" "
                               "hostname=\"localhost\" timestamp=\"2026-11-29T12:00:00\" tests=\"4\" "
                               "failures=\"1\" errors=\"2\" skipped=\"0\" time=\"1.900\">\n"));
    EXPECT_THAT(xml, HasSubstr("<property name=\"verdict\" value=\"unreachable\"/>\n"
                               "<property name=\"exit_status\" value=\"3\"/>\n"));
    EXPECT_THAT(xml, HasSubstr("<testcase name=\"gpu01\" classname=\"fleet.yaml\" time=\"1.200\"/>\n"));
    EXPECT_THAT(
        xml, HasSubstr("<testcase name=\"gpu02\" classname=\"fleet.yaml\" time=\"1.200\">\n"
                       "<failure type=\"dirty\" message=\"GPU 2: 76107 MiB used, the limit is 100 MiB\">"));
    EXPECT_THAT(xml, HasSubstr("pid 812 alice S, 3h10m, 76107 MiB: sleep 100000\n"));
    EXPECT_THAT(xml, HasSubstr("<error type=\"unreachable\" message=\"connect: connection refused\">"));
    EXPECT_THAT(xml, HasSubstr("-&gt; see that sshd runs there\n"));
    EXPECT_THAT(
        xml,
        HasSubstr("<error type=\"not_begun\" message=\"the sweep ended before this host was begun\"/>\n"));
}

TEST(JunitReport, CallsUnknownAnErrorAndSickAFailure) {
    HostOutcome sick = dirty_host("gpu01"), unknown = dirty_host("gpu02");
    sick.verdict = Verdict::sick;
    unknown.verdict = Verdict::unknown;
    const std::string xml = junit_of({sick, unknown});
    EXPECT_THAT(xml, HasSubstr("<failure type=\"sick\""));
    EXPECT_THAT(xml, HasSubstr("<error type=\"unknown\""));
}

TEST(JunitReport, NamesTheFirstReasonsAndCountsTheOthers) {
    HostOutcome host = dirty_host("gpu01");
    host.last->gpus[2].findings.clear();
    for (int i = 0; i < 5; ++i)
        host.last->findings.push_back({Severity::dirty, "opener", "reason " + std::to_string(i), ""});
    host.last->findings.insert(host.last->findings.begin(), {Severity::note, "x", "a note", ""});
    EXPECT_THAT(junit_of({host}), HasSubstr("message=\"reason 0; reason 1; reason 2; and 2 more\""));
    host.last->findings.clear();
    EXPECT_THAT(junit_of({host}), HasSubstr("<failure type=\"dirty\" message=\"dirty\">"));
}

TEST(JunitReport, OfARunHasTheOutput) {
    HostOutcome bad = asked_host("gpu02", 7, "half\n");
    bad.commands[0].err = "no such <thing>\n";
    const std::string xml =
        junit_of({asked_host("gpu01", 0, "6.1.0\n"), bad, unreachable_host("gpu03")}, "run");
    EXPECT_THAT(xml, HasSubstr("<testcase name=\"gpu01\" classname=\"cleanslate\" time=\"0.200\">\n"
                               "<system-out>6.1.0\n</system-out>\n</testcase>\n"));
    EXPECT_THAT(xml, HasSubstr("<failure type=\"failed\" message=\"exit 7\"/>\n"
                               "<system-out>half\nstderr:\nno such &lt;thing&gt;\n</system-out>\n"));
    EXPECT_THAT(xml, HasSubstr("<error type=\"unreachable\" "
                               "message=\"unreachable: connect: connection refused\">"));
}

TEST(JunitReport, KeepsOutOfXmlWhatXmlCannotHold) {
    HostOutcome host = dirty_host("gpu01");
    host.last->gpus[2].findings[0].text = "a\0b\x01\x1b]]>\xEF\xBF\xBE\xEF\xBF\xBF\xED\xA0\x80 \"<&>'"s;
    const std::string xml = junit_of({host});
    EXPECT_THAT(xml, HasSubstr("]]&gt;\\xEF\\xBF\\xBE\\xEF\\xBF\\xBF\\xED\\xA0\\x80 &quot;&lt;&amp;&gt;'"));
    for (const char c : xml) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << int(c);
    EXPECT_THAT(xml, AllOf(Not(HasSubstr("\xEF\xBF\xBE")), Not(HasSubstr("\xEF\xBF\xBF"))));
}

// What the schemas that CI systems check by have in common; prints what it read.
constexpr const char* reader = R"(
import sys, xml.etree.ElementTree as tree
root = tree.fromstring(sys.stdin.buffer.read())
assert root.tag == 'testsuites', root.tag
suites = root.findall('testsuite')
assert len(suites) == 1 and len(root) == 1
suite = suites[0]
for name in ('id', 'package', 'name', 'hostname', 'timestamp', 'tests', 'failures', 'errors', 'time'):
    assert suite.get(name), name
assert [child.tag for child in suite if child.tag != 'testcase'] == ['properties', 'system-out', 'system-err']
for item in suite.find('properties'):
    assert item.get('name') and item.get('value')
float(suite.get('time'))
counts = {'failure': 0, 'error': 0, 'skipped': 0}
cases = suite.findall('testcase')
for case in cases:
    assert case.get('name') and case.get('classname')
    float(case.get('time'))
    ends = [child for child in case if child.tag in counts]
    assert len(ends) <= 1
    assert all(child.tag in (*counts, 'system-out') for child in case)
    for end in ends:
        counts[end.tag] += 1
        assert end.get('message')
        assert end.get('type')
    print(case.get('name'), ends[0].tag if ends else 'passed')
for tag, attribute in (('failure', 'failures'), ('error', 'errors'), ('skipped', 'skipped')):
    assert int(suite.get(attribute)) == counts[tag], tag
assert int(suite.get('tests')) == len(cases)
)";

TEST(JunitReport, IsReadByPythonAndKeepsTheRulesOfTheFormat) {
    const std::string python = outside_program("usr/bin/python3");
    if (python.empty()) GTEST_SKIP() << "no /usr/bin/python3 here";
    const Ended ended = run_outside({python, "-c", reader}, rendered(golden_report(), Format::junit));
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("gpu01 passed\n"));
    EXPECT_THAT(ended.out, HasSubstr("gpu04 failure\n"));
    EXPECT_THAT(ended.out, HasSubstr("gpu07 error\n"));
    EXPECT_THAT(ended.out, HasSubstr("gpu14 error\n"));
    const Ended run = run_outside({python, "-c", reader}, rendered(golden_run(), Format::junit));
    EXPECT_EQ(run.status, 0) << run.err;
}

TEST(JunitReport, ShowsNoSecret) {
    for (const Report& report : {golden_report(), golden_run()})
        EXPECT_THAT(rendered(report, Format::junit), Not(HasSubstr("geheim-4711")));
}

}  // namespace
}  // namespace cleanslate::controller::testing
