// What was not clean, once more: --last-failed, and -l @FILE with what --not-clean-hosts wrote.

#include <gmock/gmock.h>

#include <fstream>

#include "tests/integration/program.hpp"

namespace cleanslate::testing {
namespace {

using ::testing::HasSubstr;

class Again : public ::testing::Test {
  protected:
    void SetUp() override {
        SKIP_WITHOUT_ROOT();
        for (const char* host : {"gpu01", "gpu02", "gpu03", "gpu04"}) {
            const bool leaked = std::string(host) == "gpu02" || std::string(host) == "gpu03";
            descriptions_.add(host, leaked ? "about leaked\ngpus 2\n\nprocess worker\n"
                                             "    exe /opt/serve/bin/python3.12\n    user alice\n"
                                             "    memory 1=4096\n"
                                           : "about idle\ngpus 2\n");
        }
        fleet_.emplace(std::vector<std::string>{descriptions_.folder()});
        ASSERT_EQ(fleet_->started().status, 0) << fleet_->started().out;
        operator_.emplace(*fleet_);
    }
    Ended run(const std::vector<std::string>& words) const { return operator_->run(words); }
    // It has no --known-hosts.
    Ended hosts(std::vector<std::string> words) const {
        words.insert(words.begin(), {program(), "hosts"});
        return testing::run({words, "", operator_->environment(), std::chrono::seconds(60)});
    }
    std::string file(const std::string& name) const { return operator_->home() / name; }

    simulated::Descriptions descriptions_;
    std::optional<RunningFleet> fleet_;
    std::optional<Operator> operator_;
};

TEST_F(Again, IsForThoseThatWereNotCleanAndEndsWhereAllAre) {
    EXPECT_EQ(run({"check", "--last-failed"}).status, 2) << "nobody has looked yet";
    ASSERT_EQ(run({"check"}).status, 1);
    EXPECT_EQ(hosts({"--last-failed"}).out, "gpu02\ngpu03\n");
    EXPECT_EQ(json::parse(hosts({"--last-failed", "--format", "json"}).out)["hosts"].size(), 2u);
    const auto one = run({"run", "--last-failed", "-l", "gpu0[1-2]", "--yes", "--", "true"});
    EXPECT_EQ(one.status, 0) << one.err;
    EXPECT_THAT(one.out, HasSubstr("gpu02"));
    EXPECT_EQ(one.out.find("gpu01"), std::string::npos) << one.out;

    // clear needs no -l then.
    const auto cleared = run({"clear", "--last-failed", "--yes", "--settle", "200ms"});
    EXPECT_EQ(cleared.status, 0) << cleared.out << cleared.err;
    EXPECT_THAT(cleared.err, HasSubstr("2 of 4 hosts not clean in sweep 1"));
    EXPECT_THAT(cleared.out, HasSubstr("gpu[02-03] (2) clean"));

    // Nobody is asked now: it could not be answered.
    for (const char* host : {"gpu02", "gpu03"}) ASSERT_EQ(fleet_->on(host, "kill $(pidof sshd)").status, 0);
    std::ofstream(file("clean.txt")) << "gpu02\n";
    const auto nothing =
        run({"clear", "--last-failed", "--yes", "--clean-hosts", file("clean.txt"), "--format", "json"});
    EXPECT_EQ(nothing.status, 0) << nothing.err;
    EXPECT_EQ(nothing.out, "");
    EXPECT_THAT(nothing.err, HasSubstr("nothing to repeat: 4 hosts of sweep 2"));
    EXPECT_THAT(nothing.err, HasSubstr("no report is written"));
    EXPECT_EQ(contents(file("clean.txt")), "") << "an earlier list must not pass for this one's";
    EXPECT_EQ(run({"clear", "--last-failed", "--yes", "--expect-hosts", "1"}).status, 1);
}

TEST_F(Again, CountsHostsThatCouldNotBeSeen) {
    ASSERT_EQ(fleet_->on("gpu04", "kill $(pidof sshd)").status, 0);
    ASSERT_EQ(run({"check"}).status, 3);
    EXPECT_EQ(hosts({"--last-failed", "--folded"}).out, "gpu[02-04]\n");
    // A dry run has looked, too, and is no news of those that it did not look at.
    ASSERT_EQ(run({"clear", "-l", "gpu0[1-2]", "--yes", "--settle", "200ms"}).status, 0);
    EXPECT_EQ(hosts({"--last-failed", "--folded"}).out, "gpu[03-04]\n");
    ASSERT_EQ(run({"clear", "-l", "gpu03", "--dry-run"}).status, 1);
    EXPECT_EQ(hosts({"--last-failed", "--folded"}).out, "gpu[03-04]\n");
}

TEST_F(Again, IsAlsoAListInEveryForm) {
    std::vector<std::string> words{"check"};
    const std::vector<std::string> forms{"plain", "folded", "slurm", "ansible", "mpi"};
    for (const std::string& form : forms)
        words.insert(words.end(), {"--not-clean-hosts", form + "=" + file(form)});
    ASSERT_EQ(run(words).status, 1);
    for (const std::string& form : forms) {
        const auto again = hosts({"-l", "@" + file(form)});
        EXPECT_EQ(again.out, "gpu02\ngpu03\n") << form << ": " << contents(file(form)) << again.err;
    }
}

}  // namespace
}  // namespace cleanslate::testing
