#pragma once
// Who descends from whom among the processes of a survey. The evidence must outlive it.

#include <unordered_map>
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

    const Process* find(Pid pid) const;  // null where the survey has no such process

    // Null where the survey does not have the parent, or where what bears the parent's pid started later than
    // its child: then the pid was given away again between two looks.
    const Process* parent(const Process& process) const;

    // Nearest first, at most `deepest` of them; a loop (which only forged evidence has) is cut.
    static constexpr std::size_t deepest = 1000;
    std::vector<const Process*> ancestors(const Process& process) const;

  private:
    std::unordered_map<Pid, const Process*> by_pid_;
};

}  // namespace cleanslate::agentless
