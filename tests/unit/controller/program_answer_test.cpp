#include "controller/program_answer.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "base/files.hpp"
#include "controller/file_handle.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;

Program shell(const std::string& script) {
    Program program;
    program.words = {"sh", "-c", script};
    return program;
}

TEST(ProgramAnswer, IsWhatItPrints) {
    EXPECT_EQ(answer_of(shell("echo one; echo two >&2; cat")).value(), "one\n") << "nothing is there to read";
    Program with = shell("printf %s \"$CLEANSLATE_TEST_WORD\"");
    with.variables = {{"CLEANSLATE_TEST_WORD", "a b"}};
    EXPECT_EQ(answer_of(with).value(), "a b");
    with = shell("printf %s \"$PATH\"");
    with.variables = {{"PATH", "/bin"}};
    EXPECT_EQ(answer_of(with).value(), "/bin") << "its own variable, and not ours of that name";
    EXPECT_EQ(answer_of(shell("head -c 300000 /dev/zero")).value().size(), 300'000u)
        << "more than a pipe holds";
}

TEST(ProgramAnswer, OfOneThatFailsIsItsLastWord) {
    const auto failed = answer_of(shell("echo answer; echo why >&2; echo that is why >&2; exit 3"));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "sh: exit status 3: that is why");
    EXPECT_THAT(answer_of(shell("kill -9 $$")).error().message, HasSubstr("signal 9"));
}

TEST(ProgramAnswer, OfOneThatIsNotThereIsARemedy) {
    Program program;
    program.words = {"no-such-program-of-cleanslate"};
    program.if_absent = "install it";
    const auto absent = answer_of(program);
    ASSERT_FALSE(absent);
    EXPECT_THAT(absent.error().message, HasSubstr("No such file or directory"));
    EXPECT_EQ(absent.error().remedy, "install it");
}

TEST(ProgramAnswer, IsBounded) {
    Program program = shell("head -c 3000000 /dev/zero");
    program.most_bytes = 1 << 20;
    EXPECT_EQ(answer_of(program).error().message, "sh: answers with more than 1 MiB");
}

TEST(ProgramAnswer, HasADeadlineAndLeavesNothingBehind) {
    TemporaryFolder folder;
    const std::string pid_file = folder.file("pid");
    Program program = shell("sleep 600 & echo $! > " + pid_file + "; wait");
    program.timeout = Milliseconds{500};
    const auto began = std::chrono::steady_clock::now();
    const auto late = answer_of(program);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().message, "sh: not done after 0.50 s");
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
    const auto pid = static_cast<pid_t>(std::stol(read_file(pid_file, 100).value()));
    const FileHandle ended(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
    pollfd end{ended.get(), POLLIN, 0};
    EXPECT_TRUE(!ended.valid() || ::poll(&end, 1, 30'000) == 1) << "its child lives on";
}

TEST(ProgramAnswer, IsEndedWithWhoeverAskedForIt) {
    TemporaryFolder folder;
    const std::string fifo = folder.file("fifo");
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const pid_t asker = ::fork();
    if (asker == 0) {
        static_cast<void>(answer_of(shell("echo $$ > " + fifo + "; exec sleep 600")));
        ::_exit(0);
    }
    const auto text = read_file(fifo, 100);  // waits for its writer
    const auto pid = static_cast<pid_t>(std::stol(text.value()));
    const FileHandle ended(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
    ASSERT_TRUE(ended.valid());
    ::kill(asker, SIGTERM);
    int status = 0;
    ASSERT_EQ(::waitpid(asker, &status, 0), asker);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    pollfd end{ended.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&end, 1, 30'000), 1) << "the program lives on";
}

TEST(ProgramAnswer, IsNotEndedByASignalThatIsIgnored) {
    TemporaryFolder folder;
    const std::string begun = folder.file("begun"), go_on = folder.file("go_on");
    ASSERT_EQ(::mkfifo(begun.c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo(go_on.c_str(), 0600), 0);
    const pid_t asker = ::fork();
    if (asker == 0) {
        ::signal(SIGHUP, SIG_IGN);  // as nohup does
        const auto answer =
            answer_of(shell("echo > " + begun + "; read -r line < " + go_on + "; echo $line"));
        ::_exit(answer && *answer == "all of it\n" ? 0 : 1);
    }
    EXPECT_EQ(read_file(begun, 100).value(), "\n");
    ::kill(asker, SIGHUP);
    const FileHandle pen(::open(go_on.c_str(), O_RDWR | O_CLOEXEC));  // does not wait for its reader
    EXPECT_EQ(::write(pen.get(), "all of it\n", 10), 10);
    int status = 0;
    ASSERT_EQ(::waitpid(asker, &status, 0), asker);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(ProgramAnswer, DoesNotWaitForWhatRunsOn) {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(answer_of(shell("sleep 600 & echo done")).value(), "done\n");
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
}

}  // namespace
}  // namespace cleanslate::controller::testing
