#pragma once
// What happens, as it happens, one JSON object a line.

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agentless/fleet.hpp"
#include "controller/formats/event_lines.hpp"
#include "controller/formats/format.hpp"
#include "controller/live_lines.hpp"
#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

class EventStream : public agentless::Observer {
  public:
    // `head`: the report without what only its end knows. Without a target every call does nothing.
    EventStream(Report head, bool raw_commands) : head_(std::move(head)), raw_(raw_commands) {}

    // Where the lines go: stdout, or a file, which is emptied. Before the first event. Errors of kind
    // "write".
    Status add(const FormatRequest& request);
    void add(std::unique_ptr<LiveLines> target) { targets_.push_back(std::move(target)); }

    // Around each sweep. `result` has every host of it, and is left as it was: the end of one that was not
    // begun is written now.
    void sweep_started(std::size_t hosts, bool dry_run);
    void sweep_ended(agentless::SweepResult& result);

    // From any thread.
    void host_started(const agentless::HostOutcome& host) override;
    void host_progress(const agentless::HostOutcome& host) override;
    void host_finished(const agentless::HostOutcome& host) override;

    // Call once: ends the last sweep with the report's summary; where no sweep was begun, all that the report
    // knows is written now. Then finishes each target: the error of the first that failed.
    Status finish(const Report& report, Output& out);

  private:
    // What was told of a host that is under way.
    struct Told {
        std::string doing;
        // Of each action: whether its end was told.
        std::vector<bool> signals, commands;
    };
    void write(const std::vector<Event>& events);
    void tell_actions(const agentless::HostOutcome& host, Told& told, bool at_the_end,
                      std::vector<Event>& events) const;
    Report report_of(agentless::SweepResult result) const;

    Report head_;
    bool raw_;
    std::vector<std::unique_ptr<LiveLines>> targets_;
    std::mutex mutex_;
    // By name.
    std::map<std::string, Told, std::less<>> under_way_;
    std::set<std::string, std::less<>> ended_;
    std::chrono::steady_clock::time_point began_;
    bool dry_run_ = false;
    std::string phase_;
    std::string unsaid_end_;  // of a sweep after which there may be another
    bool begun_ = false;
};

// The events that a finished report still knows: each host's end, and the sweep's.
void write_events(const Report& report, bool raw_commands, const Sink& sink);

}  // namespace cleanslate::controller
