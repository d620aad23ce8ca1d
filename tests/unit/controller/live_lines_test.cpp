#include "controller/live_lines.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "controller/signals.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;

struct Pipe {
    Pipe() {
        if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    }
    ~Pipe() {
        close_reader();
        ::close(ends[1]);
    }
    void close_reader() {
        if (ends[0] >= 0) ::close(std::exchange(ends[0], -1));
    }
    // Until the text has come.
    std::string read(std::size_t size) const {
        std::string text;
        while (text.size() < size) {
            char piece[65536];
            const ssize_t got = ::read(ends[0], piece, std::min(sizeof piece, size - text.size()));
            if (got <= 0) break;
            text.append(piece, static_cast<std::size_t>(got));
        }
        return text;
    }
    int ends[2] = {-1, -1};
};

TEST(LiveLines, AreInTheFileBeforeTheEnd) {
    const TemporaryFolder folder;
    auto lines = LiveLines::into_file(folder.file("events"));
    ASSERT_TRUE(lines);
    (*lines)->write("one\n");
    while (contents_of(folder.file("events")) != "one\n") std::this_thread::yield();
    (*lines)->write("two\n");
    Output out(-1);
    EXPECT_TRUE((*lines)->finish(out));
    EXPECT_EQ(contents_of(folder.file("events")), "one\ntwo\n");
    EXPECT_EQ(mode_of(folder.file("events")) & 0444, 0444u);
}

TEST(LiveLines, EmptyWhatAnEarlierSweepHasLeft) {
    const TemporaryFolder folder;
    put(folder.file("events"), "old\nolder\n");
    auto lines = LiveLines::into_file(folder.file("events"));
    ASSERT_TRUE(lines);
    EXPECT_EQ(contents_of(folder.file("events")), "");
}

TEST(LiveLines, RefuseWhatIsNoFile) {
    const TemporaryFolder folder;
    EXPECT_FALSE(LiveLines::into_file("/dev/null"));
    EXPECT_FALSE(LiveLines::into_file(folder.file("nowhere/events")));
    ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);
    EXPECT_FALSE(LiveLines::into_file(folder.file("fifo")));
}

TEST(LiveLines, ArriveInAPipeAsTheyComeWhileOthersFollow) {
    Pipe pipe;
    LiveLines lines(pipe.ends[1]);
    lines.write("one\n");
    EXPECT_EQ(pipe.read(4), "one\n");
    lines.write("two\n");
    EXPECT_EQ(pipe.read(4), "two\n");
    Output out(pipe.ends[1]);
    EXPECT_TRUE(lines.finish(out));
}

TEST(LiveLines, OfManyThreadsAreWhole) {
    Pipe pipe;
    LiveLines lines(pipe.ends[1]);
    std::vector<std::thread> writers;
    for (char name = 'a'; name < 'e'; ++name)
        writers.emplace_back([&lines, name] {
            for (int i = 0; i < 500; ++i) lines.write(std::string(100, name) + '\n');
        });
    const std::string text = pipe.read(4 * 500 * 101);
    for (std::thread& writer : writers) writer.join();
    ASSERT_EQ(text.size(), 4u * 500 * 101);
    for (std::size_t i = 0; i < text.size(); i += 101)
        EXPECT_EQ(text.substr(i, 101), std::string(100, text[i]) + '\n');
    Output out(pipe.ends[1]);
    EXPECT_TRUE(lines.finish(out));
}

TEST(LiveLines, WaitForNoReaderUntilTheEndAndThenAsTheOutputDoes) {
    Pipe pipe;
    LiveLines lines(pipe.ends[1]);
    const std::string line = std::string(1023, 'x') + '\n';
    for (int i = 0; i < 1024; ++i) lines.write(line);  // 1 MiB: no pipe holds that
    Output out(pipe.ends[1]);
    std::string text;
    std::thread reader([&] { text = pipe.read(1024 * line.size()); });
    EXPECT_TRUE(lines.finish(out));
    reader.join();
    EXPECT_EQ(text.size(), 1024 * line.size());
}

TEST(LiveLines, GivenUpByTheOutputAreAnError) {
    Pipe pipe;
    LiveLines lines(pipe.ends[1]);
    for (int i = 0; i < 1024; ++i) lines.write(std::string(1023, 'x') + '\n');
    Output out(pipe.ends[1]);
    out.set_give_up([](Milliseconds) { return true; });
    EXPECT_FALSE(lines.finish(out));
}

TEST(LiveLines, AreNotKeptWithoutBound) {
    Pipe pipe;
    const std::string line = std::string((1u << 20) - 1, 'x') + '\n';
    std::thread reader;
    Status finished;
    {
        LiveLines lines(pipe.ends[1]);
        Output out(pipe.ends[1]);
        const std::size_t many = LiveLines::capacity / line.size() + 1;
        for (std::size_t i = 0; i <= many; ++i) lines.write(line);
        reader =
            std::thread([&] { EXPECT_EQ(pipe.read(SIZE_MAX).size() % line.size(), 0u) << "whole lines"; });
        finished = lines.finish(out);
    }
    ::close(std::exchange(pipe.ends[1], -1));  // its last writer
    reader.join();
    ASSERT_FALSE(finished);
    EXPECT_THAT(finished.error().message, HasSubstr("nobody reads"));
}

TEST(LiveLines, OfAPipeWithoutAReaderAreAnErrorAtTheEnd) {
    ignore_write_signals();
    Pipe pipe;
    LiveLines lines(pipe.ends[1]);
    pipe.close_reader();
    lines.write("one\n");
    Output out(pipe.ends[1]);
    EXPECT_FALSE(lines.finish(out));
}

// Files may grow to so many bytes.
struct SizeLimit {
    explicit SizeLimit(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before);
        rlimit limit = before;
        limit.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &limit);
        handler = std::signal(SIGXFSZ, SIG_IGN);
    }
    ~SizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before);
        std::signal(SIGXFSZ, handler);
    }
    rlimit before{};
    void (*handler)(int) = nullptr;
};

TEST(LiveLines, OfAFileThatTakesNoMoreEndWithAWholeOne) {
    const TemporaryFolder folder;
    auto lines = LiveLines::into_file(folder.file("events"));
    ASSERT_TRUE(lines);
    Output out(-1);
    Status finished;
    {
        const SizeLimit limit(25);
        for (int i = 0; i < 5; ++i) (*lines)->write("0123456789\n");
        finished = (*lines)->finish(out);
    }
    ASSERT_FALSE(finished);
    EXPECT_THAT(finished.error().message, HasSubstr("events: "));
    EXPECT_EQ(contents_of(folder.file("events")), "0123456789\n0123456789\n");
}

}  // namespace
}  // namespace cleanslate::controller::testing
