#include "agentless/sequence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/after_kill.hpp"
#include "agentless/carry.hpp"
#include "agentless/holder.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds plain_settle = 2s;
// Supervisors respawn with a delay: systemd's RestartSec, docker's back-off, kubelet's sync.
constexpr Milliseconds supervised_settle = 12s;
constexpr Milliseconds first_verify_pause = 50ms;
constexpr Milliseconds longest_verify_pause = 500ms;

template <class... Fs>
struct Overloaded : Fs... {
    using Fs::operator()...;
};

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

// A playbook that does not end with its own verify step gets one: memory comes back a moment after its
// process is gone, and a look right after the last signal would call that dirty.
std::vector<playbooks::Step> with_last_look(std::vector<playbooks::Step> steps) {
    if (steps.empty() || !std::holds_alternative<playbooks::VerifyStep>(steps.back().action))
        steps.push_back({"verify", playbooks::VerifyStep{}, 0});
    return steps;
}

}  // namespace

Sequence::Sequence(const Job& job, const HostTask& task, SurveyRequest survey, HostOutcome& outcome)
    : job_(job), task_(task), survey_(survey), outcome_(outcome), expectations_(task.expectations) {
    if (job_.kind != Job::Kind::clear || !job_.playbook) return;
    survey_.all_processes = job_.playbook->needs_all_processes();
    steps_ = with_last_look(job_.playbook->steps);
    auto& protect = expectations_.protection.protect;
    protect.insert(protect.end(), job_.playbook->protect.begin(), job_.playbook->protect.end());
}

Move Sequence::next(TimePoint now) {
    if (finished_) return Finish{};
    if (!evidence_) return survey_at(now, next_look_);
    if (job_.kind != Job::Kind::clear || !evidence_->complete) return finish();
    if (job_.dry_run) return step_on(now);
    const bool clean = outcome_.last->clean();
    if (clean && (!last_act_ || clean_surveys_ >= 2)) return finish();
    if (winding_down_) return finish();
    if (clean) return survey_at(std::max(now, *last_act_ + settle()), Look::thorough);
    // A failed command leaves out the steps after it. Clean after a kill and clean no more: something came
    // back.
    if (command_failed_ || clean_surveys_ > 0) return finish();
    return step_on(now);
}

Move Sequence::step_on(TimePoint now) {
    while (step_ < steps_.size())
        if (auto move = begin_step(steps_[step_], now)) return *move;
    return finish();
}

std::optional<Move> Sequence::begin_step(const playbooks::Step& step, TimePoint now) {
    return std::visit(Overloaded{
                          [&](const playbooks::SignalStep& s) { return begin_signal(s); },
                          [&](const playbooks::RunStep& s) { return begin_command(s); },
                          [&](const playbooks::VerifyStep& s) { return verify(s, now); },
                          [&](const auto&) {
                              ++step_;
                              return std::optional<Move>();
                          },
                      },
                      step.action);
}

std::optional<Move> Sequence::begin_signal(const playbooks::SignalStep& step) {
    const auto number = static_cast<int>(++step_);
    const ChoicePolicy policy{expectations_.protection, job_.include_jobs, job_.own_job,
                              task_.consent ? &*task_.consent : nullptr};
    const Choice choice = choose(step.match, *evidence_, policy);
    note_spared(choice.spared);
    if (choice.targets.empty()) return std::nullopt;

    SendSignal move{{step.signal_name, {}, evidence_->boot_id, step.wait}, outcome_.signals.size()};
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
        move.request.targets.push_back(target.key);
        if (!job_.dry_run) {
            signalled_.insert(target.key);
            respawner_ |= target.supervisor && target.supervisor->respawns();
        }
    }
    if (job_.dry_run) {
        extend_consent(outcome_.plan, choice, *evidence_);
        return std::nullopt;
    }
    if (!before_) before_ = evidence_;
    return move;
}

std::optional<Move> Sequence::begin_command(const playbooks::RunStep& step) {
    CommandAction action;
    action.step = static_cast<int>(++step_);
    action.command = step.command;
    action.planned = job_.dry_run;
    outcome_.commands.push_back(std::move(action));
    if (job_.dry_run) return std::nullopt;
    if (!before_) before_ = evidence_;
    return RunCommand{step.command, step.timeout, step.expect_status, outcome_.commands.size() - 1};
}

std::optional<Move> Sequence::verify(const playbooks::VerifyStep& step, TimePoint now) {
    if (step.max_used && expectations_.max_used != *step.max_used) {
        expectations_.max_used = *step.max_used;
        judge_now();
        if (!job_.dry_run && outcome_.last->clean()) return next(now);
    }
    if (!verify_until_) {
        verify_until_ = now + step.within;
        verify_pause_ = first_verify_pause;
    }
    if (job_.dry_run || now >= *verify_until_ || !waiting_helps()) {
        ++step_;
        verify_until_.reset();
        return std::nullopt;
    }
    const auto when = std::min(now + verify_pause_, *verify_until_);
    verify_pause_ = std::min(verify_pause_ * 2, longest_verify_pause);
    return survey_at(when, Look::quick);
}

