#include "tests/fleet/scale/delay_line.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace cleanslate::simulated {
namespace {

struct Pair {
    Pair() {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
        near = Fd(ends[0]);
        far = Fd(ends[1]);
    }
    Fd near, far;
};

// A client's end and a server's end with a line between them.
class DelayLineTest : public ::testing::Test {
  protected:
    void lay(Moment round_trip) {
        line_ = std::make_unique<DelayLine>(loop_, std::move(outer_.far), std::move(inner_.far), round_trip,
                                            [this] { line_.reset(); });
    }
    // Reads to `into` until its end; when the first byte came goes to `first`. The loop ends with the last of
    // them.
    void collect(int fd, std::string& into, Moment& first) {
        ++open_;
        loop_.watch(fd, EPOLLIN, [this, fd, &into, &first](std::uint32_t) {
            std::array<char, 4096> buffer;
            const ssize_t count = ::read(fd, buffer.data(), buffer.size());
            if (count > 0) {
                if (into.empty()) first = loop_.now();
                into.append(buffer.data(), static_cast<std::size_t>(count));
            }
            if (count != 0) return;
            loop_.forget(fd);
            if (--open_ == 0) loop_.stop();
        });
    }
    static void say(const Fd& socket, std::string_view text) {
        EXPECT_EQ(::write(socket.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }

    Loop loop_{now_ns()};
    Pair outer_, inner_;
    std::unique_ptr<DelayLine> line_;
    int open_ = 0;
};

TEST_F(DelayLineTest, EachWayTakesHalfARoundTripAndTheFirstAnswerAWholeOneMore) {
    lay(Moment(40));
    std::string to_server, to_client;
    Moment at_server{0}, at_client{0};
    collect(inner_.near.get(), to_server, at_server);
    collect(outer_.near.get(), to_client, at_client);
    const auto began = loop_.now();
    say(outer_.near, "question");
    say(inner_.near, "answer");
    ::shutdown(outer_.near.get(), SHUT_WR);
    ::shutdown(inner_.near.get(), SHUT_WR);
    loop_.run();
    EXPECT_EQ(to_server, "question");
    EXPECT_EQ(to_client, "answer");
    EXPECT_GE(at_server - began, Moment(20));
    EXPECT_GE(at_client - began, Moment(60));
}

TEST_F(DelayLineTest, WhatIsMoreThanASocketHoldsComesInOrderAndWhole) {
    lay(Moment(2));
    std::string sent, to_server, to_client;
    Moment ignored{0};
    for (int i = 0; sent.size() < 3'000'000; ++i) sent += std::to_string(i) + ",";
    std::size_t written = 0;
    collect(inner_.near.get(), to_server, ignored);
    loop_.watch(outer_.near.get(), EPOLLOUT, [&](std::uint32_t) {
        const auto count = ::write(outer_.near.get(), sent.data() + written, sent.size() - written);
        if (count > 0) written += static_cast<std::size_t>(count);
        if (written < sent.size()) return;
        loop_.forget(outer_.near.get());
        ::shutdown(outer_.near.get(), SHUT_WR);
        ::shutdown(inner_.near.get(), SHUT_WR);
    });
    loop_.run();
    EXPECT_TRUE(to_server == sent);
}

TEST_F(DelayLineTest, AnEndOnOneSideEndsTheOtherAfterWhatWasSaidBefore) {
    lay(Moment(2));
    std::string to_client;
    Moment ignored{0};
    collect(outer_.near.get(), to_client, ignored);
    say(inner_.near, "last words");
    inner_.near.reset();
    ::shutdown(outer_.near.get(), SHUT_WR);
    loop_.run();
    EXPECT_EQ(to_client, "last words");
}

}  // namespace
}  // namespace cleanslate::simulated
