// The moves that run one script on the host: surveys, signals, commands, resets, files.

#include <fmt/format.h>

#include <algorithm>

#include "agentless/command.hpp"
#include "agentless/host_answer.hpp"
#include "agentless/host_run.hpp"
#include "agentless/remote.hpp"
#include "agentless/resets.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

using namespace std::chrono_literals;

Milliseconds since(Clock::time_point then) {
    return std::chrono::duration_cast<Milliseconds>(Clock::now() - then);
}

// What the scripts take at most beyond the time that they are given: a controller that gives up before would
// never hear that daemons run again, or which files are gone.
constexpr Milliseconds reset_end = 65s, shm_end = 65s;

// Both are meant for each unit, before it is known which of them run.
std::vector<CommandAction> daemons_of(const ResetRequest& request, int step) {
    std::vector<CommandAction> actions;
    for (const std::string_view verb : {"stop", "start"})
        for (const auto& unit : request.daemons) {
            CommandAction action;
            action.kind = CommandAction::Kind::reset;
            action.step = step;
            action.command = daemon_command(verb, unit);
            action.about = "for the reset";
            actions.push_back(std::move(action));
        }
    return actions;
}

// The results with those of the daemons that the host's answer has no act for: left alone where the reset
// came to its end, else not known.
std::vector<CommandAction> with_other_daemons(std::vector<CommandAction> results,
                                              const std::vector<CommandAction>& daemons,
                                              const ResetReport& report) {
    for (CommandAction action : daemons) {
        if (std::ranges::find(results, action.command, &CommandAction::command) != results.end()) continue;
        action.not_sent = report.complete;
        results.push_back(std::move(action));
    }
    return results;
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

std::vector<CommandAction> HostRun::commands_from(std::size_t first) const {
    return {outcome.commands.begin() + static_cast<std::ptrdiff_t>(first), outcome.commands.end()};
}

std::vector<SignalAction> HostRun::signals_from(std::size_t first) const {
    return {outcome.signals.begin() + static_cast<std::ptrdiff_t>(first), outcome.signals.end()};
}

// No audit, no act: an error here means that nothing may be sent, on any host.
template <class Action>
Status HostRun::intend(const std::vector<Action>& actions) {
    auto written = sweep.audit.intend(outcome, actions);
    if (written) return {};
    sweep.on_audit_failure(written.error());
    return std::unexpected(in_phase(written.error(), "audit"));
}
template Status HostRun::intend(const std::vector<CommandAction>&);

Awaitable<Status> HostRun::take_survey(Sequence& sequence, const TakeSurvey& move) {
    if (move.not_before > Clock::now()) {
        doing("waiting to look again");
        co_await sleep_until(move.not_before);
    }
    // Before the look, so that an act follows what was seen at once. A reboot needs no place.
    if (place.acts() && !has_reboot_place) co_await take_place(WhenWindingDown::stop);
    doing(outcome.surveys == 0 ? "survey" : "survey again");
    const auto began = Clock::now();
    const auto evidence = co_await look(move.request);
    if (!evidence) co_return std::unexpected(evidence.error());
    sequence.surveyed(*evidence, began, Clock::now());
    co_return Status{};
}

Awaitable<Result<Evidence>> HostRun::look(SurveyRequest request) {
    const auto nonce = fresh_nonce();
    Script script;
    script.input = survey_script(request, nonce);
    const Limits limits{deadline_in(sweep.limits.step_timeout), max_answer};
    const auto began = Clock::now();
    auto output = co_await ask(script, limits, true);
    if (!output) co_return std::unexpected(explained(output.error(), "survey"));
    const auto took = since(began);
    for (auto line : split(output->err, '\n'))
        if (!trim(line).empty()) sweep.observer.host_detail(outcome.name, "stderr: " + printable(trim(line)));
    auto evidence = read_survey(output->out, nonce);
    sweep.observer.host_detail(
        outcome.name, fmt::format("survey {}: {} bytes in {}, {}{}", outcome.surveys + 1, output->out.size(),
                                  format_duration(took), how_it_ended(*output),
                                  evidence ? share_of_queries(*evidence) : std::string()));
    if (!evidence)
        co_return std::unexpected(explained(not_our_output(*output, evidence.error().message), "survey"));
    if (!evidence->complete)
        co_return std::unexpected(explained(
            not_our_output(*output, "the survey is no whole one: " + evidence->incomplete_reason), "survey"));
    co_return evidence;
}

// Takes room for that many more under --max-kills-total. Once it was not enough for one host, no other
// host's are begun either: what a limit stops is not for the small ones to finish.
bool HostRun::may_end(int fresh) {
    if (!sweep.job.max_kills_total || fresh == 0) return true;
    if (sweep.kills_exhausted) return false;
    auto used = sweep.kills.load();
    do {
        if (used + fresh > *sweep.job.max_kills_total) {
            sweep.kills_exhausted = true;
            return false;
        }
    } while (!sweep.kills.compare_exchange_weak(used, used + fresh));
    return true;
}

Awaitable<Status> HostRun::send_signal(Sequence& sequence, const SendSignal& move) {
    if (!may_end(move.fresh)) {
        sequence.too_many_in_total(move, *sweep.job.max_kills_total);
        co_return Status{};
    }
    const auto round = signals_from(move.first_action);
    doing(fmt::format("step {}: {} to {}", round.front().step, move.request.signal,
                      counted(round.size(), "process", "processes")));
    if (const auto audited = intend(round); !audited) {
        sequence.not_carried_out(move, audited.error());
        co_return Status{};
    }
    const auto nonce = fresh_nonce();
    Script script;
    script.input = signal_script(move.request, nonce);
    const Limits limits{deadline_in(move.request.wait + sweep.limits.step_timeout), max_answer};
    const auto sent = Clock::now();
    const auto output = co_await ask(script, limits);
    Status done;
    if (!output)
        done = std::unexpected(explained(output.error(), "signal"));
    else if (const auto report = read_signal(output->out, nonce); report)
        sequence.signalled(*report, sent, Clock::now());
    else
        done = std::unexpected(explained(not_our_output(*output, report.error().message), "signal"));
    sweep.audit.result(outcome, signals_from(move.first_action));
    co_return done;
}

Awaitable<Status> HostRun::run_step(Sequence& sequence, const RunCommand& move) {
    if (!may_end(move.fresh)) {
        sequence.too_many_in_total(move, *sweep.job.max_kills_total);
        co_return Status{};
    }
    auto done = co_await run_command(move);
    if (done)
        sequence.command_ended(move, Clock::now());
    else if (outcome.commands[move.action].not_sent)
        sequence.not_carried_out(move, done.error());
    co_return done;
}

Awaitable<Status> HostRun::run_command(const RunCommand& move) {
    CommandAction& action = outcome.commands[move.action];
    const auto word = to_string(action.kind);
    doing(action.step > 0 ? fmt::format("step {}: {}", action.step, word) : std::string(word));
    if (auto audited = intend(std::vector{action}); !audited) {
        action.not_sent = true;
        co_return audited;
    }
    const auto nonce = fresh_nonce();
    Script script;
    script.input = command_script(move.command, move.timeout, nonce, move.environment);
    const Limits limits{deadline_in(move.timeout + 10s), max_answer};
    const auto began = Clock::now();
    auto output = co_await ask(script, limits);
    action.took = since(began);
    Status done;
    if (!output) {
        done = std::unexpected(explained(output.error(), "run"));
    } else {
        auto ended = read_command(std::move(output->out), nonce);
        action.ran_to_end = ended.exit_status.has_value();
        action.exit_status = ended.exit_status;
        action.exit_signal = output->exit_signal;
        action.ok = ended.exit_status == move.expect_status;
        action.out = std::move(ended.out);
        action.err = std::move(output->err);
        if (!action.ran_to_end)
            done = std::unexpected(explained(not_our_output(*output, "no end record"), "run"));
    }
    sweep.audit.result(outcome, std::vector{action});
    co_return done;
}

Awaitable<Status> HostRun::reset_gpus(Sequence& sequence, const ResetGpus& move) {
    auto intended = commands_from(move.first_action);
    const auto daemons = daemons_of(move.request, intended.front().step);
    doing(
        fmt::format("step {}: reset of {}", intended.front().step, counted(intended.size(), "GPU", "GPUs")));
    const bool is_single = intended.size() == 1;
    // Which of them run is not known before.
    intended.insert(intended.end(), daemons.begin(), daemons.end());
    if (const auto audited = intend(intended); !audited) {
        sequence.not_carried_out(move, audited.error());
        co_return Status{};
    }
    const auto nonce = fresh_nonce();
    Script script;
    script.input = reset_script(move.request, nonce);
    const Limits limits{deadline_in(move.request.timeout + reset_end + sweep.limits.step_timeout),
                        max_answer};
    const auto began = Clock::now();
    const auto output = co_await ask(script, limits);
    // One script resets them all: only of one alone it is known how long it took.
    if (is_single) outcome.commands[move.first_action].took = since(began);
    Status done;
    ResetReport seen;
    if (!output) {
        done = std::unexpected(explained(output.error(), "reset"));
    } else if (const auto report = read_reset(output->out, nonce); report) {
        seen = *report;
        sequence.gpus_reset(move, *report, Clock::now());
    } else {
        done = std::unexpected(explained(not_our_output(*output, report.error().message), "reset"));
    }
    sweep.audit.result(outcome, with_other_daemons(commands_from(move.first_action), daemons, seen));
    co_return done;
}

Awaitable<Status> HostRun::remove_files(Sequence& sequence, const RemoveFiles& move) {
    const auto intended = commands_from(move.first_action);
    doing(fmt::format("step {}: removing {}", intended.front().step,
                      counted(intended.size(), "file", "files")));
    if (const auto audited = intend(intended); !audited) {
        sequence.not_carried_out(move, audited.error());
        co_return Status{};
    }
    const auto nonce = fresh_nonce();
    Script script;
    script.input = shm_script(move.request, nonce);
    const Limits limits{deadline_in(std::max(sweep.limits.step_timeout, shm_end)), max_answer};
    const auto output = co_await ask(script, limits);
    Status done;
    if (!output)
        done = std::unexpected(explained(output.error(), "clean_shm"));
    else if (const auto report = read_shm(output->out, nonce); report)
        sequence.files_removed(move, *report);
    else
        done = std::unexpected(explained(not_our_output(*output, report.error().message), "clean_shm"));
    sweep.audit.result(outcome, commands_from(move.first_action));
    co_return done;
}

}  // namespace cleanslate::agentless
