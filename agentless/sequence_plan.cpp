// The dry run: what each step of the playbook would do now, by the functions that choose for real.

#include <fmt/format.h>

#include <algorithm>

#include "agentless/sequence.hpp"
#include "base/overloaded.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

using When = playbooks::RunStep::When;

std::string withheld_note(std::string_view what, std::string_view why) {
    return fmt::format("withheld: {}: {}", printable(what), printable(why));
}

// A clean host gets these steps too, and its `before` commands where one of them acts.
bool is_for_clean_hosts(const playbooks::Step& step) {
    const auto* run = std::get_if<playbooks::RunStep>(&step.action);
    return (run != nullptr && run->when == When::after) ||
           std::holds_alternative<playbooks::CleanShmStep>(step.action);
}

bool is_before(const playbooks::Step& step) {
    const auto* run = std::get_if<playbooks::RunStep>(&step.action);
    return run != nullptr && run->when == When::before;
}

// What a yes to a stop agrees to: the chosen processes, and who starts them again.
Choice choice_of(const StopTarget& stop) {
    Choice choice;
    for (const auto key : stop.processes) choice.targets.push_back({key, stop.rule, stop.supervisor});
    return choice;
}

}  // namespace

// The last look that a playbook without verify is given is no step of it.
Move Sequence::plan() {
    const bool clean = outcome_.last->clean();
    const auto& steps = job_.playbook->steps;
    const auto is_reached = [&](const playbooks::Step& step) { return !clean || is_for_clean_hosts(step); };
    const bool any = std::ranges::any_of(
        steps, [&](const playbooks::Step& step) { return is_reached(step) && has_something_to_do(step); });
    for (step_ = 0; step_ < steps.size(); ++step_) {
        PlannedStep planned;
        planned.step = static_cast<int>(step_) + 1;
        planned.name = steps[step_].name;
        const auto first = outcome_.commands.size();
        if (!is_reached(steps[step_]) && !(any && is_before(steps[step_])))
            planned.notes.emplace_back("not reached: the host is clean");
        else
            plan_step(steps[step_], planned, any);
        for (auto i = first; i < outcome_.commands.size(); ++i) planned.commands.push_back(i);
        outcome_.plan_steps.push_back(std::move(planned));
    }
    return finish();
}

// Whether the playbook comes to an act here, so that its `before` commands run.
bool Sequence::has_something_to_do(const playbooks::Step& step) const {
    const auto chosen = Overloaded{
        [&](const playbooks::SignalStep& s) {
            return !choose(s.match, *evidence_, policy()).targets.empty();
        },
        [&](const playbooks::StopStep& s) { return !choose_stops(s, *evidence_, policy()).stops.empty(); },
        [](const playbooks::RunStep& s) { return s.when == When::in_order; },
        [](const playbooks::VerifyStep&) { return false; },
        [&](const playbooks::ResetStep& s) {
            return job_.allow_reset && !choose_resets(s, *evidence_, *outcome_.last, policy()).gpus.empty();
        },
        [&](const playbooks::RebootStep&) { return !why_no_reboot(); },
        [&](const playbooks::CleanShmStep& s) {
            return job_.allow_shm && !choose_shm(s, *evidence_, policy()).files.empty();
        },
    };
    return std::visit(chosen, step.action);
}

void Sequence::plan_step(const playbooks::Step& step, PlannedStep& planned, bool acts) {
    std::visit(Overloaded{
                   [&](const playbooks::SignalStep& s) { plan_signal(s, planned); },
                   [&](const playbooks::StopStep& s) { plan_stop(s, planned); },
                   [&](const playbooks::RunStep& s) { plan_command(s, planned, acts); },
                   [&](const playbooks::VerifyStep& s) {
                       if (acts)
                           planned.notes.push_back(fmt::format("looks until the host is clean, at most {}",
                                                               format_duration(s.within)));
                       if (!s.max_used || expectations_.max_used == *s.max_used) return;
                       expectations_.max_used = *s.max_used;
                       judge_now();
                   },
                   [&](const playbooks::ResetStep& s) { plan_reset(s, planned); },
                   [&](const playbooks::RebootStep&) { plan_reboot(planned); },
                   [&](const playbooks::CleanShmStep& s) { plan_clean_shm(s, planned); },
               },
               step.action);
}

