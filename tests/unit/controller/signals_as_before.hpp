#pragma once
// StopSignals leaves the signals blocked, so that a report is written to its end; the tests after it are not
// to find them so.

#include <csignal>
#include <ctime>

namespace cleanslate::controller::testing {

// At its end no stop signal is pending any more, and as many are blocked as at its begin.
class SignalsAsBefore {
  public:
    SignalsAsBefore() { ::pthread_sigmask(SIG_SETMASK, nullptr, &before_); }
    ~SignalsAsBefore() {
        sigset_t stops;
        sigemptyset(&stops);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stops, signal);
        const timespec at_once{};
        while (::sigtimedwait(&stops, nullptr, &at_once) > 0) {
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    SignalsAsBefore(const SignalsAsBefore&) = delete;
    SignalsAsBefore& operator=(const SignalsAsBefore&) = delete;

  private:
    sigset_t before_{};
};

}  // namespace cleanslate::controller::testing
