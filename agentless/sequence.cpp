#include "agentless/sequence.hpp"

#include <algorithm>

#include "agentless/after_kill.hpp"
#include "agentless/carry.hpp"
#include "agentless/holder.hpp"
#include "base/overloaded.hpp"

namespace cleanslate::agentless {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds plain_settle = 2s;
// Supervisors respawn with a delay: systemd's RestartSec, docker's back-off, kubelet's sync.
constexpr Milliseconds supervised_settle = 12s;
constexpr Milliseconds shortest_pause = 20ms;
constexpr Milliseconds longest_pause = 500ms;
// So long after the last act the driver may still list those that it has ended.
constexpr Milliseconds last_look_within = 2s;
constexpr Milliseconds last_look_pause = 250ms;

// Stands outside of the order of steps: before the first act, at the very end, or on a clean host too.
bool stands_apart(const playbooks::Step& step) {
    const auto* run = std::get_if<playbooks::RunStep>(&step.action);
    return (run != nullptr && run->when != playbooks::RunStep::When::in_order) ||
           std::holds_alternative<playbooks::CleanShmStep>(step.action);
}

// A playbook that does not end with its own verify step gets one: memory comes back a moment after its
// process is gone, and a look right after the last signal would call that dirty.
std::vector<playbooks::Step> with_last_look(std::vector<playbooks::Step> steps) {
    const auto last = std::find_if_not(steps.rbegin(), steps.rend(), stands_apart);
    if (last == steps.rend() || !std::holds_alternative<playbooks::VerifyStep>(last->action))
        steps.push_back({"verify", playbooks::VerifyStep{}, 0});
    return steps;
}

}  // namespace

Milliseconds pause_between_looks(Milliseconds since_act) {
    return std::clamp(since_act / 8, shortest_pause, longest_pause);
}

Sequence::Sequence(const Job& job, const HostTask& task, SurveyRequest survey, HostOutcome& outcome)
    : job_(job),
      task_(task),
      survey_(std::move(survey)),
      outcome_(outcome),
      expectations_(task.expectations) {
    if (job_.kind != Job::Kind::clear || !job_.playbook) return;
    survey_.all_processes = job_.playbook->needs_all_processes();
    survey_.shm_names = job_.playbook->shm_names();
    steps_ = with_last_look(job_.playbook->steps);
    expectations_.only_gpus = job_.playbook->judged_gpus();
    auto& protect = expectations_.protection.protect;
    protect.insert(protect.end(), job_.playbook->protect.begin(), job_.playbook->protect.end());
}

Move Sequence::next(TimePoint now) {
    if (finished_) return Finish{};
    if (concluded_) return end(now);
    if (!evidence_) return survey_at(now, next_look_);
    if (job_.kind != Job::Kind::clear || !evidence_->complete) return end(now);
    if (job_.dry_run) return plan();
    if (winding_down_) return end(now);
    if (outcome_.last->clean()) {
        if (auto move = tidy()) return *move;
        if (!last_act_ || clean_surveys_ >= 2) return end(now);
        return survey_at(std::max(now, *last_act_ + settle()), Look::thorough);
    }
    // A failed command leaves out the steps after it. Clean before and clean no more: something came, or
    // came back.
    if (command_failed_ || halted_ || tidied_ || clean_surveys_ > 0) return end(now);
    return step_on(now);
}

Move Sequence::step_on(TimePoint now) {
    while (step_ < steps_.size() && !halted_)
        if (auto move = begin_step(steps_[step_], now)) return *move;
    return end(now);
}

std::optional<Move> Sequence::begin_step(const playbooks::Step& step, TimePoint now) {
    return std::visit(Overloaded{
                          [&](const playbooks::SignalStep& s) { return begin_signal(s); },
                          [&](const playbooks::StopStep& s) { return begin_stop(s); },
                          [&](const playbooks::RunStep& s) { return begin_command(s); },
                          [&](const playbooks::VerifyStep& s) { return verify(s, now); },
                          [&](const playbooks::ResetStep& s) { return begin_reset(s, now); },
                          [&](const playbooks::RebootStep& s) { return begin_reboot(s); },
                          [&](const playbooks::CleanShmStep& s) { return begin_clean_shm(s); },
                      },
                      step.action);
}

