// The lock of a host as it is really taken and given back, under each shell that this machine has.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "tests/scripts/acts_fixture.hpp"

namespace cleanslate::agentless {
namespace {

using namespace act_tests;
using ::testing::HasSubstr;
using enum LockReport::Result;

constexpr const char* folder = "/run/cleanslate";
const std::string alice = "alice@laptop, cleanslate 42 since 2026-11-30T02:00:00Z";

LockRequest request(int wait_ms, const std::string& who = alice) {
    return {who, Milliseconds(wait_ms), Milliseconds(600'000)};
}

LockReport read(const std::string& out) {
    auto report = read_lock(out, nonce);
    EXPECT_TRUE(report.has_value()) << out;
    return report.value_or(LockReport{});
}

// Whether somebody has the lock.
bool is_held(const char* path = folder) {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    const bool held = fd < 0 || ::flock(fd, LOCK_EX | LOCK_NB) != 0;
    if (fd >= 0) ::close(fd);
    return held;
}

class LockScript : public ActScript {
  protected:
    static LockReport take(Sandbox& host, const LockRequest& asked, Seen& seen, unsigned uid = 0) {
        host.run(GetParam(), lock_script(asked, nonce), seen, uid);
        return read(seen.out);
    }
};

INSTANTIATE_TEST_SUITE_P(Shells, LockScript, ::testing::ValuesIn(all_shells()), name_of);

TEST_P(LockScript, IsHeldWithoutAChannelUntilItIsGivenBack) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        const auto taken = take(host, request(0), out);
        out.ids["taken"] = taken.result == LockReport::Result::taken;
        out.ids["waited"] = static_cast<int>(taken.waited.count());
        out.ids["lives"] = lives(taken.keeper.pid);
        out.ids["held"] = is_held();
        struct stat about {};
        out.ids["mode"] = ::stat(folder, &about) == 0 ? static_cast<int>(about.st_mode & 07777) : -1;
        out.ids["start"] = Sandbox::start_of(taken.keeper.pid) == std::to_string(taken.keeper.start);
        Seen second;
        host.run(GetParam(), release_script(taken.keeper, nonce), second);
        out.earlier = second.out;
        out.ids["still"] = lives(taken.keeper.pid);
        out.ids["held then"] = is_held();
        out.ids["left"] = host.left();
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.ids.at("taken"), 1) << seen.out;
    EXPECT_EQ(seen.ids.at("waited"), 0) << "what was seen before holds";
    EXPECT_LT(seen.milliseconds, 10'000) << "the keeper holds no channel";
    EXPECT_EQ(seen.ids.at("lives"), 1);
    EXPECT_EQ(seen.ids.at("start"), 1);
    EXPECT_EQ(seen.ids.at("held"), 1);
    EXPECT_EQ(seen.ids.at("mode"), 0700);
    EXPECT_THAT(seen.earlier, HasSubstr("\nrelease released\nend "));
    EXPECT_EQ(seen.ids.at("still"), 0);
    EXPECT_EQ(seen.ids.at("held then"), 0);
    EXPECT_EQ(seen.ids.at("left"), 0) << "nothing of it stays behind";
}

TEST_P(LockScript, TellsTheSecondOneWhoHasIt) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        Seen first;
        const auto taken = take(host, request(0, "eve $(reboot)'\"`\\ 100%\n\x1b[2J"), first);
        const auto busy = take(host, request(300), out);
        out.earlier = busy.holder;
        out.ids["busy"] = busy.result == LockReport::Result::busy;
        out.ids["waited"] = static_cast<int>(busy.waited.count());
        out.ids["keeper lives"] = lives(taken.keeper.pid);
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.ids.at("busy"), 1) << seen.out;
    EXPECT_EQ(seen.earlier, "eve $(reboot)'\"`\\ 100%\n\x1b[2J");
    EXPECT_GE(seen.ids.at("waited"), 290);
    EXPECT_EQ(seen.ids.at("keeper lives"), 1);
}

TEST_P(LockScript, IsTakenTheMomentTheOtherOneLetsGo) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.file(std::string(folder) + "/x", "");
        ::chmod(folder, 0700);
        int go[2];
        if (::pipe(go) != 0) return;
        const int other = host.process([] {
            const int fd = ::open(folder, O_RDONLY);
            if (fd < 0 || ::flock(fd, LOCK_EX) != 0) ::_exit(1);
        });
        host.process([&] {
            if (::fork() == 0) {
                ::usleep(300'000);  // the second one waits meanwhile, or begins later: both are well
                ::kill(other, SIGKILL);
                ::_exit(0);
            }
        });
        const auto taken = take(host, request(30'000), out);
        out.ids["taken"] = taken.result == LockReport::Result::taken;
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.ids.at("taken"), 1) << seen.out;
    EXPECT_LT(seen.milliseconds, 25'000);
}

TEST_P(LockScript, GoesToOneOfTwoThatRace) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        std::vector<int> racers;
        for (int i = 0; i < 4; ++i) {
            const auto file = "/run/racer" + std::to_string(i);
            racers.push_back(::fork());
            if (racers.back() != 0) continue;
            Seen mine;
            host.run(GetParam(), lock_script(request(0), nonce), mine);
            host.file(file, mine.out);
            // The lock hangs on the racer that took it: nobody goes before all have been told.
            becomes_true([] {
                int told = 0;
                for (int j = 0; j < 4; ++j) told += !content("/run/racer" + std::to_string(j)).empty();
                return told == 4;
            });
            ::_exit(0);
        }
        for (const int racer : racers) becomes_true([&] { return !lives(racer); });
        for (int i = 0; i < 4; ++i) {
            const auto report = read(content("/run/racer" + std::to_string(i)));
            out.ids["taken"] += report.result == taken;
            out.ids["busy"] += report.result == busy;
        }
    });
    EXPECT_EQ(seen.failure, "");
    EXPECT_EQ(seen.ids.at("taken"), 1);
    EXPECT_EQ(seen.ids.at("busy"), 3);
}

