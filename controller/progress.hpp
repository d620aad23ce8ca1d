#pragma once
// What is told on stderr while a sweep runs: one redrawn line on a terminal, nothing in a pipe; a line a host
// with -v, details with -vv; who is unfinished at Enter.

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "agentless/fleet.hpp"
#include "controller/console.hpp"
#include "controller/enter_key.hpp"
#include "controller/progress_line.hpp"
#include "controller/recent_rate.hpp"
#include "controller/terminal.hpp"

namespace cleanslate::controller {

class Progress : public agentless::Observer {
  public:
    struct Settings {
        int fd = 2;                // see Console
        bool redraw = false;       // the stream is a terminal whose lines can be drawn over
        std::size_t columns = 80;  // where the stream does not know it
        int verbosity = 0;
        bool color = false;
        bool rewraps = true;  // see terminal.hpp
        int keys = -1;        // where Enter may be typed; -1: nowhere
    };
    explicit Progress(Settings settings);
    ~Progress() override;

    // Around each sweep: the line lives between them, and only then is the terminal read.
    void begin(std::size_t hosts, bool verdicts);
    void end();
    // A line of its own, whatever else is drawn. The text is made safe to print. From any thread.
    void say(std::string_view text);
    // Lines that say who is unfinished; none outside of a sweep. From any thread.
    void say_unfinished();

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
    // The callers of these hold the mutex.
    void draw();
    std::string erasure() const;
    void erase();
    void print(const std::string& lines);
    std::vector<HostUnderWay> under_way() const;
    std::size_t not_begun() const;
    ProgressState state() const;
    std::size_t columns() const;

    Settings settings_;
    Console console_;
    std::mutex mutex_;
    std::condition_variable ended_;
    ProgressState counted_;
    RecentRate rate_;
    std::map<std::string, Active> active_;
    Clock::time_point began_, last_event_, last_tick_;
    bool running_ = false;
    std::string drawn_;              // what stands on the terminal's line now
    std::size_t drawn_columns_ = 0;  // how wide it is
    std::thread ticker_;
    std::optional<EnterKey> enter_;
};

// On stderr, as the terminal and -q, -v, --color want it.
Progress::Settings progress_settings(const Terminal& terminal, const Options& options,
                                     const Environment& environment);

}  // namespace cleanslate::controller
