// What ends processes: signal and stop steps, and the limits on how many.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "agentless/holder.hpp"
#include "agentless/launchers.hpp"
#include "agentless/sequence.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

SignalResult result_of(SignalReply::Result result) {
    switch (result) {
        case SignalReply::Result::ended:
            return SignalResult::ended;
        case SignalReply::Result::alive:
            return SignalResult::alive;
        case SignalReply::Result::zombie:
            return SignalResult::zombie;
        case SignalReply::Result::changed:
            return SignalResult::changed;
        case SignalReply::Result::not_permitted:
            return SignalResult::not_permitted;
    }
    return SignalResult::alive;
}

std::string processes(std::size_t count) {
    return fmt::format("{} process{}", count, count == 1 ? "" : "es");
}

}  // namespace

std::optional<Move> Sequence::begin_signal(const playbooks::SignalStep& step) {
    const Choice choice = choose(step.match, *evidence_, policy());
    note_spared(choice.spared);
    if (choice.targets.empty()) {
        ++step_;
        return std::nullopt;
    }
    if (too_many_targets()) return std::nullopt;
    if (auto first = before_acting()) return first;

    SendSignal move{{step.signal_name, {}, evidence_->boot_id, step.wait}, outcome_.signals.size(), 0};
    add_signals(step, choice, static_cast<int>(++step_));
    for (auto i = move.first_action; i < outcome_.signals.size(); ++i)
        move.request.targets.push_back(outcome_.signals[i].process.key);
    move.fresh = begin_round(move.request.targets);
    const Lineage lineage(*evidence_);
    for (const auto& target : choice.targets) {
        respawner_ |= target.supervisor && target.supervisor->respawns();
        const Process* process = lineage.find(target.key.pid);
        const Process* parent = process ? possible_restarter(*process, lineage) : nullptr;
        respawner_ |= parent && std::ranges::find(round_, parent->key) == round_.end();
    }
    return move;
}

void Sequence::add_signals(const playbooks::SignalStep& step, const Choice& choice, int number) {
    for (const auto& target : choice.targets) {
        const Process* process = evidence_->find(target.key.pid);
        if (process == nullptr) continue;
        SignalAction action;
        action.step = number;
        action.signal = step.signal_name;
        action.process = describe(*process, *evidence_, expectations_);
        action.rule = target.rule;
        action.result = job_.dry_run ? SignalResult::planned : SignalResult::sent;
        outcome_.signals.push_back(std::move(action));
    }
}

// One supervisor at a time, and a look after each: the next is chosen from what is there by then.
std::optional<Move> Sequence::begin_stop(const playbooks::StopStep& step) {
    StopChoice choice = choose_stops(step, *evidence_, policy());
    for (const auto& stop : choice.stops)
        std::erase_if(choice.spared, [&](const Spared& spared) {
            return std::ranges::find(stop.processes, spared.key) != stop.processes.end();
        });
    note_spared(choice.spared);
    note_left(choice.left);
    const auto target = std::ranges::find_if(
        choice.stops, [&](const StopTarget& stop) { return !stops_tried_.contains(stop.command); });
    if (target == choice.stops.end()) {
        stops_tried_.clear();
        ++step_;
        return std::nullopt;
    }
    if (too_many_targets()) return std::nullopt;
    if (auto first = before_acting()) return first;

    stops_tried_.insert(target->command);
    respawner_ = true;
    RunCommand move{target->command, step.timeout, 0, add_stop(*target, static_cast<int>(step_) + 1), {}, 0};
    move.fresh = begin_round(target->ends);
    return move;
}

std::size_t Sequence::add_stop(const StopTarget& target, int number) {
    return add_command(Kind::stop, number, target.command, printable(target.rule));
}

// How many of these nothing was done to before.
int Sequence::begin_round(const std::vector<ProcessKey>& targets) {
    if (!before_) before_ = evidence_;
    round_ = {targets.begin(), targets.end()};
    return static_cast<int>(
        std::ranges::count_if(round_, [&](ProcessKey key) { return !signalled_.contains(key); }));
}

// Counted are those that something was done to, those of this step and those that the steps after it would
// choose as things are: a limit that is passed in the middle would leave a host half cleared.
bool Sequence::too_many_targets() {
    const auto limit = job_.max_kills ? job_.max_kills : job_.playbook->max_kills;
    if (!limit) return false;
    auto all = signalled_;
    for (auto i = step_; i < steps_.size(); ++i) {
        if (const auto* signal = std::get_if<playbooks::SignalStep>(&steps_[i].action))
            for (const auto& target : choose(signal->match, *evidence_, policy()).targets)
                all.insert(target.key);
        if (const auto* stop = std::get_if<playbooks::StopStep>(&steps_[i].action))
            for (const auto& target : choose_stops(*stop, *evidence_, policy()).stops)
                all.insert(target.ends.begin(), target.ends.end());
    }
    const auto done = signalled_earlier_ + signalled_.size();
    const auto count = signalled_earlier_ + all.size();
    if (count <= static_cast<std::size_t>(std::max(0, *limit))) return false;
    halted_ = true;
    add_finding(
        {Severity::dirty, "too-many-targets",
         fmt::format("{} would be signalled, and {} allows {} on a host: {}", processes(count),
                     job_.max_kills ? "--max-kills" : "the playbook's max_kills", *limit,
                     done > 0 ? fmt::format("none after the first {}", done) : std::string("none was")),
         "look at the plan with --dry-run, and raise --max-kills if all of it is right"});
    return true;
}

