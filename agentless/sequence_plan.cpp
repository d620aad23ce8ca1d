// The dry run: what each step of the playbook would do now, by the functions that choose for real.

#include <fmt/format.h>

#include <algorithm>

#include "agentless/holder.hpp"
#include "agentless/sequence.hpp"
#include "base/overloaded.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

using When = playbooks::RunStep::When;

std::string withheld_note(std::string_view what, std::string_view why) {
    return fmt::format("would be withheld: {}: {}", printable(what), printable(why));
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

// What a yes to a stop agrees to: all that ends with it, and who starts them again.
Choice choice_of(const StopTarget& stop) {
    Choice choice;
    for (const auto key : stop.ends) choice.targets.push_back({key, stop.rule, stop.supervisor});
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
        [&](const playbooks::RebootStep&) { return !why_no_reboot(*evidence_); },
        [&](const playbooks::CleanShmStep& s) {
            return job_.allow_shm && !choose_shm(s, *evidence_, policy()).files.empty();
        },
    };
    return std::visit(chosen, step.action);
}

void Sequence::plan_step(const playbooks::Step& step, PlannedStep& planned, bool acts) {
    // Too many targets end the host's course: nothing stands behind them but what comes at the very end.
    const auto* run = std::get_if<playbooks::RunStep>(&step.action);
    if (halted_ && ((run != nullptr && run->when == When::in_order) ||
                    std::holds_alternative<playbooks::CleanShmStep>(step.action))) {
        planned.notes.emplace_back("not reached: more processes than may be signalled on a host");
        return;
    }
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
    if (choice.targets.empty() || withhold_too_many(planned)) return;
    add_signals(step, choice, planned.step);
    extend_consent(outcome_.plan, choice, *evidence_);
    planned_gone_.insert(planned.targets.begin(), planned.targets.end());
    last_planned_act_ = planned.step;
}

bool Sequence::withhold_too_many(PlannedStep& planned) {
    if (!halted_ && !too_many_targets()) return false;
    planned.notes.emplace_back("would be withheld: more processes than may be signalled on a host");
    return true;
}

// What a survey would see if the steps planned up to now did what they are to do: nobody of theirs is left,
// and what they held is in nobody's hands.
Evidence Sequence::after_planned() const {
    Evidence after = *evidence_;
    std::set<Pid> pids;
    for (const auto& key : planned_gone_) pids.insert(key.pid);
    std::erase_if(after.processes, [&](const Process& p) { return planned_gone_.contains(p.key); });
    std::erase_if(after.apps, [&](const ComputeApp& app) { return app.pid && pids.contains(*app.pid); });
    return after;
}

// Whether it comes to it is seen when the steps before have done what they can.
void Sequence::make_conditional(std::size_t action) {
    CommandAction& command = outcome_.commands[action];
    if (last_planned_act_ == 0 || !command.planned) return;
    command.conditional = true;
    command.about = fmt::format("only if it is still needed after step {}{}{}", last_planned_act_,
                                command.about.empty() ? "" : ": ", command.about);
}

void Sequence::plan_stop(const playbooks::StopStep& step, PlannedStep& planned) {
    StopChoice choice = choose_stops(step, *evidence_, policy());
    for (const auto& stop : choice.stops)  // MPS: no signal may go to whom its own command ends
        std::erase_if(choice.spared, [&](const Spared& spared) {
            return std::ranges::find(stop.processes, spared.key) != stop.processes.end();
        });
    note_spared(choice.spared);
    note_left(choice.left);
    planned.spared = choice.spared;
    for (const auto& left : choice.left) planned.notes.push_back(withheld_note(left.name, left.why));
    for (const auto& stop : choice.stops)
        planned.targets.insert(planned.targets.end(), stop.ends.begin(), stop.ends.end());
    for (const auto& key : planned.targets)
        if (const Process* process = evidence_->find(key.pid))
            planned.target_holders.push_back(describe(*process, *evidence_, expectations_));
    if (choice.stops.empty() || withhold_too_many(planned)) return;
    for (const auto& stop : choice.stops) {
        add_stop(stop, planned.step);
        extend_consent(outcome_.plan, choice_of(stop), *evidence_);
        planned_gone_.insert(stop.ends.begin(), stop.ends.end());
    }
    last_planned_act_ = planned.step;
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
    if (kind == Kind::run) last_planned_act_ = planned.step;
}

// Chosen from what the steps before would leave: a GPU whose holders they end is dirty with memory that
// nobody holds, should it not come back.
void Sequence::plan_reset(const playbooks::ResetStep& step, PlannedStep& planned) {
    const Evidence after = after_planned();
    const ResetChoice choice = choose_resets(step, after, judge(after, expectations_), policy());
    auto withheld = choice.withheld;
    bool any = false;
    for (const auto& gpu : choice.gpus) {
        const auto action = add_reset(gpu, step, planned.step);
        if (!job_.allow_reset || halted_) {
            withheld.push_back(withhold_reset(action, gpu));
            continue;
        }
        any = true;
        make_conditional(action);
        extend_consent(outcome_.plan, {}, *evidence_);
        outcome_.plan->resets.insert(gpu.bus_id);
    }
    if (any) last_planned_act_ = planned.step;
    note_withheld(withheld);
    for (const auto& one : withheld) planned.notes.push_back(withheld_note(one.what, one.why));
}

void Sequence::plan_reboot(PlannedStep& planned) {
    const auto action = add_command(Kind::reboot, planned.step, "reboot");
    if (const auto why = why_no_reboot(after_planned())) {
        withhold_reboot(action, *why);
        planned.notes.push_back(withheld_note("the host", *why));
        return;
    }
    make_conditional(action);
    extend_consent(outcome_.plan, {}, *evidence_);
    outcome_.plan->reboot = true;
    last_planned_act_ = planned.step;
}

void Sequence::plan_clean_shm(const playbooks::CleanShmStep& step, PlannedStep& planned) {
    const ShmChoice choice = choose_shm(step, *evidence_, policy());
    auto kept = choice.kept;
    std::vector<Withheld> without_flag;
    for (const auto& file : choice.files) {
        const auto action = add_file(file, planned.step);
        if (!job_.allow_shm) without_flag.push_back(withhold_file(action, file));
    }
    note_kept(without_flag);  // the files stand in the step themselves, with their sizes
    if (job_.allow_shm && !choice.files.empty()) {
        extend_consent(outcome_.plan, {}, *evidence_);
        for (const auto& file : choice.files) outcome_.plan->files.insert({file.device, file.inode});
    }
    note_kept(kept);
    for (const auto& one : kept) planned.notes.push_back(withheld_note(one.what, one.why));
}

}  // namespace cleanslate::agentless
