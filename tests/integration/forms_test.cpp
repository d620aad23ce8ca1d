// The forms of a report and the lists of hosts, as the program writes them: into several files at once, live,
// and where they cannot be written.

#include <fstream>

#include "tests/integration/program.hpp"
#include "tests/integration/silent_host.hpp"

namespace cleanslate::testing {
namespace {

constexpr const char* busy = R"(gpus    2
process server
    exe     /opt/serve/bin/python3.12
    argv    python3 serve.py --api-key geheim-4711
    user    alice
    memory  0=5000
)";

std::vector<json> events_in(const std::string& text) {
    std::vector<json> events;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line));
    return events;
}

std::vector<std::string> names_of(const std::vector<json>& events) {
    std::vector<std::string> names;
    for (const json& event : events) names.push_back(event.at("event"));
    return names;
}

TEST(Forms, AreAllOfOneSweep) {
    SKIP_WITHOUT_ROOT();
    simulated::Descriptions hosts;
    hosts.add("idle1", "gpus 2\n");
    hosts.add("idle2", "gpus 2\n");
    hosts.add("busy", busy);
    RunningFleet fleet({hosts.folder()});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    Operator operator_(fleet);
    const auto file = [&](const std::string& name) { return operator_.home() / name; };
    std::vector<std::string> arguments{"check", "-l", "all", "--expect-hosts", "2"};
    for (const std::string form : {"json", "jsonl", "csv", "junit", "prom", "html"})
        arguments.insert(arguments.end(), {"--format", form + "=" + file(form)});
    for (const std::string form : {"plain", "folded", "slurm", "mpi", "ansible"}) {
        arguments.insert(arguments.end(), {"--clean-hosts", form + "=" + file("clean." + form)});
        arguments.insert(arguments.end(), {"--not-clean-hosts", form + "=" + file("other." + form)});
    }
    const auto ended = operator_.run(arguments);
    EXPECT_EQ(ended.status, 0) << ended.err << ended.out;
    EXPECT_EQ(ended.out.rfind("busy dirty", 0), 0u) << "the worst first: " << ended.out;
    EXPECT_NE(ended.out.find("exit 0: 2 hosts are clean, 2 expected"), std::string::npos) << ended.out;
    EXPECT_NE(ended.out.find("csv: " + file("csv")), std::string::npos) << ended.out;
    const auto report = json::parse(contents(file("json")));
    EXPECT_EQ(report["summary"]["expected_hosts"], 2);
    EXPECT_EQ(report["summary"]["exit_status"], 0);
    const auto events = events_in(contents(file("jsonl")));
    EXPECT_EQ(events.back()["summary"], report["summary"]);
    for (const auto& host : report["hosts"]) {
        const auto same = [&](const json& event) {
            return event["event"] == "host_finished" && event["report"] == host;
        };
        EXPECT_EQ(std::count_if(events.begin(), events.end(), same), 1) << host["name"];
    }
    EXPECT_EQ(contents(file("csv")).rfind("host,host_verdict,", 0), 0u);
    EXPECT_NE(contents(file("junit")).find("<failure type=\"dirty\""), std::string::npos);
    EXPECT_NE(contents(file("prom")).find("\ncleanslate_sweep_hosts{verdict=\"clean\"} 2\n"),
              std::string::npos);
    EXPECT_NE(contents(file("html")).find("<!doctype html>"), std::string::npos);
    EXPECT_EQ(contents(file("clean.plain")), "idle1\nidle2\n");
    EXPECT_EQ(contents(file("clean.folded")), "idle[1-2]\n");
    EXPECT_EQ(contents(file("clean.slurm")), "idle[1-2]\n");
    EXPECT_EQ(contents(file("clean.mpi")), "idle1 slots=2\nidle2 slots=2\n");
    EXPECT_EQ(contents(file("clean.ansible")), "idle1\nidle2\n");
    EXPECT_EQ(contents(file("other.mpi")), "busy slots=1\n");
    for (const std::string form : {"plain", "folded", "slurm", "ansible"})
        EXPECT_EQ(contents(file("other." + form)), "busy\n") << form;
    for (const std::string form : {"json", "jsonl", "csv", "junit", "prom", "html"})
        EXPECT_EQ(contents(file(form)).find("geheim-4711"), std::string::npos) << form;
    EXPECT_EQ(operator_.run({"check", "-l", "all", "--expect-hosts", "3", "-q"}).status, 1);
}