void Sequence::too_many_in_total(const Move& move, int allowed) {
    mark_not_sent(move);
    const auto fresh = std::ranges::count_if(round_, [&](ProcessKey k) { return !signalled_.contains(k); });
    round_.clear();
    halted_ = true;
    add_finding({Severity::dirty, "too-many-targets",
                 fmt::format("{} here and those of other hosts are more than the {} that --max-kills-total "
                             "allows on all hosts together: none was signalled here",
                             processes(static_cast<std::size_t>(fresh)), allowed),
                 "look at the plan with --dry-run, and raise --max-kills-total if all of it is right"});
}

void Sequence::mark_not_sent(const Move& move) {
    const auto commands_from = [&](std::size_t first) {
        for (auto i = first; i < outcome_.commands.size(); ++i) outcome_.commands[i].not_sent = true;
    };
    if (const auto* signal = std::get_if<SendSignal>(&move))
        for (auto i = signal->first_action; i < outcome_.signals.size(); ++i)
            outcome_.signals[i].result = SignalResult::not_sent;
    if (const auto* command = std::get_if<RunCommand>(&move)) commands_from(command->action);
    if (const auto* reset = std::get_if<ResetGpus>(&move)) commands_from(reset->first_action);
    if (const auto* files = std::get_if<RemoveFiles>(&move)) commands_from(files->first_action);
    if (const auto* reboot = std::get_if<Reboot>(&move)) commands_from(reboot->action);
}

void Sequence::signalled(const SignalReport& report, TimePoint sent, TimePoint ended) {
    acted(ended, Look::quick);
    if (!first_signal_) first_signal_ = sent;
    const int round = static_cast<int>(step_);
    for (const auto& reply : report.replies) {
        const auto action = std::find_if(
            outcome_.signals.begin() + static_cast<std::ptrdiff_t>(first_of_boot_), outcome_.signals.end(),
            [&](const SignalAction& a) { return a.step == round && a.process.key == reply.key; });
        if (action == outcome_.signals.end()) continue;
        action->result = result_of(reply.result);
        action->took = reply.took;
        action->state = reply.state;
    }
    if (!report.complete)
        failed(Error{"signal_incomplete", "signal", "the signal script was cut before its end record",
                     "some signals may have been sent: run `cleanslate check` on this host"});
}

void Sequence::note_spared(const std::vector<Spared>& spared) {
    for (const auto& one : spared) {
        const auto same = [&](const Spared& s) { return s.key == one.key && s.code == one.code; };
        if (std::ranges::any_of(outcome_.spared, same)) continue;
        const Process* process = evidence_->find(one.key.pid);
        if (process == nullptr) continue;
        outcome_.spared.push_back(one);
        outcome_.spared_holders.push_back(describe(*process, *evidence_, expectations_));
    }
    if (std::ranges::any_of(spared, [](const Spared& s) { return s.code == "no-scheduler"; }))
        add_finding({Severity::note, "no-scheduler",
                     "no scheduler was recognised here: who runs by hand looks like an orphan, so nothing "
                     "was signalled",
                     "set unscheduled: true in the inventory for hosts that are shared without one"});
}

// A name with a slip in it means nobody, and looks like a host where there is nothing to do.
void Sequence::note_unseen_users() {
    const auto look = [&](const playbooks::Match& match) {
        const auto seen = [&](const std::string& user) {
            return std::ranges::any_of(evidence_->processes, [&](const Process& process) {
                return (!process.user.empty() && process.user == user) ||
                       (process.uid && std::to_string(*process.uid) == user);
            });
        };
        if (match.user.empty() || std::ranges::any_of(match.user, seen)) return;
        add_finding({Severity::note, "user-not-seen",
                     fmt::format("no process of user {} was seen here",
                                 printable(fmt::format("{}", fmt::join(match.user, ", ")))),
                     "look whether the name is right"});
    };
    for (const auto& step : steps_) {
        if (const auto* signal = std::get_if<playbooks::SignalStep>(&step.action)) look(signal->match);
        if (const auto* stop = std::get_if<playbooks::StopStep>(&step.action)) look(stop->match);
    }
}

void Sequence::note_left(const std::vector<SparedSupervisor>& left) {
    for (const auto& one : left)
        add_finding(
            {Severity::note, "supervisor-left",
             fmt::format("{} {}: {}", printable(one.name),
                         job_.dry_run ? "would not be stopped" : "was not stopped", printable(one.why)),
             "stop what can be stopped by hand, then clear again"});
}

}  // namespace cleanslate::agentless
