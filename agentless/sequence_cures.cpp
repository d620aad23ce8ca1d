// What is done where no signal helps: GPUs are reset, the host is rebooted, leftovers of dead jobs in
// /dev/shm are removed. Each is withheld unless the person allows it by its flag.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "agentless/gpu_use.hpp"
#include "agentless/nvidia_smi_cells.hpp"
#include "agentless/process_name.hpp"
#include "agentless/reset_reply.hpp"
#include "agentless/sequence.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

constexpr std::string_view no_reset = "--allow-reset was not given";
constexpr std::string_view no_reboot = "--allow-reboot was not given";
constexpr std::string_view not_agreed = "not in the plan that was agreed to";
constexpr std::string_view cure_remedy = "do what the reason says, then clear again";

std::string title(const ResetTarget& target) {
    return target.index ? fmt::format("GPU {}", *target.index) : "GPU " + printable(target.bus_id);
}

// Where a playbook is for some GPUs, what is on the others is somebody else's. A reboot would end that too.
std::optional<std::string> use_elsewhere(const HostVerdict& verdict, const Evidence& evidence,
                                         const ProtectionRules& rules) {
    std::set<std::string> others;
    for (const auto& gpu : verdict.gpus) {
        if (gpu.judged) continue;
        others.insert(lowered(gpu.uuid));
        if (gpu.verdict != Verdict::dirty && gpu.verdict != Verdict::unknown) continue;
        const auto name = gpu.index ? std::to_string(*gpu.index) : printable(gpu.bus_id);
        return fmt::format("GPU {} is none of the playbook's, and {}", name, to_string(gpu.verdict));
    }
    if (others.empty()) return std::nullopt;
    const GpuUses uses(evidence);
    for (const auto& process : evidence.processes) {
        if (has_ended(process) || !(process.opens_device() || uses.is_listed(process))) continue;
        if (protected_by(process, evidence, rules)) continue;
        for (const auto& uuid : uses.of(process).uuids)
            if (others.contains(uuid))
                return fmt::format("pid {} ({}) uses {}, which is none of the playbook's", process.key.pid,
                                   printable(name_of(process)), uses.name_of(uuid));
    }
    return std::nullopt;
}

}  // namespace

void Sequence::withhold(std::size_t action, const std::string& why) {
    CommandAction& command = outcome_.commands[action];
    command.planned = false;
    command.withheld = true;
    command.about += fmt::format("{}{}withheld: {}", command.about.empty() ? "" : "; ",
                                 job_.dry_run ? "would be " : "", printable(why));
}

Withheld Sequence::withhold_reset(std::size_t action, const ResetTarget& gpu) {
    const std::string why = !job_.allow_reset ? std::string(no_reset) : "too many processes are in its way";
    withhold(action, why);
    return {title(gpu), fmt::format("{} ({})", why, gpu.why)};
}

void Sequence::withhold_reboot(std::size_t action, const std::string& why) {
    withhold(action, why);
    add_finding({Severity::note, "reboot-withheld",
                 fmt::format("the host {}: {}", job_.dry_run ? "would not be rebooted" : "was not rebooted",
                             printable(why)),
                 std::string(cure_remedy)});
}

std::size_t Sequence::add_reset(const ResetTarget& target, const playbooks::ResetStep& step, int number) {
    auto about = fmt::format("{}: {}", title(target), printable(target.why));
    if (!step.daemons.empty())
        about += fmt::format("; {} stopped for it where running, and started again",
                             printable(fmt::format("{}", fmt::join(step.daemons, ", "))));
    return add_command(Kind::reset, number, "nvidia-smi --gpu-reset -i " + target.bus_id, std::move(about));
}

void Sequence::note_withheld(const std::vector<Withheld>& withheld) {
    for (const auto& one : withheld)
        add_finding({Severity::note, "reset-withheld",
                     fmt::format("{} {}: {}", printable(one.what),
                                 job_.dry_run ? "would not be reset" : "was not reset", printable(one.why)),
                     std::string(cure_remedy)});
}

// Memory that nobody holds comes back by itself a moment after its process is gone: that is waited for.
std::optional<Move> Sequence::begin_reset(const playbooks::ResetStep& step, TimePoint now) {
    if (last_act_)
        if (auto look = keep_looking(*last_act_ + step.within, now)) return look;
    const ResetChoice choice = choose_resets(step, *evidence_, *outcome_.last, policy());
    if (choice.gpus.empty() || !job_.allow_reset) {
        const int number = static_cast<int>(++step_);
        note_withheld(choice.withheld);
        for (const auto& gpu : choice.gpus)
            note_withheld({withhold_reset(add_reset(gpu, step, number), gpu)});
        return std::nullopt;
    }
    if (auto first = before_acting()) return first;

    note_withheld(choice.withheld);
    const int number = static_cast<int>(++step_);
    if (!before_) before_ = evidence_;
    ResetGpus move{{{}, step.daemons, evidence_->boot_id, step.timeout}, outcome_.commands.size()};
    for (const auto& gpu : choice.gpus) {
        add_reset(gpu, step, number);
        move.request.bus_ids.push_back(gpu.bus_id);
    }
    return move;
}