TEST_P(LockScript, EndsWithTheConnectionThatItHangsOn) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        const int connection = host.process([&] {
            ::prctl(PR_SET_NAME, "sshd");
            auto runner = GetParam();
            // As sshd starts it: through the user's login shell, here a restricted one, and what limits it.
            std::filesystem::create_symlink("/bin/sh", "/run/rbash");
            runner.shell.insert(runner.shell.begin(), {"/run/rbash", "-c", "nice \"$@\"; exit $?", "login"});
            Seen mine;
            host.run(runner, lock_script(request(0), nonce), mine);
            host.file("/run/out", mine.out);
        });
        const auto report = read(content("/run/out"));
        out.ids["taken"] = report.result == taken;
        ::usleep(1'500'000);  // it looks each second
        out.ids["lives with it"] = lives(report.keeper.pid);
        ::kill(connection, SIGKILL);
        out.ids["ends with it"] = becomes_true([&] { return !lives(report.keeper.pid); });
        out.ids["free"] = becomes_true([] { return !is_held(); });
        out.ids["left"] = host.left();
    });
    EXPECT_EQ(seen.failure, "");
    EXPECT_EQ(seen.ids.at("taken"), 1);
    EXPECT_EQ(seen.ids.at("lives with it"), 1);
    EXPECT_EQ(seen.ids.at("ends with it"), 1);
    EXPECT_EQ(seen.ids.at("free"), 1);
    EXPECT_EQ(seen.ids.at("left"), 0);
}

TEST_P(LockScript, EndsWhenItsTimeIsOver) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        auto asked = request(0);
        asked.keep = Milliseconds(1'000);
        const auto report = take(host, asked, out);
        out.ids["ends"] = becomes_true([&] { return !lives(report.keeper.pid); });
        out.ids["free"] = becomes_true([] { return !is_held(); });
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.ids.at("ends"), 1);
    EXPECT_EQ(seen.ids.at("free"), 1);
}

TEST_P(LockScript, BelievesNoFileThatADeadHolderLeft) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        Seen first;
        const auto killed = take(host, request(0, "the dead one"), first);
        ::kill(killed.keeper.pid, SIGKILL);
        // Its sleep may still be there, and must not have the lock.
        out.ids["free"] = becomes_true([] { return !is_held(); });
        out.ids["stale"] = content(std::string(folder) + "/holder").size() > 0;
        const int fd = ::open(folder, O_RDONLY | O_CLOEXEC);
        if (::flock(fd, LOCK_EX | LOCK_NB) != 0) throw std::runtime_error("not free");
        const auto busy = take(host, request(0), out);  // somebody has it who has written nothing
        out.earlier = busy.holder;
        out.ids["busy"] = busy.result == LockReport::Result::busy;
        ::close(fd);
        Seen third;
        out.ids["taken"] = take(host, request(0), third).result == taken;
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.ids.at("free"), 1);
    EXPECT_EQ(seen.ids.at("stale"), 1);
    EXPECT_EQ(seen.ids.at("busy"), 1);
    EXPECT_EQ(seen.earlier, "") << "the dead one does not hold it";
    EXPECT_EQ(seen.ids.at("taken"), 1);
}

