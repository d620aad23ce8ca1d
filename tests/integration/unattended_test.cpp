// Sweeps that nobody watches: alone with their inventory, and begun at a random time.

#include <fstream>

#include "tests/integration/program.hpp"
#include "tests/integration/silent_host.hpp"

namespace cleanslate::testing {
namespace {

class Unattended : public ::testing::Test {
  protected:
    Unattended() {
        std::ofstream(folder_ / "hosts.yaml")
            << "all: {vars: {user: root, host: 127.0.0.1, port: " << silence_.port()
            << "}, hosts: {'gpu[1-3]': }}\n";
    }
    std::map<std::string, std::string> environment() const {
        return {{"HOME", folder_.path()},
                {"XDG_STATE_HOME", folder_ / "state"},
                {"SSH_AUTH_SOCK", ""},
                {"CHECK", check()},
                {"FOLDER", folder_.path()}};
    }
    std::string check() const {
        return program() + " check --no-history -F none --host-key-check off --connect-timeout 100s -i " +
               (folder_ / "hosts.yaml");
    }
    Ended shell(const std::string& script) const {
        return testing::run({{"bash", "-c", script}, "", environment(), std::chrono::seconds(60)});
    }
    // A check in the background, whose standard error goes into FILE; waits until it has said WORDS.
    static constexpr const char* words = R"(
begin() { file=$1 words=$2; shift 2; : >"$file"; env --default-signal=INT $CHECK "$@" >/dev/null 2>"$file" & begun=$!
    until grep -q "$words" "$file"; do kill -0 $begun || exit 99; sleep 0.05; done; }
)";

    SilentHost silence_;
    TemporaryFolder folder_;
};

TEST_F(Unattended, TheSecondSweepOfAnInventoryEndsAtOnceAndSaysWhoHasIt) {
    const auto ended = shell(std::string(words) + R"(
        begin $FOLDER/first 'begins in' --exclusive --jitter 24h
        echo precious >$FOLDER/clean
        $CHECK --exclusive --clean-hosts $FOLDER/clean; echo "second $?"
        ln -s $FOLDER/hosts.yaml $FOLDER/link.yaml
        ${CHECK% *} $FOLDER/link.yaml -l gpu1 --exclusive; echo "by another name $?"
        $CHECK --exclusive 2>&1 | grep -c "pid $begun,"
        cat $FOLDER/clean
        kill -TERM $begun; wait $begun; echo "first $?")");
    EXPECT_NE(ended.out.find("second 2\n"), std::string::npos) << ended.out << ended.err;
    EXPECT_NE(ended.out.find("by another name 2\n1\n"), std::string::npos) << ended.out << ended.err;
    EXPECT_NE(ended.out.find("precious\n"), std::string::npos)
        << "the lists are the first sweep's: " << ended.out;
    EXPECT_NE(ended.out.find("first 143\n"), std::string::npos) << ended.out << ended.err;
    EXPECT_NE(ended.err.find("under way (pid "), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find(", since 20"), std::string::npos) << ended.err;
    EXPECT_FALSE(silence_.was_contacted());
}

TEST_F(Unattended, AKilledSweepLeavesNoLockBehind) {
    const auto ended = shell(std::string(words) + R"(
        begin $FOLDER/first 'begins in' --exclusive --jitter 24h
        kill -KILL $begun; wait $begun
        begin $FOLDER/second 'begins in' --exclusive --jitter 24h
        kill -INT $begun; wait $begun; echo "second $?")");
    EXPECT_NE(ended.out.find("second 130\n"), std::string::npos) << ended.out << ended.err;
}

TEST_F(Unattended, SweepsThatDoNotAskForTheLockOverlap) {
    const auto ended = shell(std::string(words) + R"(
        begin $FOLDER/first 'begins in' --exclusive --jitter 24h
        $CHECK --deadline 1s >/dev/null; echo "other $?"
        kill -INT $begun; wait $begun)");
    EXPECT_NE(ended.out.find("other 4\n"), std::string::npos) << ended.out << ended.err;
}

TEST_F(Unattended, ThereIsNoLockWithoutAPlaceForIt) {
    auto ended = shell("unset HOME XDG_STATE_HOME; $CHECK --exclusive");
    EXPECT_EQ(ended.status, 2) << ended.err;
    EXPECT_NE(ended.err.find("XDG_STATE_HOME"), std::string::npos) << ended.err;
    ended = shell("touch $FOLDER/file; XDG_STATE_HOME=$FOLDER/file $CHECK --exclusive");
    EXPECT_EQ(ended.status, 5) << ended.err;
    EXPECT_FALSE(silence_.was_contacted());
}

TEST_F(Unattended, AStopBeforeTheFirstContactContactsNobodyAndStillReports) {
    const auto ended = shell(std::string(words) + R"(
        begin $FOLDER/err 'begins in' --jitter 24h --format json=$FOLDER/report.json
        kill -INT $begun; wait $begun)");
    EXPECT_EQ(ended.status, 130) << ended.err;
    EXPECT_NE(contents(folder_ / "err").find("nothing was contacted"), std::string::npos);
    const auto report = json::parse(contents(folder_ / "report.json"), nullptr, false);
    ASSERT_TRUE(report.is_object());
    EXPECT_EQ(report["hosts"].size(), 3u);
    for (const auto& host : report["hosts"]) EXPECT_EQ(host["error"]["kind"], "not_tried") << host;
    EXPECT_FALSE(silence_.was_contacted());
}

TEST_F(Unattended, AnEndedWaitIsFollowedByTheSweep) {
    const auto ended = shell("$CHECK --jitter 100ms --deadline 1s");
    EXPECT_EQ(ended.status, 4) << ended.err;
    EXPECT_NE(ended.err.find("begins in 0."), std::string::npos) << ended.err;
    EXPECT_TRUE(silence_.was_contacted());
}

}  // namespace
}  // namespace cleanslate::testing