void Sequence::gpus_reset(const ResetGpus& move, const ResetReport& report, TimePoint ended) {
    acted(ended, Look::thorough);
    const int number = outcome_.commands[move.first_action].step;
    if (report.other_boot) {
        mark_not_sent(move);
        note_withheld({{"the host", "it has booted since the survey"}});
    }
    for (const auto& gpu : report.gpus) {
        const auto asked = std::ranges::find(move.request.bus_ids, gpu.bus_id);
        if (asked == move.request.bus_ids.end()) continue;
        const auto place = static_cast<std::size_t>(asked - move.request.bus_ids.begin());
        CommandAction& action = outcome_.commands[move.first_action + place];
        action.exit_status = gpu.status;
        action.ran_to_end = gpu.status.has_value();
        action.ok = gpu.status == 0;
        action.out = gpu.text;
        std::optional<int> index;
        for (const auto& seen : outcome_.last->gpus)
            if (seen.bus_id == gpu.bus_id) index = seen.index;
        if (auto finding = finding_of_reset(gpu, index)) add_finding(std::move(*finding));
    }
    const auto daemon = [&](std::string_view verb, const ResetReport::Unit& unit, std::optional<int> status) {
        CommandAction& action =
            outcome_
                .commands[add_command(Kind::reset, number, daemon_command(verb, unit.name), "for the reset")];
        action.exit_status = status;
        action.ran_to_end = status.has_value();
        action.ok = status == 0;
    };
    for (const auto& unit : report.units) {
        if (!unit.was_active) continue;
        daemon("stop", unit, unit.stop_status);
        daemon("start", unit, unit.start_status);
    }
    for (auto& finding : findings_of_daemons(report)) add_finding(std::move(finding));
    if (!report.complete)
        failed(
            Error{"reset_incomplete", "reset", "the reset script was cut before its end record",
                  "GPUs may have been reset, and daemons be stopped: run `cleanslate check` on this host"});
}

std::optional<std::string> Sequence::why_no_reboot(const Evidence& evidence) const {
    if (!job_.allow_reboot) return std::string(no_reboot);
    if (halted_) return "more processes are in its way than may be signalled";
    if (evidence.boot_id.empty()) return "its boot id is not known: a reboot could not be proven";
    if (task_.consent && !task_.consent->reboot) return std::string(not_agreed);
    if (auto why = use_elsewhere(*outcome_.last, evidence, expectations_.protection)) return why;
    return reboot_withheld(evidence, policy());
}

std::optional<Move> Sequence::begin_reboot(const playbooks::RebootStep& step) {
    if (const auto why = why_no_reboot(*evidence_)) {
        withhold_reboot(add_command(Kind::reboot, static_cast<int>(++step_), "reboot"), *why);
        // What it saw in its turn is no base for an act behind the wait for another place.
        if (std::exchange(reboot_place_, false)) evidence_.reset();
        return std::nullopt;
    }
    if (auto first = before_acting()) return first;
    if (!reboot_place_) return AwaitReboot{};

    reboot_place_ = false;
    if (!before_) before_ = evidence_;
    const auto about = fmt::format("at most {} until it is back", format_duration(step.deadline));
    return Reboot{evidence_->boot_id, step.deadline,
                  add_command(Kind::reboot, static_cast<int>(++step_), "reboot", about), survey_};
}

void Sequence::reboot_place(bool waited) {
    reboot_place_ = true;
    if (!waited) return;
    evidence_.reset();  // somebody's job may have begun there meanwhile
    next_look_ = Look::thorough;
}

void Sequence::reboot_refused(const Reboot& move, const RebootReport& report) {
    CommandAction& action = outcome_.commands[move.action];
    action.ran_to_end = true;
    action.out = report.text;
    evidence_.reset();
    const auto text = ellipsize(printable(trim(report.text)), 200);
    add_finding({Severity::note, "reboot-withheld",
                 fmt::format("the host did not begin to reboot: {}", text.empty() ? "it said nothing" : text),
                 "reboot it by hand, then clear again"});
}

// Nothing of the boot before is left: no lock, no process that was signalled, no context.
void Sequence::rebooted(const Reboot& move, TimePoint ended) {
    CommandAction& action = outcome_.commands[move.action];
    action.ran_to_end = action.ok = true;
    acted(ended, Look::thorough);
    respawner_ = true;  // units come up one after the other
    signalled_earlier_ += signalled_.size();
    signalled_.clear();
    first_of_boot_ = outcome_.signals.size();
    before_.reset();
    optional_ = {};
    lock_settled_ = false;
}

void Sequence::not_back(const Reboot& move, Error last) {
    add_finding({Severity::unknown, "reboot-failed",
                 fmt::format("it did not come back with another boot id within {}: {}",
                             format_duration(move.deadline), last.message),
                 "look at its console"});
    failed(std::move(last));
}

}  // namespace cleanslate::agentless