TEST(Forms, OfAClearTellItsSignalsAsTheyAreSent) {
    SKIP_WITHOUT_ROOT();
    simulated::Descriptions hosts;
    hosts.add("busy", busy);
    RunningFleet fleet({hosts.folder()});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    Operator operator_(fleet);
    const auto ended = operator_.run({"clear", "-l", "all", "--yes", "--format", "jsonl"});
    EXPECT_EQ(ended.status, 0) << ended.err << ended.out;
    std::vector<std::string> stages;
    for (const auto& event : events_in(ended.out)) {
        EXPECT_EQ(event["phase"], "act") << event;
        if (event["event"] == "signal") stages.push_back(event["stage"]);
    }
    ASSERT_FALSE(stages.empty()) << ended.out;
    EXPECT_EQ(stages.front(), "intent");
    EXPECT_EQ(stages.back(), "result");
}

// Hosts that never answer.
class LiveForms : public ::testing::Test {
  protected:
    LiveForms() {
        std::ofstream(folder_ / "hosts.yaml")
            << "all: {vars: {user: root, host: 127.0.0.1, port: " << silence_.port()
            << "}, hosts: {'gpu[1-3]': }}\n";
    }
    Ended shell(const std::string& script) const {
        return testing::run({{"bash", "-c", script},
                             "",
                             {{"HOME", folder_.path()},
                              {"XDG_STATE_HOME", folder_ / "state"},
                              {"SSH_AUTH_SOCK", ""},
                              {"FOLDER", folder_.path()},
                              {"CHECK", program() + " check --no-history -F none --host-key-check off -i " +
                                            (folder_ / "hosts.yaml")}},
                             std::chrono::seconds(60)});
    }
    SilentHost silence_;
    TemporaryFolder folder_;
};

TEST_F(LiveForms, TellEventsWhileHostsAreUnderWay) {
    const auto ended = shell(R"sh(
        $CHECK --connect-timeout 100s --format jsonl=$FOLDER/events >/dev/null 2>$FOLDER/err & check=$!
        until [ "$(grep -c '"doing":"connect"' $FOLDER/events)" = 3 ]; do kill -0 $check || exit 99; sleep 0.05; done
        kill -TERM $check  # two that come at once are one
        until grep -q 'once more' $FOLDER/err; do kill -0 $check || exit 98; sleep 0.05; done
        kill -TERM $check; wait $check; echo "ended $?"; cat $FOLDER/events)sh");
    const auto begin = ended.out.find('{');
    ASSERT_NE(begin, std::string::npos) << ended.out << ended.err;
    EXPECT_EQ(ended.out.substr(0, begin), "ended 143\n");
    const auto events = events_in(ended.out.substr(begin));
    const auto names = names_of(events);
    EXPECT_EQ(names.front(), "sweep_started");
    EXPECT_EQ(names.back(), "sweep_finished");
    EXPECT_EQ(std::count(names.begin(), names.end(), "host_finished"), 3);
    EXPECT_EQ(events.back()["summary"]["stopped_by"], "interrupted");
}

TEST_F(LiveForms, WhoseReaderHasGoneEndWithFive) {
    const auto ended = shell(R"(
        $CHECK --connect-timeout 1s --format jsonl | head -n 1 >$FOLDER/first; echo "ended ${PIPESTATUS[0]}"
        wc -l <$FOLDER/first)");
    EXPECT_EQ(ended.out, "ended 5\n1\n") << ended.err;
    EXPECT_NE(ended.err.find("--format jsonl: "), std::string::npos) << ended.err;
}

TEST_F(LiveForms, ThatAFileDoesNotHoldEndWithFiveAndAWholeLine) {
    const auto ended = shell(R"(
        (ulimit -f 1; $CHECK --connect-timeout 1s --format jsonl=$FOLDER/events -q); echo "ended $?"
        tail -c 1 $FOLDER/events | od -An -c; wc -c <$FOLDER/events)");
    EXPECT_NE(ended.out.find("exit 5: "), std::string::npos) << ended.out << ended.err;
    EXPECT_NE(ended.out.find("ended 5\n  \\n\n"), std::string::npos) << ended.out << ended.err;
    EXPECT_NE(ended.err.find("--format jsonl: "), std::string::npos) << ended.err;
}

TEST_F(LiveForms, AListOfNobodySelectsNobody) {
    const auto ended = shell(R"(
        $CHECK --connect-timeout 100s --clean-hosts ansible=$FOLDER/a --clean-hosts $FOLDER/p >/dev/null 2>&1 & check=$!
        until [ -s $FOLDER/a ] && [ -e $FOLDER/p ]; do kill -0 $check || exit 99; sleep 0.05; done
        kill -KILL $check; cat $FOLDER/a; wc -c <$FOLDER/p)");
    EXPECT_EQ(ended.out, "!all\n0\n") << ended.err;
}

}  // namespace
}  // namespace cleanslate::testing
