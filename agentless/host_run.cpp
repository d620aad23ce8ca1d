#include "agentless/host_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/command.hpp"
#include "agentless/remote.hpp"
#include "agentless/sequence.hpp"
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

// A survey of a busy host is some 100 KB; the rest is room for what login files print before it.
constexpr std::size_t max_output = 16u << 20;

Milliseconds since(Clock::time_point then) {
    return std::chrono::duration_cast<Milliseconds>(Clock::now() - then);
}

std::string_view remedy_for(std::string_view kind) {
    if (kind == "timeout") return "look at the host, or give it more time with --timeout";
    if (kind == "connection_lost") return "look at the host and its sshd, then run `cleanslate check` on it";
    if (kind == "output_limit") return "the host floods its own output: look at its login files";
    if (kind == "refused") return "the account may not run commands: look at its shell and at ForceCommand";
    return "";
}

// The first line that a host printed in place of what was asked, for an error message.
std::string first_line(const RunOutput& output) {
    for (const auto* text : {&output.out, &output.err})
        for (auto line : split(*text, '\n'))
            if (!trim(line).empty()) return ellipsize(printable(trim(line)), 120);
    return {};
}

std::string how_it_ended(const RunOutput& output) {
    if (!output.exit_signal.empty()) return "was ended by signal " + printable(output.exit_signal);
    if (output.exit_status) return fmt::format("ended with status {}", *output.exit_status);
    return "ended without a status";
}

// "; nvidia-smi took 0.05 s of it": all queries together, where the host told.
std::string share_of_queries(const Evidence& evidence) {
    std::optional<Milliseconds> sum;
    for (const auto* query :
         {&evidence.gpu_query, &evidence.app_query, &evidence.optional_query, &evidence.list_query})
        if (query->took) sum = sum.value_or(Milliseconds{0}) + *query->took;
    return sum ? fmt::format("; nvidia-smi took {} of it", format_duration(*sum)) : std::string();
}

Error not_our_output(const RunOutput& output, std::string_view why) {
    auto message = fmt::format("{}: the shell {}", why, how_it_ended(output));
    if (const auto line = first_line(output); !line.empty())
        message += fmt::format("; the host printed: {}", line);
    return {"protocol", "", std::move(message), "log in by hand: does `/bin/sh -s` run there?"};
}

}  // namespace

Awaitable<void> HostRun::run() {
    const auto began = Clock::now();
    outcome.started = true;
    outcome.verdict = Verdict::unknown;
    sweep.observer.host_started(outcome);
    try {
        doing("connect");
        const auto deadline = sweep.deadline;
        auto opened = co_await transport.open(endpoint, deadline);
        if (!opened) {
            outcome.error = explained(opened.error(), "connect");
            outcome.verdict = Verdict::unreachable;
        } else {
            std::unique_ptr<Connection> connection = std::move(*opened);
            if (sweep.job.kind == Job::Kind::run)
                co_await run_ad_hoc(*connection);
            else
                co_await follow_sequence(*connection);
        }
    } catch (const std::exception& e) {
        outcome.error =
            Error{"internal", outcome.doing, e.what(), "this is a fault of cleanslate: please report it"};
        outcome.verdict = Verdict::unknown;
    }
    finish(began);
}

void HostRun::finish(Clock::time_point began) {
    outcome.took = since(began);
    outcome.finished = true;
    doing("");
    sweep.observer.host_finished(outcome);
}

Awaitable<void> HostRun::follow_sequence(Connection& connection) {
    Sequence sequence(sweep.job, task, survey_limits(sweep.limits.step_timeout), outcome);
    for (;;) {
        if (sweep.winding_down) sequence.wind_down();
        const Move move = sequence.next(Clock::now());
        if (std::holds_alternative<Finish>(move)) co_return;
        Status done;
        if (const auto* survey = std::get_if<TakeSurvey>(&move)) {
            done = co_await take_survey(connection, sequence, *survey);
        } else if (const auto* signal = std::get_if<SendSignal>(&move)) {
            done = co_await send_signal(connection, sequence, *signal);
        } else if (const auto* command = std::get_if<RunCommand>(&move)) {
            CommandAction& action = outcome.commands[command->action];
            done = co_await run_command(connection, action, command->timeout, command->expect_status);
            if (done) sequence.command_ended(Clock::now());
        }
        if (!done) sequence.failed(done.error());
        sweep.observer.host_progress(outcome);
        if (!done) co_return;
    }
}

