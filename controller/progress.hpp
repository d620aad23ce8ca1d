#pragma once
// What is told on stderr while a sweep runs: one redrawn line on a terminal, nothing in a pipe; a line a host
// with -v, details with -vv.

#include <array>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "agentless/fleet.hpp"
#include "controller/console.hpp"

namespace cleanslate::controller {

// What the line is made from.
struct ProgressState {
    std::size_t total = 0;
    std::size_t done = 0;
    bool verdicts = true;                 // false: an ad-hoc command, counted as done or not asked
    std::array<std::size_t, 5> counts{};  // by Verdict, of those done
    std::size_t not_asked = 0;
    Milliseconds elapsed{0};
    std::string slowest;  // begun first of those under way; empty: none
    std::string slowest_doing;
    Milliseconds slowest_for{0};
    Milliseconds quiet_for{0};  // since a host last began, moved on or ended
};

// "12/64 hosts: 10 clean, 1 dirty; 3.4 s; waiting for gpu07: survey (12 s)", at most `columns` wide, safe to
// print.
std::string progress_line(const ProgressState& state, std::size_t columns);

class Progress : public agentless::Observer {
  public:
    struct Settings {
        int fd = 2;           // see Console
        bool redraw = false;  // the stream is a terminal
        std::size_t columns = 80;
        int verbosity = 0;
    };
    explicit Progress(Settings settings);
    ~Progress() override;

    // Around each sweep: the line lives between them.
    void begin(std::size_t hosts, bool verdicts);
    void end();
    // A line of its own, whatever else is drawn. The text is made safe to print. From any thread.
    void say(std::string_view text);

    void host_started(const agentless::HostOutcome& host) override;
    void host_progress(const agentless::HostOutcome& host) override;
    void host_finished(const agentless::HostOutcome& host) override;
    void host_detail(const std::string& host, const std::string& line) override;

  private:
    using Clock = std::chrono::steady_clock;
    struct Active {
        Clock::time_point since;
        std::string doing;
    };
    void tick();
    void draw();  // the callers hold the mutex
    void erase();
    ProgressState state() const;

    Settings settings_;
    Console console_;
    std::mutex mutex_;
    std::condition_variable ended_;
    ProgressState counted_;
    std::map<std::string, Active> active_;
    Clock::time_point began_, last_event_;
    bool running_ = false;
    std::string drawn_;  // what stands on the terminal's line now
    std::thread ticker_;
};

}  // namespace cleanslate::controller