std::optional<Move> Sequence::verify(const playbooks::VerifyStep& step, TimePoint now) {
    if (step.max_used && expectations_.max_used != *step.max_used) {
        expectations_.max_used = *step.max_used;
        judge_now();
        if (outcome_.last->clean()) return next(now);
    }
    if (auto look = keep_looking(now + step.within, now)) return look;
    ++step_;
    return std::nullopt;
}

// Looks again while what is left may still be on its way out, at most until then; absent: long enough.
std::optional<Move> Sequence::keep_looking(TimePoint until, TimePoint now) {
    if (!looking_until_) looking_until_ = until;
    if (now >= *looking_until_ || !waiting_helps()) {
        looking_until_.reset();
        return std::nullopt;
    }
    const auto pause = pause_between_looks(std::chrono::duration_cast<Milliseconds>(now - *last_act_));
    return survey_at(std::min(now + pause, *looking_until_), Look::quick);
}

// Looking again only helps where what is left may still be on its way out: memory nobody holds any more, or
// processes that were signalled. A live holder that no step wanted stays for good.
bool Sequence::waiting_helps() const {
    if (!last_act_) return false;
    const auto leaving = [&](const Holder& h) {
        return h.is_protected || h.ghost || is_being_torn_down(h) || signalled_.contains(h.key);
    };
    const auto& last = *outcome_.last;
    if (last.gpus.empty()) return true;
    return std::ranges::any_of(
               last.gpus,
               [&](const GpuVerdict& gpu) {
                   return gpu.judged && (gpu.verdict == Verdict::dirty || gpu.verdict == Verdict::unknown) &&
                          std::ranges::all_of(gpu.holders, leaving);
               }) ||
           (!last.openers.empty() && std::ranges::all_of(last.openers, leaving));
}

Milliseconds Sequence::settle() const {
    if (job_.settle) return *job_.settle;
    return respawner_ ? supervised_settle : plain_settle;
}

ChoicePolicy Sequence::policy() const {
    return {expectations_.protection, job_.include_jobs, job_.own_job,
            task_.consent ? &*task_.consent : nullptr,
            job_.playbook->scheduled_hosts_only && !task_.host.unscheduled};
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
    evidence_->signalled.assign(signalled_.begin(), signalled_.end());
    if (evidence.complete) {
        carry_optional(*evidence_, optional_);
        optional_ = optional_part(*evidence_, optional_);
    }
    ++outcome_.surveys;
    if (!evidence.driver_version.empty()) outcome_.driver_version = evidence.driver_version;
    if (!evidence.boot_id.empty()) outcome_.boot_id = evidence.boot_id;
    judge_now();
    if (outcome_.surveys == 1 && evidence.complete) note_unseen_users();
    if (!last_act_) return;
    // Of two clean surveys the second counts only if it began after the host had time to settle.
    if (!outcome_.last->clean()) return;
    if (clean_surveys_ == 0 || began >= *last_act_ + settle()) ++clean_surveys_;
    if (clean_surveys_ == 1 && first_signal_ && !outcome_.first_signal_to_clean)
        outcome_.first_signal_to_clean = std::chrono::duration_cast<Milliseconds>(ended - *first_signal_);
}

// What was seen holds no more, and the host has to settle again.
void Sequence::acted(TimePoint ended, Look next) {
    evidence_.reset();
    next_look_ = next;
    last_act_ = ended;
    clean_surveys_ = 0;
    signalled_.merge(round_);
    round_.clear();
}

void Sequence::failed(Error error) {
    outcome_.error = std::move(error);
    outcome_.verdict = Verdict::unknown;
    finished_ = true;
}

