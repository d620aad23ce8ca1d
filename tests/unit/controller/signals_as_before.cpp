// What watches stop signals leaves them blocked, so that a report is written to its end; the tests after it
// are not to find them so.

#include <gtest/gtest.h>

#include <csignal>
#include <ctime>

namespace cleanslate::controller::testing {
namespace {

// At the end of each test no stop signal is pending any more, and as many are blocked as at its begin.
class SignalsAsBefore : public ::testing::EmptyTestEventListener {
    void OnTestStart(const ::testing::TestInfo&) override {
        ::pthread_sigmask(SIG_SETMASK, nullptr, &before_);
    }
    void OnTestEnd(const ::testing::TestInfo&) override {
        sigset_t stops;
        sigemptyset(&stops);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stops, signal);
        const timespec at_once{};
        while (::sigtimedwait(&stops, nullptr, &at_once) > 0) {
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    sigset_t before_{};
};

[[maybe_unused]] const bool listens = [] {
    ::testing::UnitTest::GetInstance()->listeners().Append(new SignalsAsBefore);  // which deletes it
    return true;
}();

}  // namespace
}  // namespace cleanslate::controller::testing
