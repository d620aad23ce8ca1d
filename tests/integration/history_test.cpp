// The history beside whatever happens to the program: killed, out of disk, in company, without a right to
// write. What is surveyed is this machine, by --local: what it has to say is no matter.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/wait.h>

#include <csignal>
#include <random>
#include <thread>

#include "tests/integration/history_database.hpp"
#include "tests/integration/program.hpp"

namespace cleanslate::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Clock = std::chrono::steady_clock;

class History : public ::testing::Test {
  protected:
    std::string file() const { return home_ / "history.db"; }
    std::map<std::string, std::string> environment() const {
        return {{"HOME", home_.path()}, {"XDG_STATE_HOME", home_ / "state"}, {"CLEANSLATE_INVENTORY", ""}};
    }
    Ended run(std::vector<std::string> words) const {
        words.insert(words.begin(), program());
        return testing::run({words, "", environment(), std::chrono::seconds(120)});
    }
    Ended check() const { return run({"check", "--local", "--history", file()}); }
    Ended shell(const std::string& script) const {
        return testing::run({{"/bin/sh", "-c", script}, "", environment(), std::chrono::seconds(120)});
    }
    int begin_check() const {
        const int pid = fork();
        if (pid != 0) return pid;
        const int nowhere = open("/dev/null", O_RDWR);
        for (const int stream : {0, 1, 2}) dup2(nowhere, stream);
        for (const auto& [name, value] : environment()) setenv(name.c_str(), value.c_str(), 1);
        execl(program().c_str(), "cleanslate", "check", "--local", "--history", file().c_str(), nullptr);
        _exit(127);
    }
    TemporaryFolder home_;
};

// Tells how often a file of this name in a folder was written to.
class Writes {
  public:
    Writes(const std::string& folder, std::string name) : name_(std::move(name)) {
        inotify_add_watch(fd_, folder.c_str(), IN_MODIFY);
    }
    ~Writes() { close(fd_); }
    Writes(const Writes&) = delete;
    Writes& operator=(const Writes&) = delete;
    // False where it was not written to so often before `pid` ended.
    bool wait_for(int count, int pid) {
        while (count > 0) {
            pollfd waiting{fd_, POLLIN, 0};
            if (poll(&waiting, 1, 50) <= 0) {
                siginfo_t ended{};
                waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT);
                if (ended.si_pid == pid) return false;
                continue;
            }
            alignas(inotify_event) char events[4096];
            const ssize_t size = read(fd_, events, sizeof events);
            for (ssize_t at = 0; at < size;) {
                const auto* event = reinterpret_cast<const inotify_event*>(events + at);
                if (event->len > 0 && name_ == event->name) --count;
                at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
            }
        }
        return true;
    }

  private:
    std::string name_;
    int fd_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
};

// Half of them at any time, half while the history is being written, which is the smaller part of a sweep.
TEST_F(History, IsWholeAfterEachOfFiftyKills) {
    ASSERT_EQ(check().status, check().status);
    const auto began = Clock::now();
    ASSERT_THAT(check().status, AnyOf(0, 1, 3));
    const auto usual = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began);
    int known = HistoryDatabase(file()).sweeps();
    ASSERT_EQ(known, 3);
    std::mt19937 random(20'261'130);
    int killed = 0, recorded = 0;
    for (int sweep = 0; sweep < 50; ++sweep) {
        const std::string before = HistoryDatabase(file()).content(known);
        Writes writes(home_.path(), "history.db-wal");
        const int pid = begin_check();
        if (sweep % 2 == 0) {
            std::this_thread::sleep_for(usual * static_cast<int>(random() % 1200) / 1000);
        } else {
            writes.wait_for(1 + static_cast<int>(random() % 16), pid);
        }
        kill(pid, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        killed += WIFSIGNALED(status) ? 1 : 0;
        const HistoryDatabase history(file());
        ASSERT_TRUE(history.intact()) << "sweep " << sweep;
        const int now = history.sweeps();
        ASSERT_TRUE(now == known || now == known + 1) << known << " sweeps became " << now;
        EXPECT_TRUE(WIFSIGNALED(status) || now == known + 1) << "one that came to its end is recorded";
        ASSERT_TRUE(history.content(known) == before) << "what was there is another after sweep " << sweep;
        recorded += now - known;
        known = now;
    }
    EXPECT_GT(killed, 0);
    RecordProperty("killed", killed);
    RecordProperty("recorded", recorded);
    EXPECT_THAT(check().status, AnyOf(0, 1, 3));
    EXPECT_EQ(HistoryDatabase(file()).sweeps(), known + 1) << "the next one goes on";
    EXPECT_EQ(run({"history", "show", "last", "--history", file()}).status, 0);
}