Awaitable<Status> HostRun::take_survey(Connection& connection, Sequence& sequence, const TakeSurvey& move) {
    if (move.not_before > Clock::now()) {
        doing("waiting to look again");
        co_await sleep_until(move.not_before);
    }
    doing(outcome.surveys == 0 ? "survey" : "survey again");
    const auto nonce = fresh_nonce();
    Script script;
    script.input = survey_script(move.request, nonce);
    const Limits limits{deadline_in(sweep.limits.step_timeout), max_output};
    const auto began = Clock::now();
    auto output = co_await connection.run(script, limits);
    if (!output) co_return std::unexpected(explained(output.error(), "survey"));
    const auto took = since(began);
    for (auto line : split(output->err, '\n'))
        if (!trim(line).empty()) sweep.observer.host_detail(outcome.name, "stderr: " + printable(trim(line)));
    const auto evidence = read_survey(output->out, nonce);
    sweep.observer.host_detail(
        outcome.name, fmt::format("survey {}: {} bytes in {}, {}{}", outcome.surveys + 1, output->out.size(),
                                  format_duration(took), how_it_ended(*output),
                                  evidence ? share_of_queries(*evidence) : std::string()));
    if (!evidence)
        co_return std::unexpected(explained(not_our_output(*output, evidence.error().message), "survey"));
    if (!evidence->complete)
        co_return std::unexpected(
            explained(not_our_output(*output, "the survey has no end record"), "survey"));
    sequence.surveyed(*evidence, began, Clock::now());
    co_return Status{};
}

Awaitable<Status> HostRun::send_signal(Connection& connection, Sequence& sequence, const SendSignal& move) {
    std::vector<SignalAction> round(outcome.signals.begin() + static_cast<std::ptrdiff_t>(move.first_action),
                                    outcome.signals.end());
    doing(fmt::format("step {}: {} to {} process{}", round.front().step, move.request.signal, round.size(),
                      round.size() == 1 ? "" : "es"));
    if (auto written = sweep.audit.intend(outcome, round); !written) {
        sequence.not_carried_out(move, in_phase(written.error(), "audit"));
        sweep.on_audit_failure(written.error());
        co_return Status{};
    }
    const auto nonce = fresh_nonce();
    Script script;
    script.input = signal_script(move.request, nonce);
    const Limits limits{deadline_in(move.request.wait + sweep.limits.step_timeout), max_output};
    const auto sent = Clock::now();
    auto output = co_await connection.run(script, limits);
    Status done;
    if (!output) {
        done = std::unexpected(explained(output.error(), "signal"));
    } else if (const auto report = read_signal(output->out, nonce); report) {
        sequence.signalled(*report, sent, Clock::now());
    } else {
        done = std::unexpected(explained(not_our_output(*output, report.error().message), "signal"));
    }
    round.assign(outcome.signals.begin() + static_cast<std::ptrdiff_t>(move.first_action),
                 outcome.signals.end());
    sweep.audit.result(outcome, round);
    co_return done;
}

Awaitable<Status> HostRun::run_command(Connection& connection, CommandAction& action, Milliseconds timeout,
                                       int expect_status) {
    doing(action.step > 0 ? fmt::format("step {}: run", action.step) : "run");
    if (auto written = sweep.audit.intend(outcome, std::vector{action}); !written) {
        sweep.on_audit_failure(written.error());
        co_return std::unexpected(in_phase(written.error(), "audit"));
    }
    const auto nonce = fresh_nonce();
    Script script;
    script.input = command_script(action.command, timeout, nonce);
    const Limits limits{deadline_in(timeout + 10s), max_output};
    const auto began = Clock::now();
    auto output = co_await connection.run(script, limits);
    action.took = since(began);
    Status done;
    if (!output) {
        done = std::unexpected(explained(output.error(), "run"));
    } else {
        auto ended = read_command(std::move(output->out), nonce);
        action.ran_to_end = ended.exit_status.has_value();
        action.exit_status = ended.exit_status;
        action.exit_signal = output->exit_signal;
        action.ok = ended.exit_status == expect_status;
        action.out = std::move(ended.out);
        action.err = std::move(output->err);
        if (!action.ran_to_end)
            done = std::unexpected(explained(not_our_output(*output, "no end record"), "run"));
    }
    sweep.audit.result(outcome, std::vector{action});
    co_return done;
}

Awaitable<void> HostRun::run_ad_hoc(Connection& connection) {
    outcome.commands.emplace_back();
    outcome.commands.back().command = sweep.job.command;
    CommandAction& action = outcome.commands.back();
    const auto timeout = sweep.limits.step_timeout;
    Status done = co_await run_command(connection, action, timeout, 0);
    if (!done) outcome.error = done.error();
}

// Over early when the sweep winds down or is cut.
Awaitable<void> HostRun::sleep_until(Clock::time_point when) {
    const auto until = std::min(when, sweep.deadline);
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
