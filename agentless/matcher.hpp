#pragma once
// Whether a process is one that a step's match means. All given keys must hold, and a list in a key means any
// of its entries; a match without a key that picks means nobody.

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "agentless/evidence.hpp"
#include "agentless/gpu_use.hpp"
#include "agentless/lineage.hpp"
#include "agentless/ownership.hpp"
#include "playbooks/playbook.hpp"

namespace cleanslate::agentless {

class Matcher {
  public:
    // Patterns are POSIX extended; with one that does not compile (the playbook's reader refuses it) the
    // match means nobody. `match`, `evidence` and `lineage` must outlive the matcher.
    Matcher(const playbooks::Match& match, const Evidence& evidence, const Lineage& lineage);
    ~Matcher();
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;

    bool matches(const Process& process) const;

    // The keys that say whose it is, which hold for the descendants of a target too: the user's, not_cgroup
    // and the supervisors'.
    bool fits_identity(const Process& process) const;

    // The GPUs outside `gpus` that it uses, in words ("GPU 3, GPU 5"); absent: none, or no `gpus` was given.
    std::optional<std::string> other_gpus(const Process& process) const;

    // Why it matches, in words: "holding gpu and exe 'python'". Printable.
    std::string rule(const Process& process) const;

    // A GPU was asked for, and only the driver's list says that this one is a holder: its own descriptors
    // could not be read. The pid may be another process's, in another pid namespace.
    bool unconfirmed(const Process& process) const;

  private:
    struct Patterns;

    bool asks_for_a_gpu() const;
    bool holds(const Process& process) const;
    bool fits_gpus(const Process& process) const;
    bool fits_texts(const Process& process) const;
    bool fits_figures(const Process& process) const;
    std::string holding_words(const Process& process) const;
    std::string gpu_words(const Process& process) const;

    const playbooks::Match& match_;
    const Lineage& lineage_;
    std::unique_ptr<Patterns> patterns_;
    GpuUses uses_;
    std::set<std::string> wanted_;                // the uuids that `gpus` names
    std::unique_ptr<const Ownership> ownership_;  // null: nobody asked for orphans
};

}  // namespace cleanslate::agentless