TEST_P(LockScript, TakesNothingFromAHostileHolderFile) {
    for (const std::string& text :
         {std::string("1 1 x\nend ") + nonce + "\n", std::string("1 START %zz\n"),
          std::string("1 START a%2\n"), std::string("1 START \x1b[2J\n"),
          std::string("1 START $(touch${IFS}/run/pwned)\n"), "1 START " + std::string(100'000, 'x'),
          std::string("* START *\n"), std::string()}) {
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            host.file(std::string(folder) + "/x", "");
            ::chmod(folder, 0700);
            auto hostile = text;
            const auto at = hostile.find("START");
            if (at != std::string::npos) hostile.replace(at, 5, Sandbox::start_of(1));
            host.file(std::string(folder) + "/holder", hostile);
            const int fd = ::open(folder, O_RDONLY | O_CLOEXEC);
            if (::flock(fd, LOCK_EX | LOCK_NB) != 0) throw std::runtime_error("not free");
            const auto busy = take(host, request(0), out);
            out.earlier = busy.holder;
            out.ids["busy"] = busy.result == LockReport::Result::busy;
            out.ids["pwned"] = std::filesystem::exists("/run/pwned");
            ::close(fd);
        });
        expect_quiet(seen);
        EXPECT_EQ(seen.ids.at("busy"), 1) << seen.out;
        EXPECT_EQ(seen.earlier, "");
        EXPECT_EQ(seen.ids.at("pwned"), 0);
    }
}

TEST_P(LockScript, RefusesAFolderThatOthersCouldHaveMadeOrCanOpen) {
    for (const int way : {0, 1, 2, 3, 4}) {
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            host.file("/run/elsewhere/x", "");
            if (way == 0 && ::symlink("/run/elsewhere", folder) != 0) throw std::runtime_error("symlink");
            if (way != 0) host.file(std::string(folder) + "/x", "");
            if (way == 1) ::chmod(folder, 0777);
            if (way == 2) {
                ::chmod(folder, 0700);
                if (::chown(folder, 1234, 0) != 0) throw std::runtime_error("chown");
            }
            if (way == 3) ::chmod(folder, 0770);
            // Then anybody could hold its lock for ever.
            if (way == 4) ::chmod(folder, 0755);
            const auto report = take(host, request(0), out);
            out.ids["unavailable"] = report.result == unavailable;
            out.earlier = report.reason;
        });
        expect_quiet(seen);
        EXPECT_EQ(seen.ids.at("unavailable"), 1) << way << seen.out;
        EXPECT_EQ(seen.earlier, "no directory that only this login can write");
    }
}

TEST_P(LockScript, IsTheUsersOwnWithoutRoot) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        Seen first;
        out.ids["none"] = take(host, request(0), first, 65534).result == unavailable;
        host.file("/run/user/65534/x", "");
        if (::chown("/run/user/65534", 65534, 65534) != 0) throw std::runtime_error("chown");
        ::chmod("/run/user/65534", 0755);
        out.ids["open to others"] = take(host, request(0), first, 65534).result == unavailable;
        ::chmod("/run/user/65534", 0700);
        const auto report = take(host, request(0), out, 65534);
        out.ids["taken"] = report.result == taken;
        out.ids["held"] = is_held("/run/user/65534/cleanslate");
        out.ids["busy"] = take(host, request(0), first, 65534).result == busy;
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.ids.at("none"), 1);
    EXPECT_EQ(seen.ids.at("open to others"), 1);
    EXPECT_EQ(seen.ids.at("taken"), 1) << seen.out;
    EXPECT_EQ(seen.ids.at("held"), 1);
    EXPECT_EQ(seen.ids.at("busy"), 1);
}

TEST_P(LockScript, IsUnavailableWhereThereIsNoFlock) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.hide("flock");
        out.earlier = take(host, request(0), out).reason;
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.earlier, "no flock");
}

TEST_P(LockScript, GivesNothingBackForAnotherProcessWithThatPid) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        const int other = host.process([] {});
        host.run(GetParam(), release_script({other, std::stoull(Sandbox::start_of(other)) + 1}, nonce), out);
        out.ids["lives"] = lives(other);
    });
    expect_quiet(seen);
    EXPECT_THAT(seen.out, HasSubstr("\nrelease gone\nend "));
    EXPECT_EQ(seen.ids.at("lives"), 1);
}

}  // namespace
}  // namespace cleanslate::agentless
