#include "agentless/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "agentless/launchers.hpp"
#include "agentless/matcher.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

std::string owner(const Process& process) {
    if (!process.user.empty()) return printable(process.user);
    return process.uid ? fmt::format("uid {}", *process.uid) : "an unknown user";
}

std::set<Pid> twins(const Evidence& evidence) {
    std::set<Pid> seen, twice;
    for (const auto& process : evidence.processes)
        if (!seen.insert(process.key.pid).second) twice.insert(process.key.pid);
    return twice;
}

class Chooser {
  public:
    Chooser(const playbooks::Match& match, const Evidence& evidence, const ChoicePolicy& policy)
        : match_(match),
          evidence_(evidence),
          policy_(policy),
          lineage_(evidence),
          matcher_(match, evidence),
          twins_(twins(evidence)) {}

    Choice choose() {
        take_matching();
        leave_ways_in();
        if (match_.tree) take_launchers();
        put_in_order();
        return std::move(choice_);
    }

  private:
    void take_matching();
    void leave_ways_in();
    void take_launchers();
    void put_in_order();

    std::optional<Spared> spare(const Process& process) const;
    std::optional<Spared> spare_job(const Process& process) const;
    std::optional<Spared> spare_unproven(const Process& process) const;
    bool may_be_signalled(const Process& launcher);
    void take(const Process& process, std::string rule);
    std::unordered_set<Pid> above_targets() const;

    static Spared spared(const Process& process, std::string_view code, std::string why) {
        return {process.key, std::string(code), std::move(why)};
    }

    const playbooks::Match& match_;
    const Evidence& evidence_;
    const ChoicePolicy& policy_;
    const Lineage lineage_;
    const Matcher matcher_;
    const std::set<Pid> twins_;  // pids that stand twice in the survey: one of the two is not there any more
    std::vector<const Process*> taken_;  // same places as choice_.targets, until they are put in order
    Choice choice_;
};

void Chooser::take(const Process& process, std::string rule) {
    auto supervisor = supervisor_of(process, lineage_);
    Target target{process.key, std::move(rule), std::nullopt};
    if (supervisor.kind != SupervisorKind::none) target.supervisor = std::move(supervisor);
    taken_.push_back(&process);
    choice_.targets.push_back(std::move(target));
}

void Chooser::take_matching() {
    for (const auto& process : evidence_.processes) {
        if (has_ended(process) || !matcher_.matches(process)) continue;
        auto left = spare(process);
        if (!left && matcher_.unconfirmed(process))
            left = spared(
                process, "not-confirmed",
                "the driver lists this pid, but its descriptors could not be read: it may be the pid of "
                "another process, in another pid namespace");
        if (left)
            choice_.spared.push_back(std::move(*left));
        else
            take(process, matcher_.rule(process));
    }
}

std::optional<Spared> Chooser::spare(const Process& process) const {
    if (const auto rule = protected_by(process, evidence_, policy_.protection))
        return spared(process, "protected", fmt::format("protected ({})", *rule));
    if (auto left = spare_job(process)) return left;
    if (!evidence_.root && process.uid != evidence_.uid)
        return spared(process, "not-permitted",
                      fmt::format("it belongs to {}, and the login is not root", owner(process)));
    if (auto left = spare_unproven(process)) return left;
    if (policy_.consent != nullptr && !covers(*policy_.consent, process, evidence_, lineage_))
        return spared(process, "new-since-plan",
                      "not in the plan that was agreed to, nor a later child or a respawn");
    return std::nullopt;
}

std::optional<Spared> Chooser::spare_job(const Process& process) const {
    const auto supervisor = supervisor_of(process, lineage_);
    if (!supervisor.scheduled() || policy_.include_jobs) return std::nullopt;
    if (policy_.own_job && !supervisor.job_id.empty() && *policy_.own_job == supervisor.job_id)
        return std::nullopt;
    return spared(
        process, "scheduled-job",
        fmt::format("in {} of {}; --include-jobs would include it", supervisor.name, owner(process)));
}

// What was not observed is no ground to kill: the process may be another than it seems.
std::optional<Spared> Chooser::spare_unproven(const Process& process) const {
    if (const auto entry = may_be_protected(process, policy_.protection))
        return spared(
            process, "not-confirmed",
            fmt::format("it calls itself {}, which is protected, and its executable could not be read",
                        *entry));
    if (!process.uid) return spared(process, "not-confirmed", "its owner could not be read");
    if (twins_.contains(process.key.pid))
        return spared(process, "not-confirmed", "its pid was given away during the survey");
    return std::nullopt;
}

std::unordered_set<Pid> Chooser::above_targets() const {
    std::unordered_set<Pid> above;
    for (const Process* process : taken_)
        for (const Process* ancestor : lineage_.ancestors(*process)) above.insert(ancestor->key.pid);
    return above;
}

void Chooser::leave_ways_in() {
    const auto above = above_targets();
    for (std::size_t i = taken_.size(); i-- > 0;) {
        const Process& process = *taken_[i];
        if (!above.contains(process.key.pid) || !is_way_in(process)) continue;
        choice_.spared.push_back(
            spared(process, "protected", "protected (login shell or its server above a target)"));
        taken_.erase(taken_.begin() + static_cast<std::ptrdiff_t>(i));
        choice_.targets.erase(choice_.targets.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

bool Chooser::may_be_signalled(const Process& launcher) {
    const auto known = [&](const Spared& one) { return one.key == launcher.key; };
    if (std::ranges::any_of(choice_.spared, known)) return false;
    auto left = spare(launcher);
    if (!left) return true;
    // Everything else stopped the climb before, or holds for the target as well.
    if (left->code == "new-since-plan") choice_.spared.push_back(std::move(*left));
    return false;
}

void Chooser::take_launchers() {
    std::unordered_set<Pid> known;
    for (const Process* process : taken_) known.insert(process->key.pid);
    const auto matched = taken_;
    for (const Process* target : matched) {
        for (const Process* launcher : launchers_of(*target, evidence_, lineage_, policy_.protection)) {
            if (known.contains(launcher->key.pid)) continue;
            if (!may_be_signalled(*launcher)) break;
            known.insert(launcher->key.pid);
            take(*launcher, fmt::format("launcher of {}", target->key.pid));
        }
    }
}

// Launchers first, so that nobody starts again what has just been ended; among these, and among the others,
// parents before their children and older before younger.
void Chooser::put_in_order() {
    const auto above = above_targets();
    struct Place {
        bool last;
        std::uint64_t start;
        std::size_t depth;
        Pid pid;
        std::size_t target;
        auto operator<=>(const Place&) const = default;
    };
    std::vector<Place> places;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
        const Process& process = *taken_[i];
        const bool launcher = above.contains(process.key.pid);
        places.push_back(
            {!launcher, process.key.start, lineage_.ancestors(process).size(), process.key.pid, i});
    }
    std::ranges::sort(places);
    std::vector<Target> ordered;
    for (const auto& place : places) ordered.push_back(std::move(choice_.targets[place.target]));
    choice_.targets = std::move(ordered);
}

}  // namespace

Choice choose(const playbooks::Match& match, const Evidence& evidence, const ChoicePolicy& policy) {
    if (!evidence.complete) return {};
    return Chooser(match, evidence, policy).choose();
}

}  // namespace cleanslate::agentless
