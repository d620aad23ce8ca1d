#pragma once
// Whether a process is one that a step's match means. All given keys must hold; a match without a key means
// nobody.

#include <map>
#include <memory>
#include <set>
#include <string>

#include "agentless/evidence.hpp"
#include "playbooks/playbook.hpp"

namespace cleanslate::agentless {

class Matcher {
  public:
    // Patterns are POSIX extended; one that does not compile (the playbook's reader refuses it) matches
    // nobody. `match` and `evidence` must outlive the matcher.
    Matcher(const playbooks::Match& match, const Evidence& evidence);
    ~Matcher();
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;

    bool matches(const Process& process) const;

    // Why it matches, in words: "holding gpu and exe 'python'". Printable.
    std::string rule(const Process& process) const;

    // `holding: gpu` was asked for, and only the driver's list says that this one is a holder: its own
    // descriptors could not be read. The pid may be another process's, in another pid namespace.
    bool unconfirmed(const Process& process) const;

  private:
    struct Patterns;

    bool holds(const Process& process) const;
    std::string holding_words(const Process& process) const;

    const playbooks::Match& match_;
    std::unique_ptr<Patterns> patterns_;
    std::set<Pid> listed_;               // by the driver
    std::map<int, Pid> ghost_of_minor_;  // device files whose GPU has memory of a pid that no longer lives
};

}  // namespace cleanslate::agentless
