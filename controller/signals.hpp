#pragma once
// SIGINT, SIGTERM and SIGHUP as events on a thread of their own: no code runs in a signal handler, and none
// of them ends the process before its report is written.

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "controller/file_handle.hpp"

namespace cleanslate::controller {

// From here on a closed pipe and a file-size limit are errors of write(), not the process's death.
void ignore_write_signals();

class StopSignals {
  public:
    // `count`: 1 for the first signal. Called on the thread of StopSignals.
    using Handler = std::function<void(int signal, int count)>;

    // One that was ignored before stays so and is told to nobody: nohup's SIGHUP.
    // Blocks the others in this thread, and so in every thread that is started later: make it first. They
    // stay blocked when it is gone.
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    // Who is told of signals from now on; null: nobody. Signals that have come already are told at once. When
    // this returns, the handler before is not running and will not be called again.
    void set_handler(Handler handler);

    // The first signal that came; 0: none.
    int first() const { return first_; }
    // How many came.
    int count() const { return count_; }
    // Readable once a signal has come, for poll().
    int fd() const { return came_.get(); }

  private:
    void watch();

    FileHandle signals_, came_, end_;
    std::mutex mutex_;  // guards the handler, held while the handler runs
    Handler handler_;
    std::atomic<int> count_ = 0;
    std::atomic<int> first_ = 0;
    std::thread thread_;
};

}  // namespace cleanslate::controller
