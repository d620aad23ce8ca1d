#include "controller/sweep_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Actor alice() {
    Actor actor;
    actor.user = "alice";
    actor.pid = 4242;
    return actor;
}

class Lock : public ::testing::Test {
  protected:
    Result<SweepLock> take(const std::string& inventory = "/srv/fleet.yaml") {
        return SweepLock::take(folder_.file("state/locks"), inventory, alice());
    }
    TemporaryFolder folder_;
};

TEST_F(Lock, OnlyOneSweepOfAnInventoryHasIt) {
    const auto first = take();
    ASSERT_TRUE(first) << first.error().message;
    const auto second = take();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, "locked");
    EXPECT_THAT(second.error().message,
                AllOf(HasSubstr("/srv/fleet.yaml"), HasSubstr("pid 4242, alice"), HasSubstr(", since 20")));
    EXPECT_THAT(second.error().remedy, HasSubstr("--exclusive"));
}

TEST_F(Lock, OtherInventoriesAreFree) {
    const auto first = take();
    EXPECT_TRUE(take("/srv/other.yaml"));
    EXPECT_FALSE(take());
}

TEST_F(Lock, IsFreeAgainOnceItsHolderIsGone) {
    { const auto first = take(); }
    EXPECT_TRUE(take());
}

TEST_F(Lock, DiesWithItsProcess) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto held = take();
        [[maybe_unused]] const auto said = ::write(ready[1], held ? "y" : "n", 1);
        ::pause();
        ::_exit(0);
    }
    char got = 0;
    ASSERT_EQ(::read(ready[0], &got, 1), 1);
    EXPECT_EQ(got, 'y');
    EXPECT_FALSE(take());
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(take());
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_F(Lock, IsPrivateAndSaysWhoHoldsIt) {
    const auto lock = take("/srv/fleet.yaml");
    ASSERT_TRUE(lock);
    EXPECT_EQ(mode_of(lock->path()), 0600u);
    EXPECT_EQ(mode_of(folder_.file("state/locks")), 0700u);
    EXPECT_THAT(contents_of(lock->path()),
                AllOf(StartsWith("pid 4242, alice"), HasSubstr("\n/srv/fleet.yaml\n")));
}

TEST_F(Lock, IsNoLinkThatSomebodyLaidThere) {
    std::string path;
    { path = take()->path(); }
    std::filesystem::remove(path);
    put(folder_.file("victim"), "precious");
    std::filesystem::create_symlink(folder_.file("victim"), path);
    const auto lock = take();
    ASSERT_FALSE(lock);
    EXPECT_EQ(lock.error().kind, "write");
    EXPECT_EQ(contents_of(folder_.file("victim")), "precious");
}

TEST_F(Lock, WithoutAFolderItIsRefusedAndNotDoneWithout) {
    put(folder_.file("state"), "a file");
    const auto lock = take();
    ASSERT_FALSE(lock);
    EXPECT_EQ(lock.error().kind, "write");
}

TEST(LockFolder, IsWhereTheHistoryIs) {
    EXPECT_EQ(default_lock_folder({{"XDG_STATE_HOME", "/s"}, {"HOME", "/h"}}), "/s/cleanslate/locks");
    EXPECT_EQ(default_lock_folder({{"HOME", "/h"}}), "/h/.local/state/cleanslate/locks");
    EXPECT_EQ(default_lock_folder({{"XDG_RUNTIME_DIR", "/run/user/0"}}), "");
}

}  // namespace
}  // namespace cleanslate::controller::testing