TEST_F(History, TakesSweepsThatEndAtOnceAndIsReadMeanwhile) {
    ASSERT_THAT(check().status, AnyOf(0, 1, 3));
    constexpr int writers = 6;
    std::vector<std::thread> threads;
    std::vector<Ended> ended(writers);
    for (int i = 0; i < writers; ++i)
        threads.emplace_back([&, i] { ended[static_cast<std::size_t>(i)] = check(); });
    for (int i = 0; i < 10; ++i) {
        const auto listed = run({"history", "--format", "json", "--history", file()});
        EXPECT_EQ(listed.status, 0) << listed.err;
        EXPECT_GE(json::parse(listed.out)["sweeps"].size(), 1u);
        EXPECT_EQ(run({"history", "show", "last", "--format", "json", "--history", file()}).status, 0);
    }
    for (std::thread& thread : threads) thread.join();
    for (const Ended& one : ended) {
        EXPECT_THAT(one.status, AnyOf(0, 1, 3)) << one.err;
        EXPECT_EQ(one.err.find("not kept"), std::string::npos) << one.err;
    }
    const HistoryDatabase history(file());
    EXPECT_EQ(history.sweeps(), 1 + writers);
    EXPECT_TRUE(history.intact());
}

// In a mount namespace with a small disk of its own: DISK. What stands on stdout is the report and the
// statuses.
std::string on_small_disk(const std::string& script) {
    return "exec unshare -m sh -c 'mount --make-rprivate / && mkdir -p \"$HOME/disk\" && "
           "mount -t tmpfs -o size=1m tmpfs \"$HOME/disk\" || exit 99; DISK=$HOME/disk\n" +
           script + "'";
}

TEST_F(History, OnAFullDiskKeepsWhatItHasAndTheReportIsPrinted) {
    SKIP_WITHOUT_ROOT();
    const std::string check = program() + " check --local --history \"$DISK/h.db\"";
    const auto ended = shell(on_small_disk(check + " >/dev/null 2>&1; " + check +
                                           " >/dev/null 2>&1\n"
                                           "cp -r \"$DISK\" \"$HOME/before\"\n"
                                           // Enough to begin with, and too little for a sweep.
                                           "free=$(df -k --output=avail \"$DISK\" | tail -1)\n"
                                           "head -c $(((free - 56) * 1024)) /dev/zero > \"$DISK/filler\"\n" +
                                           check + "; echo status $?\n" +
                                           "cp -r \"$DISK\" \"$HOME/after\"; rm \"$DISK/filler\"\n" + check +
                                           " >/dev/null 2>&1; cp -r \"$DISK\" \"$HOME/later\""));
    if (ended.status == 99) GTEST_SKIP() << "no mount namespace: " << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("1 host; ")) << "the report";
    EXPECT_THAT(ended.out, HasSubstr("exit 5")) << "and what became of it";
    EXPECT_THAT(ended.out, HasSubstr("status 5\n")) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("this sweep is not kept: history ")) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("no space is left on its disk"));
    EXPECT_THAT(ended.err, HasSubstr("-> free some"));
    const HistoryDatabase before(home_ / "before/h.db"), after(home_ / "after/h.db"),
        later(home_ / "later/h.db");
    EXPECT_EQ(after.sweeps(), 2);
    EXPECT_TRUE(after.intact());
    EXPECT_TRUE(after.content(2) == before.content(2));
    EXPECT_EQ(later.sweeps(), 3) << "with room again it goes on";
    EXPECT_TRUE(later.intact());
}