void Sequence::plan_signal(const playbooks::SignalStep& step, PlannedStep& planned) {
    const Choice choice = choose(step.match, *evidence_, policy());
    note_spared(choice.spared);
    planned.spared = choice.spared;
    for (const auto& target : choice.targets) planned.targets.push_back(target.key);
    if (choice.targets.empty()) return;
    if (halted_ || too_many_targets()) {
        planned.notes.emplace_back("withheld: more processes than may be signalled on a host");
        return;
    }
    add_signals(step, choice, planned.step);
    extend_consent(outcome_.plan, choice, *evidence_);
}

void Sequence::plan_stop(const playbooks::StopStep& step, PlannedStep& planned) {
    const StopChoice choice = choose_stops(step, *evidence_, policy());
    note_spared(choice.spared);
    note_left(choice.left);
    planned.spared = choice.spared;
    for (const auto& left : choice.left) planned.notes.push_back(withheld_note(left.name, left.why));
    for (const auto& stop : choice.stops)
        planned.targets.insert(planned.targets.end(), stop.processes.begin(), stop.processes.end());
    if (choice.stops.empty()) return;
    if (halted_ || too_many_targets()) {
        planned.notes.emplace_back("withheld: more processes than may be signalled on a host");
        return;
    }
    for (const auto& stop : choice.stops) {
        add_stop(stop, planned.step);
        extend_consent(outcome_.plan, choice_of(stop), *evidence_);
    }
}

void Sequence::plan_command(const playbooks::RunStep& step, PlannedStep& planned, bool acts) {
    if (step.when == When::before && !acts) {
        planned.notes.emplace_back("not reached: no step has anything to do");
        return;
    }
    const auto kind = step.when == When::before  ? Kind::before
                      : step.when == When::after ? Kind::after
                                                 : Kind::run;
    add_command(kind, planned.step, step.command);
}

void Sequence::plan_reset(const playbooks::ResetStep& step, PlannedStep& planned) {
    const ResetChoice choice = choose_resets(step, *evidence_, *outcome_.last, policy());
    auto withheld = choice.withheld;
    for (const auto& gpu : choice.gpus) {
        const auto action = add_reset(gpu, step, planned.step);
        if (!job_.allow_reset) withheld.push_back(withhold_reset(action, gpu));
    }
    note_withheld(withheld);
    for (const auto& one : withheld) planned.notes.push_back(withheld_note(one.what, one.why));
}

void Sequence::plan_reboot(PlannedStep& planned) {
    const auto action = add_command(Kind::reboot, planned.step, "reboot");
    if (const auto why = why_no_reboot()) {
        withhold_reboot(action, *why);
        planned.notes.push_back(withheld_note("the host", *why));
    }
}

void Sequence::plan_clean_shm(const playbooks::CleanShmStep& step, PlannedStep& planned) {
    const ShmChoice choice = choose_shm(step, *evidence_, policy());
    auto kept = choice.kept;
    for (const auto& file : choice.files) {
        const auto action = add_file(file, planned.step);
        if (!job_.allow_shm) kept.push_back(withhold_file(action, file));
    }
    if (job_.allow_shm && !choice.files.empty()) {
        extend_consent(outcome_.plan, {}, *evidence_);
        for (const auto& file : choice.files) outcome_.plan->files.insert({file.device, file.inode});
    }
    note_kept(kept);
    for (const auto& one : kept) planned.notes.push_back(withheld_note(one.what, one.why));
}

}  // namespace cleanslate::agentless