void Sequence::not_carried_out(const Move& move, Error error) {
    mark_not_sent(move);
    failed(std::move(error));
}

// Whom this sweep ended a moment ago, and the driver still lists.
bool Sequence::still_lists_the_ended() const {
    return std::ranges::any_of(evidence_->apps, [&](const ComputeApp& app) {
        const auto is_it = [&](ProcessKey key) { return key.pid == app.pid; };
        return app.pid && evidence_->find(*app.pid) == nullptr && std::ranges::any_of(signalled_, is_it);
    });
}

// Where others live on, verify does not wait for those that it has ended; a look at once would show them as
// ghosts, and their memory beside that of who came after them.
std::optional<Move> Sequence::last_look(TimePoint now) {
    if (concluded_ || winding_down_ || !last_act_ || clean_surveys_ > 0 || !evidence_ ||
        !evidence_->complete || now >= *last_act_ + last_look_within || !still_lists_the_ended())
        return std::nullopt;
    return survey_at(std::min(now + last_look_pause, *last_act_ + last_look_within), Look::quick);
}

Move Sequence::end(TimePoint now) {
    if (auto look = last_look(now)) return *look;
    return finish();
}

Move Sequence::finish() {
    const bool afters = job_.kind == Job::Kind::clear && !job_.dry_run && !cut_ && evidence_ &&
                        evidence_->complete && has_steps(playbooks::RunStep::When::after);
    // Who holds the lock may be changing the host: then the verdict is not this sweep's to give.
    if (!concluded_ && afters && !lock_settled_) return take_lock();
    if (!concluded_) conclude();
    if (afters)
        if (auto command = next_after()) return *command;
    finished_ = true;
    return Finish{};
}

void Sequence::conclude() {
    concluded_ = true;
    outcome_.verdict = outcome_.last->verdict;
    if (last_act_ && outcome_.last->clean() && clean_surveys_ < 2) {
        outcome_.verdict = Verdict::unknown;
        add_finding(
            {Severity::unknown, "not-settled",
             "clean once after the last signal, but the sweep ended before the host had time to settle",
             "run `cleanslate check` on this host"});
    }
    if (last_act_ && before_ && evidence_) note_after_kill();
    // What an act left open, such as a daemon that does not run again, no look at GPUs can excuse.
    for (const auto& finding : outcome_.findings)
        if (finding.severity == Severity::unknown)
            outcome_.verdict = worse(outcome_.verdict, Verdict::unknown);
}

// Those of the holders that are there, in which something lives that must.
std::vector<SparedSupervisor> Sequence::supervisors_to_leave() const {
    if (!evidence_->root) return {};  // then none is stopped at all
    playbooks::StopStep all;
    all.units = all.containers = all.slurm_jobs = true;
    all.match.holding_gpu = true;
    auto policy = this->policy();
    policy.consent = nullptr;
    return choose_stops(all, *evidence_, policy).left;
}

void Sequence::note_after_kill() {
    for (auto& finding :
         findings_of_respawns(*before_, *evidence_, *outcome_.last, signalled_, supervisors_to_leave()))
        add_finding(std::move(finding));
    for (auto& finding : findings_of_launchers(*before_, signalled_)) add_finding(std::move(finding));
    // Pids and start times of the boot before may be others' by now.
    HostOutcome of_this_boot;
    of_this_boot.signals.assign(outcome_.signals.begin() + static_cast<std::ptrdiff_t>(first_of_boot_),
                                outcome_.signals.end());
    for (auto& finding : findings_of_survivors(*before_, *evidence_, of_this_boot))
        add_finding(std::move(finding));
}

void Sequence::add_finding(Finding finding) {
    const auto same = [&](const Finding& f) { return f.code == finding.code && f.text == finding.text; };
    if (std::ranges::none_of(outcome_.findings, same)) outcome_.findings.push_back(std::move(finding));
}

}  // namespace cleanslate::agentless
