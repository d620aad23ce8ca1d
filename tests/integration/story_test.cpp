// The story's two commands as playbooks, and the default one, against the demo's fleet: what should end has
// ended, and only that. Judged by pids and start times from outside, not by the program's own word.

#include "tests/integration/program.hpp"

namespace cleanslate::testing {
namespace {

class Story : public ::testing::Test {
  protected:
    void SetUp() override {
        SKIP_WITHOUT_ROOT();
        fleet_.emplace(std::vector<std::string>{"demo/hosts"});
        ASSERT_EQ(fleet_->started().status, 0) << fleet_->started().out;
        operator_.emplace(*fleet_);
    }
    bool alive(const std::string& host, const std::string& name) {
        for (const auto& p : fleet_->processes())
            if (p.host == host && p.name == name && p.state != 'Z') return true;
        return false;
    }
    std::optional<RunningFleet> fleet_;
    std::optional<Operator> operator_;
};

TEST_F(Story, ClearEndsWhatTheDescriptionsSayAndNothingElse) {
    const auto before = operator_->home() / "before.tsv";
    remember(*fleet_, before);
    const auto ended = operator_->run({"clear", "-l", "all", "--yes", "--format", "json"});
    EXPECT_EQ(ended.status, 3) << ended.err;
    const auto file = operator_->home() / "report.json";
    std::ofstream(file) << ended.out;
    const auto judged = simulated::run({simulated::simhost(), "judge", fleet_->folder(), before, file});
    EXPECT_EQ(judged.status, 0) << judged.out;
}

TEST_F(Story, CheckAndDryRunChangeNothing) {
    const auto before = fleet_->processes();
    EXPECT_EQ(operator_->report({"check"}).status, 3);
    const auto plan = operator_->report({"clear", "-l", "all", "--dry-run"});
    EXPECT_EQ(plan.status, 3) << plan.err;
    for (const auto& host : plan.document["hosts"])
        for (const auto& action : host["actions"]) EXPECT_EQ(action["result"], "planned");
    for (const auto& was : before) {
        if (was.name == "-") continue;  // sshd's sessions come and go
        EXPECT_TRUE(same(was, fleet_->find(was.host, was.name))) << was.host << " " << was.name;
    }
    EXPECT_EQ(operator_->audit(), "") << "nothing was signalled, so there is nothing to audit";
}

TEST_F(Story, TheFirstCommandMadeSafeLeavesARenamedWorkerAndNamesIt) {
    const auto persistenced = fleet_->find("gpu06", "persistenced");
    const auto job = fleet_->find("gpu09", "job");
    const auto renamed = fleet_->find("gpu04", "tp0");
    const auto report = operator_->report({"clear", "-p", "by-name", "-l", "all", "--yes"});
    EXPECT_EQ(report.status, 3) << report.err;
    EXPECT_FALSE(alive("gpu02", "server"));
    EXPECT_TRUE(same(renamed, fleet_->find("gpu04", "tp0")));
    EXPECT_EQ(report.verdict("gpu04"), "dirty");
    EXPECT_NE(report.host("gpu04")["gpus"].dump().find("VLLM::Worker_TP0"), std::string::npos);
    EXPECT_TRUE(same(persistenced, fleet_->find("gpu06", "persistenced")));
    EXPECT_TRUE(same(job, fleet_->find("gpu09", "job")));
    EXPECT_EQ(report.verdict("gpu07"), "sick");
    EXPECT_EQ(report.verdict("gpu10"), "unreachable");
}

TEST_F(Story, TheSecondCommandMadeSafeEndsEveryHolderButNoneThatIsProtected) {
    const auto persistenced = fleet_->find("gpu06", "persistenced");
    const auto job = fleet_->find("gpu09", "job");
    const auto report = operator_->report({"clear", "-p", "by-holder", "-l", "all", "--yes"});
    EXPECT_EQ(report.status, 3) << report.err;
    for (const auto* host : {"gpu01", "gpu02", "gpu04", "gpu05", "gpu06"})
        EXPECT_EQ(report.verdict(host), "clean") << host;
    EXPECT_FALSE(alive("gpu05", "heir")) << "who inherited a dead server's descriptors holds its memory";
    EXPECT_TRUE(same(persistenced, fleet_->find("gpu06", "persistenced")));
    EXPECT_TRUE(same(job, fleet_->find("gpu09", "job")));
    EXPECT_EQ(report.verdict("gpu07"), "sick");
    EXPECT_EQ(report.verdict("gpu08"), "dirty");
    EXPECT_TRUE(report.has_finding("gpu08", "respawned", "model-server.service"));
    EXPECT_TRUE(report.has_finding("gpu08", "respawned", "systemctl stop model-server.service"));
    EXPECT_EQ(report.verdict("gpu10"), "unreachable");
    EXPECT_EQ(report.host("gpu10")["error"]["phase"], "connect");
}

TEST_F(Story, EverySignalIsInTheAuditLogBeforeItsResult) {
    const auto report = operator_->report({"clear", "-l", "gpu02,gpu05", "--yes"});
    EXPECT_EQ(report.status, 0) << report.err;
    std::set<std::string> intended;
    std::istringstream lines(operator_->audit());
    std::size_t results = 0;
    for (std::string line; std::getline(lines, line);) {
        const auto record = json::parse(line);
        if (record["event"] != "intend" && record["event"] != "result") continue;
        const auto key =
            record["host"].get<std::string>() + record["signal"].get<std::string>() + record["pid"].dump();
        if (record["event"] == "intend") {
            intended.insert(key);
        } else {
            EXPECT_TRUE(intended.contains(key)) << line;
            ++results;
        }
    }
    EXPECT_EQ(results, 3u) << "TERM and KILL on gpu02, TERM on gpu05";
    struct stat info {};
    ASSERT_EQ(stat((operator_->home() / "state/cleanslate/audit.jsonl").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(Story, WithoutAnAuditNothingIsSignalled) {
    const auto before = fleet_->find("gpu02", "server");
    const auto ended = operator_->run({"clear", "-l", "gpu02", "--yes", "--audit", "/dev/full"});
    EXPECT_EQ(ended.status, 5) << ended.out << ended.err;
    EXPECT_TRUE(same(before, fleet_->find("gpu02", "server")));
}

TEST_F(Story, OnAHostItselfNoSshIsNeeded) {
    const auto ended =
        run({{"/bin/sh", "-c",
              "\"$1\" exec \"$2\" gpu05 sh -c 'cat >/usr/local/bin/cleanslate && chmod +x "
              "/usr/local/bin/cleanslate && cleanslate clear --local --yes --format json' <\"$3\"",
              "sh", simulated::simhost(), fleet_->folder(), program()},
             "",
             {},
             std::chrono::seconds(60)});
    EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
    EXPECT_FALSE(alive("gpu05", "heir"));
    const auto report = json::parse(ended.out, nullptr, false);
    ASSERT_TRUE(report.is_object()) << ended.out;
    EXPECT_EQ(report["summary"]["verdict"], "clean");
}

TEST_F(Story, AdHocCommandsFoldIdenticalOutput) {
    const auto ended =
        operator_->run({"run", "-l", "gpu[01-03]", "--yes", "--", "echo same; nproc >/dev/null"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_NE(ended.out.find("gpu[01-03] (3)"), std::string::npos) << ended.out;
    EXPECT_EQ(ended.out.find("same"), ended.out.rfind("same")) << "printed once for all three";
    EXPECT_EQ(operator_->run({"run", "-l", "gpu01", "--yes", "--", "exit 7"}).status, 1);
    EXPECT_EQ(operator_->run({"run", "-l", "gpu10", "--yes", "--", "true"}).status, 3);
    EXPECT_NE(operator_->audit().find("exit 7"), std::string::npos);
}

}  // namespace
}  // namespace cleanslate::testing
