#pragma once
// Which of the processes that a step means it may not have, and by which rule.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/matcher.hpp"
#include "agentless/targets.hpp"

namespace cleanslate::agentless {

Spared spared(const Process& process, std::string_view code, std::string why);

class TargetRules {
  public:
    // All of them must outlive the rules. `processes` are those of the evidence, by key.
    TargetRules(const Matcher& matcher, const Evidence& evidence, const ChoicePolicy& policy,
                const Lineage& lineage, const std::vector<const Process*>& processes);

    // Why a process that matches is left alone; absent: it may be signalled.
    std::optional<Spared> spare(const Process& process) const;

    // The same for a launcher or a descendant of a target, which goes with it: nothing below it may use a GPU
    // outside `gpus` either.
    std::optional<Spared> spare_in_tree(const Process& process) const;

    bool is_protected(const Process& process) const;

  private:
    std::optional<Spared> spare_any(const Process& process) const;
    std::optional<Spared> spare_job(const Process& process) const;
    std::optional<Spared> spare_unproven(const Process& process) const;
    std::optional<Spared> spare_outside_plan(const Process& process) const;

    const Matcher& matcher_;
    const Evidence& evidence_;
    const ChoicePolicy& policy_;
    const Lineage& lineage_;
    std::map<Pid, const Process*> outside_below_;  // whose descendant uses a GPU outside `gpus`: the first
    bool no_scheduler_ = false;                    // where the policy asks for one
};

}  // namespace cleanslate::agentless
