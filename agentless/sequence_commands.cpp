// The lock, and the operator's own commands: before the first act, in their order, and at the very end.

#include <fmt/format.h>

#include <algorithm>

#include "agentless/sequence.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

using When = playbooks::RunStep::When;

const playbooks::RunStep* command_of(const playbooks::Step& step, When when) {
    const auto* run = std::get_if<playbooks::RunStep>(&step.action);
    return run != nullptr && run->when == when ? run : nullptr;
}

std::string how_it_ended(const CommandAction& action, Milliseconds timeout) {
    // The host ends it at its time limit by TERM, then KILL.
    const bool by_signal = action.exit_status == 143 || action.exit_status == 137;
    if (by_signal && action.took && *action.took >= timeout)
        return fmt::format("was ended at its time limit of {}", format_duration(timeout));
    if (!action.exit_signal.empty()) return "was ended by signal " + printable(action.exit_signal);
    if (action.exit_status) return fmt::format("ended with status {}", *action.exit_status);
    return "did not come to its end";
}

// The codes of what was found, comma-separated, without repeats.
std::string codes_of(const HostOutcome& outcome) {
    std::vector<std::string_view> codes;
    const auto add = [&](const std::vector<Finding>& findings) {
        for (const auto& f : findings)
            if (std::ranges::find(codes, f.code) == codes.end()) codes.push_back(f.code);
    };
    add(outcome.last->findings);
    for (const auto& gpu : outcome.last->gpus) add(gpu.findings);
    add(outcome.findings);
    return fmt::format("{}", fmt::join(codes, ","));
}

}  // namespace

bool Sequence::has_steps(When when) const {
    return std::ranges::any_of(steps_, [&](const auto& step) { return command_of(step, when) != nullptr; });
}

Move Sequence::take_lock() { return TakeLock{winding_down_ ? Milliseconds{0} : job_.lock_wait}; }

void Sequence::locked(const LockReport& report) {
    using enum LockReport::Result;
    lock_settled_ = true;
    if (report.result == taken) {
        // Who held it may have changed the host.
        if (report.waited.count() > 0) evidence_.reset();
        return;
    }
    if (report.result == unavailable) {
        add_finding({Severity::note, "not-locked",
                     fmt::format("no lock could be had{}{}: another cleanslate could work here at the same "
                                 "time",
                                 report.reason.empty() ? "" : ", ", ellipsize(printable(report.reason), 120)),
                     report.reason == "no flock" ? "install util-linux's flock"
                                                 : "log in as root, or set become: true"});
        return;
    }
    const auto holder = ellipsize(printable(trim(report.holder)), 200);
    add_finding({Severity::unknown, "host-busy",
                 fmt::format("another cleanslate is working here: {}; nothing {}was done",
                             holder.empty() ? "it does not say who" : holder, last_act_ ? "more " : ""),
                 "wait for it, or give --lock-wait more time"});
    outcome_.verdict = Verdict::unknown;
    finished_ = true;
}

// What stands before the first act, that of a clean_shm step on a clean host too: the lock, then the
// playbook's `before` commands. Absent: go on.
std::optional<Move> Sequence::before_acting() {
    if (!lock_settled_) return take_lock();
    while (before_step_ < steps_.size()) {
        const auto index = before_step_++;
        if (const auto* step = command_of(steps_[index], When::before))
            return run(*step, Kind::before, index);
    }
    return std::nullopt;
}

std::optional<Move> Sequence::begin_command(const playbooks::RunStep& step) {
    if (step.when == When::in_order)
        if (auto first = before_acting()) return first;
    const auto index = step_++;
    if (step.when != When::in_order) return std::nullopt;
    return run(step, Kind::run, index);
}

std::optional<Move> Sequence::next_after() {
    while (after_step_ < steps_.size()) {
        const auto index = after_step_++;
        if (const auto* step = command_of(steps_[index], When::after)) return run(*step, Kind::after, index);
    }
    return std::nullopt;
}

RunCommand Sequence::run(const playbooks::RunStep& step, Kind kind, std::size_t index) {
    if (!before_) before_ = evidence_;
    const int number = static_cast<int>(index) + 1;
    const auto verdict = concluded_ ? outcome_.verdict : outcome_.last->verdict;
    return {step.command,
            step.timeout,
            step.expect_status,
            add_command(kind, number, step.command),
            {{"CLEANSLATE_HOST", task_.host.name},
             {"CLEANSLATE_VERDICT", std::string(to_string(verdict))},
             {"CLEANSLATE_FINDINGS", codes_of(outcome_)},
             {"CLEANSLATE_STEP", fmt::format("{}", number)}},
            0};
}

std::size_t Sequence::add_command(Kind kind, int number, std::string command, std::string about) {
    CommandAction action;
    action.kind = kind;
    action.step = number;
    action.command = std::move(command);
    action.about = std::move(about);
    action.planned = job_.dry_run;
    outcome_.commands.push_back(std::move(action));
    return outcome_.commands.size() - 1;
}

void Sequence::command_ended(const RunCommand& move, TimePoint ended) {
    const CommandAction& action = outcome_.commands[move.action];
    // What comes at the very end changes no verdict. Other commands may have cured what was sick: a service
    // started, for one.
    if (action.kind != Kind::after) acted(ended, action.kind == Kind::stop ? Look::quick : Look::thorough);
    if (action.ok) return;
    const auto what = fmt::format("step {}: `{}` {}", action.step, ellipsize(printable(action.command), 80),
                                  how_it_ended(action, move.timeout));
    switch (action.kind) {
        case Kind::before:
            halted_ = true;
            add_finding({Severity::note, "vetoed", what + ": nothing was signalled",
                         "see what the command says; clear again when the host may be cleared"});
            return;
        case Kind::stop:
            add_finding({Severity::note, "stop-failed", what, "run the command by hand on this host"});
            return;
        case Kind::after:
            add_finding({Severity::note, "command-failed", what + ", after the verdict",
                         "run it by hand on this host, or set expect_status in the playbook"});
            return;
        default:
            command_failed_ = true;
            add_finding({Severity::note, "command-failed", what + ": the steps after it were left out",
                         "run it by hand on this host, or set expect_status in the playbook"});
    }
}

}  // namespace cleanslate::agentless
