#pragma once
// One host of a sweep: a thin coroutine that carries out what its Sequence decides.

#include <atomic>
#include <memory>

#include "agentless/event.hpp"
#include "agentless/fleet.hpp"
#include "agentless/transport.hpp"

namespace cleanslate::agentless {

// What the hosts of one sweep have in common.
struct SweepContext {
    Job job;
    SweepLimits limits;
    Clock::time_point deadline;  // of the whole sweep
    Observer& observer;
    Audit& audit;
    std::atomic<bool> winding_down{false};  // no new step
    std::atomic<bool> cut{false};           // everything ends now
    std::atomic<bool> deadline_passed{false};
    std::atomic<bool> audit_failed{false};
    std::function<void(Error)> on_audit_failure;
    std::function<void(std::size_t, const std::string&)> on_doing;  // index of the task, what it is doing
};

struct HostRun {
    SweepContext& sweep;
    const HostTask& task;
    std::size_t index;
    Endpoint endpoint;
    HostOutcome& outcome;
    Transport& transport;
    Event& wakeup;  // notified when the sweep winds down or is cut

    // Never throws; always leaves the outcome finished, with a verdict.
    Awaitable<void> run();

  private:
    Awaitable<void> follow_sequence(Connection& connection);
    Awaitable<void> run_ad_hoc(Connection& connection);
    Awaitable<Status> take_survey(Connection& connection, class Sequence& sequence,
                                  const struct TakeSurvey& move);
    Awaitable<Status> send_signal(Connection& connection, class Sequence& sequence,
                                  const struct SendSignal& move);
    Awaitable<Status> run_command(Connection& connection, CommandAction& action, Milliseconds timeout,
                                  int expect_status);
    Awaitable<void> sleep_until(Clock::time_point when);
    Clock::time_point deadline_in(Milliseconds time) const;
    Error explained(Error error, std::string_view phase) const;
    void doing(std::string what);
    void finish(Clock::time_point began);
};

}  // namespace cleanslate::agentless
