#pragma once
// Who descends from whom among the processes of a survey. The evidence must outlive it.

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

// Reaped or not: it holds nothing and no signal reaches it, even where the driver still lists it.
inline bool has_ended(const Process& process) {
    return process.state == 'Z' || process.state == 'X' || process.state == 'x';
}

class Lineage {
  public:
    explicit Lineage(const Evidence& evidence);

    // Null where the survey has no such process. Of two with one pid the younger: the other one has ended.
    const Process* find(Pid pid) const;

    // The pid stands twice in the survey: one of the two is not there any more, and who is whose child is not
    // known.
    bool given_away(Pid pid) const { return twice_.contains(pid); }

    // Null where the survey does not have the parent, or where what bears the parent's pid started later than
    // its child: then the pid was given away again between two looks.
    const Process* parent(const Process& process) const;

    // Nearest first, at most `deepest` of them; a loop (which only forged evidence has) is cut.
    static constexpr std::size_t deepest = 1000;
    std::vector<const Process*> ancestors(const Process& process) const;

  private:
    std::unordered_map<Pid, const Process*> by_pid_;
    std::unordered_set<Pid> twice_;
};

}  // namespace cleanslate::agentless
