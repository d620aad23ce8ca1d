#pragma once
// One host of a sweep: a thin coroutine that carries out what its Sequence decides.

#include <atomic>
#include <memory>

#include "agentless/event.hpp"
#include "agentless/fleet.hpp"
#include "agentless/places.hpp"
#include "agentless/sequence.hpp"
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
    std::atomic<int> rebooting{0};             // hosts that have one of job.reboots_at_a_time places
    std::atomic<long long> kills{0};           // processes that something was done to, on all hosts
    std::atomic<bool> kills_exhausted{false};  // --max-kills-total left no room for a host's
    std::function<void(Error)> on_audit_failure{};
    std::function<void(std::size_t, const std::string&)> on_doing{};  // index of the task, what it is doing
    std::function<void()> wake_all{};                                 // notifies every host's wakeup
};

struct HostRun {
    SweepContext& sweep;
    const HostTask& task;
    std::size_t index;
    Endpoint endpoint;
    HostOutcome& outcome;
    Transport& transport;
    // Notified when the sweep winds down or is cut, when a host has rebooted, and when a place was waited
    // for.
    Event& wakeup;
    Places& places;
    Places::Host& place;  // this one's among them

    // Never throws; always leaves the outcome finished, with a verdict.
    Awaitable<void> run();

    // What it holds while it runs.
    std::unique_ptr<Connection> connection = {};
    std::optional<ProcessKey> lock_keeper = {};  // the process that holds the host's lock
    bool has_reboot_place = false;

  private:
    Awaitable<void> follow_sequence();
    Awaitable<Status> carry_out(Sequence& sequence, const Move& move);
    Awaitable<void> run_ad_hoc();
    // How everything is asked of the host. An answer is usual where all hosts give one like it.
    Awaitable<Result<RunOutput>> ask(const Script& script, Limits limits, bool is_usual = false);
    Awaitable<Status> open(Clock::time_point deadline);
    // Waits for a place in the fan-out, which everything that acts has to have. False: the sweep is cut or
    // its deadline has passed, or it winds down, unless that shall not end it.
    enum class WhenWindingDown { stop, go_on };
    Awaitable<bool> take_place(WhenWindingDown then);
    Error no_place(std::string_view phase) const;

    // host_run_acts.cpp
    Awaitable<Result<Evidence>> look(SurveyRequest request);
    Awaitable<Status> take_survey(Sequence& sequence, const TakeSurvey& move);
    Awaitable<Status> send_signal(Sequence& sequence, const SendSignal& move);
    Awaitable<Status> run_step(Sequence& sequence, const RunCommand& move);
    Awaitable<Status> run_command(const RunCommand& move);
    Awaitable<Status> reset_gpus(Sequence& sequence, const ResetGpus& move);
    Awaitable<Status> remove_files(Sequence& sequence, const RemoveFiles& move);
    bool may_end(int fresh);
    template <class Action>
    Status intend(const std::vector<Action>& actions);
    std::vector<CommandAction> commands_from(std::size_t first) const;
    std::vector<SignalAction> signals_from(std::size_t first) const;

    // host_run_lock.cpp
    Awaitable<Status> take_lock(Sequence& sequence, const TakeLock& move);
    Awaitable<void> release_lock();

    // host_run_reboot.cpp
    Awaitable<Status> await_reboot(Sequence& sequence);
    Awaitable<Status> reboot(Sequence& sequence, const Reboot& move);
    Awaitable<Status> come_back(Sequence& sequence, const Reboot& move, Clock::time_point until);
    Awaitable<Result<Evidence>> look_after_boot(const Reboot& move, Clock::time_point until);
    void give_place_back();

    Awaitable<void> sleep_until(Clock::time_point when);
    Clock::time_point deadline_in(Milliseconds time) const;
    Error explained(Error error, std::string_view phase) const;
    void doing(std::string what);
    void finish(Clock::time_point began);
};

}  // namespace cleanslate::agentless
