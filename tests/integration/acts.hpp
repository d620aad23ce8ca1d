#pragma once
// One fleet for all tests of a file: each host is there for one of them. Judged from outside, by pids and
// start times.

#include <optional>
#include <set>
#include <thread>

#include "tests/integration/program.hpp"

namespace cleanslate::testing {

using simulated::comes_true;
using simulated::Descriptions;
using simulated::ProcessLine;

// `Self` has `static void describe(const Descriptions&)`.
template <class Self>
class OnAFleet : public ::testing::Test {
  public:
    static void SetUpTestSuite() {
        if (geteuid() != 0) return;
        hosts_ = new Descriptions;
        Self::describe(*hosts_);
        fleet_ = new RunningFleet({hosts_->folder()});
    }
    static void TearDownTestSuite() {
        delete std::exchange(fleet_, nullptr);
        delete std::exchange(hosts_, nullptr);
    }

  protected:
    void SetUp() override {
        SKIP_WITHOUT_ROOT();
        ASSERT_EQ(fleet_->started().status, 0) << fleet_->started().out;
        operator_.emplace(*fleet_);
    }
    // A playbook of the test's own; its path.
    std::string playbook(const std::string& text) const {
        const auto file = operator_->home() / ("playbook-" + std::to_string(++playbooks_) + ".yaml");
        std::ofstream(file) << text;
        return file;
    }
    // clear with a short settling, which is no test's subject here.
    Report clear(const std::string& hosts, const std::string& playbook,
                 const std::vector<std::string>& more = {"--yes"}) const {
        std::vector<std::string> words{"clear", "-l", hosts, "-p", playbook, "--settle", "200ms"};
        words.insert(words.end(), more.begin(), more.end());
        auto report = operator_->report(words);
        expect_intended_first();
        return report;
    }
    // No act has a result in the audit log before, or without, its intention.
    void expect_intended_first() const {
        std::set<std::string> intended;
        std::istringstream lines(operator_->audit());
        for (std::string line; std::getline(lines, line);) {
            const auto record = json::parse(line, nullptr, false);
            ASSERT_TRUE(record.is_object()) << line;
            if (record["event"] != "intend" && record["event"] != "result") continue;
            std::string act;
            for (const auto* key : {"sweep", "host", "step", "pid", "signal", "command"})
                act += record.value(key, json()).dump() + " ";
            if (record["event"] == "intend")
                intended.insert(act);
            else
                EXPECT_TRUE(intended.contains(act)) << line;
        }
    }
    static bool alive(const std::string& host, const std::string& name) {
        for (const auto& p : fleet_->processes())
            if (p.host == host && p.name == name && p.state != 'Z') return true;
        return false;
    }
    static bool untouched(const ProcessLine& was) { return simulated::lives(was.outer, was.start); }
    // Of the host's processes, those whose names are given; the others have to live on.
    static void expect_ended(const std::string& host, const std::vector<ProcessLine>& before,
                             const std::set<std::string>& ended) {
        for (const auto& was : before) {
            if (was.host != host || was.name == "-") continue;
            EXPECT_EQ(untouched(was), !ended.contains(was.name)) << host << " " << was.name;
        }
    }
    // Results of the host's commands of that kind, in order.
    static std::vector<std::string> results(const Report& report, const std::string& host,
                                            const std::string& kind) {
        std::vector<std::string> all;
        for (const auto& command : report.host(host)["commands"])
            if (command["kind"] == kind) all.push_back(command["result"].template get<std::string>());
        return all;
    }
    static std::string on(const std::string& host, const std::string& script) {
        return fleet_->on(host, script).out;
    }

    static inline Descriptions* hosts_ = nullptr;
    static inline RunningFleet* fleet_ = nullptr;
    std::optional<Operator> operator_;
    mutable int playbooks_ = 0;
};

// A CUDA process of a description.
inline std::string worker(const std::string& name, const std::string& user, const std::string& memory,
                          const std::string& more = "") {
    return "process " + name + "\n    exe /opt/serve/bin/" + name + "\n    user " + user + "\n    memory " +
           memory + "\n" + more;
}

}  // namespace cleanslate::testing
