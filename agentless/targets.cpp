#include "agentless/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "agentless/launchers.hpp"
#include "agentless/matcher.hpp"
#include "agentless/target_rules.hpp"

namespace cleanslate::agentless {

namespace {

std::vector<const Process*> in_order_of_keys(const Evidence& evidence) {
    std::vector<const Process*> processes;
    processes.reserve(evidence.processes.size());
    for (const auto& process : evidence.processes) processes.push_back(&process);
    std::ranges::sort(processes, {}, [](const Process* process) { return process->key; });
    return processes;
}

class Chooser {
  public:
    Chooser(const playbooks::Match& match, const Evidence& evidence, const ChoicePolicy& policy)
        : match_(match),
          evidence_(evidence),
          policy_(policy),
          lineage_(evidence),
          processes_(in_order_of_keys(evidence)),
          matcher_(match, evidence, lineage_),
          rules_(matcher_, evidence, policy, lineage_, processes_) {}

    Choice choose() {
        take_matching();
        const auto matched = taken_;
        if (match_.descendants) take_descendants(matched);
        leave_ways_in();
        if (match_.tree) take_launchers(matched);
        put_in_order();
        return std::move(choice_);
    }

  private:
    void take_matching();
    void take_descendants(const std::vector<const Process*>& matched);
    void leave_ways_in();
    void take_launchers(const std::vector<const Process*>& matched);
    void put_in_order();

    void take(const Process& process, std::string rule);
    // Unless a rule spares it, which is noted.
    bool may_take_with_another(const Process& process);
    bool is_taken(const Process& process) const { return taken_pids_.contains(process.key.pid); }
    std::unordered_set<Pid> above_targets() const;

    const playbooks::Match& match_;
    const Evidence& evidence_;
    const ChoicePolicy& policy_;
    const Lineage lineage_;
    const std::vector<const Process*> processes_;  // by pid, whatever their order in the survey
    const Matcher matcher_;
    const TargetRules rules_;
    std::vector<const Process*> taken_;  // same places as choice_.targets, until they are put in order
    std::unordered_set<Pid> taken_pids_;
    std::set<ProcessKey> spared_;
    Choice choice_;
};

void Chooser::take(const Process& process, std::string rule) {
    auto supervisor = supervisor_of(process, lineage_);
    Target target{process.key, std::move(rule), std::nullopt};
    if (supervisor.kind != SupervisorKind::none) target.supervisor = std::move(supervisor);
    taken_.push_back(&process);
    taken_pids_.insert(process.key.pid);
    choice_.targets.push_back(std::move(target));
}

void Chooser::take_matching() {
    for (const Process* process : processes_) {
        if (has_ended(*process) || !matcher_.matches(*process)) continue;
        if (auto left = rules_.spare(*process)) {
            spared_.insert(process->key);
            choice_.spared.push_back(std::move(*left));
        } else {
            take(*process, matcher_.rule(*process));
        }
    }
}

bool Chooser::may_take_with_another(const Process& process) {
    if (spared_.contains(process.key)) return false;
    auto left = rules_.spare_in_tree(process);
    if (!left) return true;
    spared_.insert(process.key);
    choice_.spared.push_back(std::move(*left));
    return false;
}

// What one of them that is spared has started stays with it.
void Chooser::take_descendants(const std::vector<const Process*>& matched) {
    std::unordered_map<Pid, std::vector<const Process*>> children;
    for (const Process* process : processes_)
        if (const Process* parent = lineage_.parent(*process)) children[parent->key.pid].push_back(process);
    std::unordered_set<Pid> seen;
    for (const Process* target : matched) {
        std::vector<const Process*> next{target};
        while (!next.empty()) {
            const Process* parent = next.back();
            next.pop_back();
            if (!seen.insert(parent->key.pid).second) continue;
            for (const Process* child : children[parent->key.pid]) {
                if (has_ended(*child) || spared_.contains(child->key)) continue;
                if (!is_taken(*child) && matcher_.fits_identity(*child)) {
                    if (!may_take_with_another(*child)) continue;
                    take(*child, fmt::format("descendant of {}", target->key.pid));
                } else if (!is_taken(*child) && rules_.is_protected(*child)) {
                    continue;
                }
                next.push_back(child);
            }
        }
    }
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
        spared_.insert(process.key);
        taken_pids_.erase(process.key.pid);
        taken_.erase(taken_.begin() + static_cast<std::ptrdiff_t>(i));
        choice_.targets.erase(choice_.targets.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

void Chooser::take_launchers(const std::vector<const Process*>& matched) {
    for (const Process* target : matched) {
        if (!is_taken(*target)) continue;
        for (const Process* launcher : launchers_of(*target, evidence_, lineage_, policy_.protection)) {
            if (is_taken(*launcher)) continue;
            if (!may_take_with_another(*launcher)) break;
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
    std::ranges::sort(choice_.spared, {},
                      [](const Spared& one) { return std::tie(one.key, one.code, one.why); });
}

}  // namespace

Choice choose(const playbooks::Match& match, const Evidence& evidence, const ChoicePolicy& policy) {
    if (!evidence.complete) return {};
    return Chooser(match, evidence, policy).choose();
}

}  // namespace cleanslate::agentless
