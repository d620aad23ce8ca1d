#include "controller/signals.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>
#include <future>

namespace cleanslate::controller {
namespace {

// As in a terminal, also where a script has put the tests into the background, which ignores SIGINT.
[[maybe_unused]] const bool not_ignored = [] {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
    return true;
}();

// Sends a signal to this process and waits until it was handled.
void send_and_wait(StopSignals& signals, int signal, std::vector<std::pair<int, int>>& told) {
    std::promise<void> handled;
    signals.set_handler([&](int which, int count) {
        told.emplace_back(which, count);
        if (static_cast<std::size_t>(count) == told.size()) handled.set_value();
    });
    ::kill(::getpid(), signal);
    ASSERT_EQ(handled.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
    signals.set_handler(nullptr);
}

bool readable(int fd) {
    pollfd wait{fd, POLLIN, 0};
    return ::poll(&wait, 1, 0) == 1;
}

TEST(StopSignals, TellTheFirstAndTheSecond) {
    StopSignals signals;
    EXPECT_EQ(signals.first(), 0);
    EXPECT_FALSE(readable(signals.fd()));
    std::promise<void> second;
    std::vector<std::pair<int, int>> told;
    signals.set_handler([&](int signal, int count) {
        told.emplace_back(signal, count);
        if (count == 1) ::kill(::getpid(), SIGTERM);
        if (count == 2) second.set_value();
    });
    ::kill(::getpid(), SIGINT);
    ASSERT_EQ(second.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
    signals.set_handler(nullptr);
    EXPECT_EQ(told, (std::vector<std::pair<int, int>>{{SIGINT, 1}, {SIGTERM, 2}}));
    EXPECT_EQ(signals.first(), SIGINT);
    EXPECT_TRUE(readable(signals.fd()));
}

TEST(StopSignals, AreToldToAHandlerThatComesLater) {
    StopSignals signals;
    std::vector<std::pair<int, int>> told;
    send_and_wait(signals, SIGHUP, told);
    std::vector<std::pair<int, int>> later;
    signals.set_handler([&](int signal, int count) { later.emplace_back(signal, count); });
    signals.set_handler(nullptr);
    EXPECT_EQ(later, (std::vector<std::pair<int, int>>{{SIGHUP, 1}}));
}

TEST(StopSignals, StayBlockedWhenNobodyWatchesSoThatTheReportIsWritten) {
    { StopSignals signals; }
    ::kill(::getpid(), SIGINT);
    sigset_t pending;
    sigpending(&pending);
    EXPECT_TRUE(sigismember(&pending, SIGINT));
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGINT);
    int signal = 0;
    sigwait(&one, &signal);  // taken off again
    EXPECT_EQ(signal, SIGINT);
}

TEST(StopSignals, OfWhatWasIgnoredAtTheStartIsToldToNobody) {
    ::signal(SIGHUP, SIG_IGN);  // as nohup does
    {
        StopSignals signals;
        ::kill(::getpid(), SIGHUP);
        std::vector<std::pair<int, int>> told;
        send_and_wait(signals, SIGTERM, told);  // lower numbers are told first
        EXPECT_EQ(told, (std::vector<std::pair<int, int>>{{SIGTERM, 1}}));
        EXPECT_EQ(signals.first(), SIGTERM);
    }
    ::signal(SIGHUP, SIG_DFL);
}

}  // namespace
}  // namespace cleanslate::controller
