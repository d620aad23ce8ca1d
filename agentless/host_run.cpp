#include "agentless/host_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/account_trouble.hpp"
#include "agentless/findings.hpp"
#include "agentless/host_answer.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

using namespace std::chrono_literals;

// A survey's own limits on the host, so that it can still report a hang before the controller gives up: for
// nvidia-smi 30 s (2 s and 5 s were too short on busy nodes), for all else 10 s, less where the step has
// less. The script itself needs up to 2 s more to give up what cannot be killed.
SurveyRequest survey_limits(Milliseconds step_timeout) {
    SurveyRequest limits;
    limits.slack =
        std::chrono::floor<std::chrono::seconds>(std::clamp<Milliseconds>(step_timeout / 2, 2s, 10s));
    limits.budget = std::chrono::floor<std::chrono::seconds>(
        std::clamp<Milliseconds>(step_timeout - limits.slack - 2s, 1s, 30s));
    return limits;
}

// The lock has a wait of its own, and reboots are bounded by their own number: a host that has its turn for
// one must not wait for others that wait for theirs.
bool needs_place(const Move& move) {
    return std::holds_alternative<SendSignal>(move) || std::holds_alternative<RunCommand>(move) ||
           std::holds_alternative<ResetGpus>(move) || std::holds_alternative<RemoveFiles>(move);
}

}  // namespace

Awaitable<void> HostRun::run() {
    const auto began = Clock::now();
    outcome.started = true;
    outcome.verdict = Verdict::unknown;
    sweep.observer.host_started(outcome);
    try {
        doing("connect");
        const Status opened = co_await open(sweep.deadline);
        if (!opened) {
            outcome.error = explained(opened.error(), "connect");
            outcome.verdict = Verdict::unreachable;
        } else if (sweep.job.kind == Job::Kind::run) {
            co_await run_ad_hoc();
        } else {
            co_await follow_sequence();
        }
    } catch (const std::exception& e) {
        outcome.error =
            Error{"internal", outcome.doing, e.what(), "this is a fault of cleanslate: please report it"};
        outcome.verdict = Verdict::unknown;
    }
    give_place_back();
    finish(began);
}

void HostRun::finish(Clock::time_point began) {
    outcome.took = std::chrono::duration_cast<Milliseconds>(Clock::now() - began);
    outcome.finished = true;
    if (outcome.error)
        if (const std::string code = finding_code_of(*outcome.error); !code.empty())
            outcome.findings.push_back(finding(code, outcome.error->message));
    doing("");
    sweep.observer.host_finished(outcome);
}

Awaitable<void> HostRun::follow_sequence() {
    Sequence sequence(sweep.job, task, survey_limits(sweep.limits.step_timeout), outcome);
    bool had_turn = false;  // to reboot, since the last move
    for (;;) {
        if (sweep.winding_down) sequence.wind_down();
        if (sweep.cut || sweep.deadline_passed) sequence.cut();
        const Move move = sequence.next(Clock::now());
        // The turn is for the reboot, and for the look right before it.
        if (!std::holds_alternative<Reboot>(move) && !(had_turn && std::holds_alternative<TakeSurvey>(move)))
            give_place_back();
        had_turn = std::holds_alternative<AwaitReboot>(move);
        if (std::holds_alternative<Finish>(move)) break;
        const Status done = co_await carry_out(sequence, move);
        if (!done) sequence.failed(done.error());
        sweep.observer.host_progress(outcome);
        if (!done) break;
    }
    co_await release_lock();
}

