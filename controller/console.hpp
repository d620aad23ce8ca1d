#pragma once
// What is told to people on stderr, written by a thread of its own: no host waits for a terminal that is
// stopped (Ctrl-S) or for a pipe that nobody reads.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "controller/unblocked.hpp"

namespace cleanslate::controller {

class Console {
  public:
    // Written to directly, never buffered. The thread is started by the first text.
    explicit Console(int fd) : stream_(fd) {}
    // Waits for what is still to be written as flush() does; the rest is lost.
    ~Console();
    Console(const Console&) = delete;
    Console& operator=(const Console&) = delete;

    // From any thread; never waits. What finds more than `capacity` bytes unwritten is left out as a whole; a
    // line that says how often follows once there is room. What a stream that is gone would have shown is
    // lost.
    void write(std::string_view text);
    // Waits until all is written, at most a second in which nothing was; not at all while the last wait was
    // in vain.
    void flush();
    // Bytes that are still to be written.
    std::size_t unwritten() const;

    static constexpr std::size_t capacity = 1u << 20;
    static constexpr std::chrono::seconds patience{1};

  private:
    void work();
    void start();  // these two with the mutex held
    void say_what_is_left_out();
    void write_out(std::string_view text);

    Unblocked stream_;  // of the thread, once there is one
    mutable std::mutex mutex_;
    std::condition_variable news_;      // text came, or the end
    std::condition_variable progress_;  // something was written
    std::string waiting_;
    std::size_t under_way_ = 0;  // bytes that the thread has taken and not written yet
    std::size_t left_out_ = 0;
    std::size_t written_ = 0;  // ever
    std::size_t given_up_at_ = static_cast<std::size_t>(-1);
    bool gone_ = false;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace cleanslate::controller