// Looking again only helps where what is left may still be on its way out: memory nobody holds any more, or
// processes that were signalled. A live holder that no step wanted stays for good.
bool Sequence::waiting_helps() const {
    if (!last_act_) return false;
    const auto leaving = [&](const Holder& h) {
        return h.is_protected || h.ghost || signalled_.contains(h.key);
    };
    const auto& last = *outcome_.last;
    if (last.gpus.empty()) return true;
    return std::ranges::any_of(
               last.gpus,
               [&](const GpuVerdict& gpu) {
                   return (gpu.verdict == Verdict::dirty || gpu.verdict == Verdict::unknown) &&
                          std::ranges::all_of(gpu.holders, leaving);
               }) ||
           (!last.openers.empty() && std::ranges::all_of(last.openers, leaving));
}

Milliseconds Sequence::settle() const {
    if (job_.settle) return *job_.settle;
    return respawner_ ? supervised_settle : plain_settle;
}

// A look between two signals must be fast: it leaves the optional evidence out, and that of the last survey
// that asked for it holds. The one that confirms a clean host asks again.
Move Sequence::survey_at(TimePoint when, Look look) {
    evidence_.reset();
    TakeSurvey move{when, survey_};
    move.request.optional_evidence = look == Look::thorough && survey_.optional_evidence;
    // What this host's nvidia-smi does not know is found out once.
    if (!optional_.optional_fields.empty()) move.request.optional_fields = optional_.optional_fields;
    return move;
}

void Sequence::judge_now() { outcome_.last = judge(*evidence_, expectations_); }

void Sequence::surveyed(const Evidence& evidence, TimePoint began, TimePoint ended) {
    evidence_ = evidence;
    if (evidence.complete) {
        carry_optional(*evidence_, optional_);
        optional_ = optional_part(*evidence_, optional_);
    }
    ++outcome_.surveys;
    if (!evidence.driver_version.empty()) outcome_.driver_version = evidence.driver_version;
    if (!evidence.boot_id.empty()) outcome_.boot_id = evidence.boot_id;
    judge_now();
    if (!last_act_) return;
    // Of two clean surveys the second counts only if it began after the host had time to settle.
    if (!outcome_.last->clean()) return;
    if (clean_surveys_ == 0 || began >= *last_act_ + settle()) ++clean_surveys_;
    if (clean_surveys_ == 1 && first_signal_ && !outcome_.first_signal_to_clean)
        outcome_.first_signal_to_clean = std::chrono::duration_cast<Milliseconds>(ended - *first_signal_);
}

void Sequence::signalled(const SignalReport& report, TimePoint sent, TimePoint ended) {
    evidence_.reset();
    next_look_ = Look::quick;
    if (!first_signal_) first_signal_ = sent;
    last_act_ = ended;
    clean_surveys_ = 0;
    const int round = static_cast<int>(step_);
    for (const auto& reply : report.replies) {
        const auto action = std::ranges::find_if(outcome_.signals, [&](const SignalAction& a) {
            return a.step == round && a.process.key == reply.key;
        });
        if (action == outcome_.signals.end()) continue;
        action->result = result_of(reply.result);
        action->took = reply.took;
        action->state = reply.state;
    }
    if (!report.complete)
        failed(Error{"signal_incomplete", "signal", "the signal script was cut before its end record",
                     "some signals may have been sent: run `cleanslate check` on this host"});
}

void Sequence::command_ended(TimePoint ended) {
    evidence_.reset();
    next_look_ = Look::thorough;  // it may have cured what was sick: a reset, a service started
    last_act_ = ended;
    clean_surveys_ = 0;
    const auto& action = outcome_.commands.back();
    if (action.ok) return;
    command_failed_ = true;
    const auto how = !action.exit_signal.empty() ? fmt::format("was ended by signal {}", action.exit_signal)
                     : action.exit_status        ? fmt::format("ended with status {}", *action.exit_status)
                                                 : std::string("did not come to its end");
    add_finding({Severity::note, "command-failed",
                 fmt::format("step {}: `{}` {}: the steps after it were left out", action.step,
                             ellipsize(printable(action.command), 80), how),
                 "run it by hand on this host, or set expect_status in the playbook"});
}

void Sequence::failed(Error error) {
    outcome_.error = std::move(error);
    outcome_.verdict = Verdict::unknown;
    finished_ = true;
}

void Sequence::not_carried_out(const Move& move, Error error) {
    if (const auto* signal = std::get_if<SendSignal>(&move))
        for (auto i = signal->first_action; i < outcome_.signals.size(); ++i)
            outcome_.signals[i].result = SignalResult::not_sent;
    failed(std::move(error));
}

Move Sequence::finish() {
    finished_ = true;
    outcome_.verdict = outcome_.last->verdict;
    if (last_act_ && outcome_.last->clean() && clean_surveys_ < 2) {
        outcome_.verdict = Verdict::unknown;
        add_finding(
            {Severity::unknown, "not-settled",
             "clean once after the last signal, but the sweep ended before the host had time to settle",
             "run `cleanslate check` on this host"});
    }
    if (last_act_ && before_ && evidence_) {
        note_what_came_back();
        note_what_survived();
    }
    return Finish{};
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
}

void Sequence::note_what_came_back() {
    for (auto& finding : findings_of_respawns(*before_, *evidence_, *outcome_.last, signalled_))
        add_finding(std::move(finding));
}

void Sequence::note_what_survived() {
    for (auto& finding : findings_of_survivors(*before_, *evidence_, outcome_))
        add_finding(std::move(finding));
}

void Sequence::add_finding(Finding finding) { outcome_.findings.push_back(std::move(finding)); }

}  // namespace cleanslate::agentless