Awaitable<Status> HostRun::carry_out(Sequence& sequence, const Move& move) {
    Status done;
    if (needs_place(move)) {
        const bool has_place = co_await take_place(WhenWindingDown::go_on);
        if (!has_place) {
            sequence.not_carried_out(move, no_place("act"));
            co_return done;
        }
    }
    if (const auto* survey = std::get_if<TakeSurvey>(&move))
        done = co_await take_survey(sequence, *survey);
    else if (const auto* lock = std::get_if<TakeLock>(&move))
        done = co_await take_lock(sequence, *lock);
    else if (const auto* signal = std::get_if<SendSignal>(&move))
        done = co_await send_signal(sequence, *signal);
    else if (const auto* command = std::get_if<RunCommand>(&move))
        done = co_await run_step(sequence, *command);
    else if (const auto* reset = std::get_if<ResetGpus>(&move))
        done = co_await reset_gpus(sequence, *reset);
    else if (const auto* files = std::get_if<RemoveFiles>(&move))
        done = co_await remove_files(sequence, *files);
    else if (std::holds_alternative<AwaitReboot>(move))
        done = co_await await_reboot(sequence);
    else if (const auto* boot = std::get_if<Reboot>(&move))
        done = co_await reboot(sequence, *boot);
    co_return done;
}

Awaitable<void> HostRun::run_ad_hoc() {
    const bool has_place = co_await take_place(WhenWindingDown::stop);
    if (!has_place) {
        outcome.error = no_place("run");
        co_return;
    }
    outcome.commands.emplace_back();
    outcome.commands.back().command = sweep.job.command;
    const RunCommand command{sweep.job.command, sweep.limits.step_timeout, 0, 0, {}, 0};
    const Status done = co_await run_command(command);
    if (!done) outcome.error = done.error();
}

Awaitable<Status> HostRun::open(Clock::time_point deadline) {
    places.waits(place, Clock::now());
    auto opened = co_await transport.open(endpoint, deadline);
    places.answered(place, Clock::now(), opened.has_value());
    if (!opened) co_return std::unexpected(std::move(opened.error()));
    connection = std::move(*opened);
    co_return Status{};
}

Awaitable<Result<RunOutput>> HostRun::ask(const Script& script, Limits limits, bool is_usual) {
    places.waits(place, Clock::now());
    auto output = co_await connection->run(script, limits);
    places.answered(place, Clock::now(), is_usual && output);
    co_return output;
}

Awaitable<bool> HostRun::take_place(WhenWindingDown then) {
    const auto called = [this] { wakeup.notify(); };
    if (places.take(place, called)) co_return true;
    doing("waiting for others to end");
    while (!place.has_place() && !sweep.cut && !sweep.deadline_passed && Clock::now() < sweep.deadline &&
           (then == WhenWindingDown::go_on || !sweep.winding_down))
        co_await wakeup.wait(sweep.deadline);
    places.give_up(place);
    co_return place.has_place();
}

Error HostRun::no_place(std::string_view phase) const {
    Error error{"cancelled", "", "nothing was sent: the sweep ended before it was this host's turn",
                "sweep this host again"};
    return explained(std::move(error), phase);
}

// Over early when the sweep winds down or is cut.
Awaitable<void> HostRun::sleep_until(Clock::time_point when) {
    const auto until = std::min(when, sweep.deadline);
    places.rests(place, Clock::now(), until);
    while (Clock::now() < until && !sweep.winding_down && !sweep.cut) co_await wakeup.wait(until);
}

Clock::time_point HostRun::deadline_in(Milliseconds time) const {
    return std::min(Clock::now() + time, sweep.deadline);
}

Error HostRun::explained(Error error, std::string_view phase) const {
    error = in_phase(std::move(error), phase);
    if (Clock::now() >= sweep.deadline) {
        error.kind = "deadline";
        error.message += " (the sweep's --deadline passed)";
        error.remedy = "give the sweep more time with --deadline";
    } else if (sweep.cut && error.kind == "cancelled") {
        error.message =
            "interrupted while " + (outcome.doing.empty() ? "starting" : "doing: " + outcome.doing);
        error.remedy = "run `cleanslate check` on this host";
    } else if (error.remedy.empty()) {
        error.remedy = remedy_for(error.kind);
    }
    return error;
}

void HostRun::doing(std::string what) {
    sweep.on_doing(index, what);
    outcome.doing = std::move(what);
    if (!outcome.finished) sweep.observer.host_progress(outcome);
}

}  // namespace cleanslate::agentless