TEST_F(History, ThatIsTheDefaultAndFullIsANoteAndNoMore) {
    SKIP_WITHOUT_ROOT();
    const std::string check = "XDG_STATE_HOME=\"$DISK\" " + program() + " check --local";
    const auto usual = run({"check", "--local", "--no-history"});
    const auto ended = shell(on_small_disk("head -c 2000000 /dev/zero > \"$DISK/filler\" 2>/dev/null\n" +
                                           check + "; echo status $?"));
    if (ended.status == 99) GTEST_SKIP() << "no mount namespace: " << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("status " + std::to_string(usual.status) + "\n"));
    EXPECT_THAT(ended.err, HasSubstr("note: this sweep is not kept: "));
}

TEST_F(History, ThatMayNotBeWrittenToIsSaidBeforeAHostIsContactedIfItWasAskedFor) {
    SKIP_WITHOUT_ROOT();
    if (testing::run({{"setpriv", "--version"}, "", {}, std::chrono::seconds(10)}).status != 0)
        GTEST_SKIP() << "no setpriv";
    ASSERT_THAT(check().status, AnyOf(0, 1, 3));
    std::filesystem::permissions(home_.path(), std::filesystem::perms(0755));
    const std::string as_nobody = "exec setpriv --reuid=65534 --regid=65534 --clear-groups ";
    const auto asked = shell(as_nobody + program() + " check --local --history " + file());
    EXPECT_EQ(asked.status, 5) << asked.out;
    EXPECT_EQ(asked.out, "");
    EXPECT_THAT(asked.err, StartsWith("cleanslate: history " + file() + ": "));
    const auto by_default = shell(as_nobody + program() + " check --local");
    EXPECT_THAT(by_default.status, AnyOf(0, 1, 3)) << by_default.err;
    EXPECT_THAT(by_default.out, HasSubstr("1 host; "));
    EXPECT_THAT(by_default.err, HasSubstr("note: this sweep is not kept: "));
    EXPECT_EQ(HistoryDatabase(file()).sweeps(), 1);
}

TEST_F(History, OfAnotherProgramIsLeftAlone) {
    std::ofstream(file()) << "not a database, and somebody's";
    const auto refused = check();
    EXPECT_EQ(refused.status, 5);
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(contents(file()), "not a database, and somebody's");
}

// From dirty to clean on simulated hosts, asked for afterwards.
TEST_F(History, TellsWhatBecameOfAFleet) {
    SKIP_WITHOUT_ROOT();
    RunningFleet fleet({"hosts/leak.host"});
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const Operator who(fleet);
    ASSERT_EQ(who.run({"check"}).status, 1);
    const auto cleared = who.report({"clear", "-l", "all", "--yes"});
    ASSERT_EQ(cleared.status, 0) << cleared.err;
    const auto ask = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {program(), "history"});
        words.insert(words.end(), {"--format", "json"});
        const auto ended = testing::run({words, "", who.environment(), std::chrono::seconds(60)});
        EXPECT_EQ(ended.status, 0) << ended.err;
        return json::parse(ended.out, nullptr, false);
    };
    const auto diff = ask({"diff"});
    EXPECT_EQ(diff["older"]["command"], "check");
    EXPECT_EQ(diff["same_scope"], true) << "no limit, and -l all";
    EXPECT_EQ(diff["newly_clean"][0]["host"], "leak");
    const auto course = ask({"--host", "leak"});
    EXPECT_EQ(course["hosts"][0]["stretches"].size(), 2u);
    EXPECT_EQ(course["hosts"][0]["stretches"][1]["holders"][0]["user"], "alice");
    EXPECT_EQ(ask({"top"})["users"][0]["name"], "alice");
    auto shown = ask({"show", "last"}), printed = cleared.document;
    EXPECT_EQ(shown, printed) << json::diff(printed, shown).dump(1);
}

}  // namespace
}  // namespace cleanslate::testing
