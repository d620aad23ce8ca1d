#pragma once
// Which GPUs each process uses, as far as a survey can tell: what `gpus:` goes by.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

struct GpuUse {
    std::set<std::string> uuids;  // in lower case
    bool unplaced = false;        // and one whose uuid could not be told
};

class GpuUses {
  public:
    // The evidence must outlive it.
    explicit GpuUses(const Evidence& evidence);

    // The GPUs on which the driver lists it. One that is listed nowhere uses those whose file it has mapped,
    // and those of the ghosts whose file it has open; if there are no such ghosts, all whose file it has
    // open. Where the driver's list is not whole, where it does not say a pid, or where the files could not
    // be read, more is counted, not less.
    GpuUse of(const Process& process) const;

    // The driver lists its pid, and does not say that the pid was not found.
    bool is_listed(const Process& process) const { return rows_.contains(process.key.pid); }
    // The memory that it lists for the pid, on all GPUs together; absent: it says none.
    std::optional<Mebibytes> used_by(const Process& process) const;
    // The dead pid whose memory it keeps, being listed nowhere itself.
    std::optional<Pid> heir_of(const Process& process) const;

    // By index ("3") or uuid; absent: no row, or two, has that index.
    std::optional<std::string> uuid_of(const std::string& index_or_uuid) const;
    // "GPU 3", or the uuid where no row has it. Printable.
    std::string name_of(const std::string& uuid) const;

  private:
    struct Rows {
        GpuUse use;
        std::optional<Mebibytes> used;
    };
    void read_rows();
    void add_ghost(Pid pid, const std::string& uuid);
    void add_open(const std::set<int>& minors, GpuUse& use) const;

    const Evidence& evidence_;
    std::map<int, std::string> uuid_of_minor_;  // empty: two GPUs claim it
    std::map<int, std::string> uuid_of_index_;  // the same
    std::map<std::string, int> minor_of_uuid_;  // of the GPUs whose minor the driver says
    std::unordered_map<Pid, Rows> rows_;        // of the pids of living processes
    std::map<int, Pid> ghost_of_minor_;         // device files whose GPU has memory of a dead pid
    bool homeless_ghost_ = false;               // of a GPU whose device file is not known
    bool whole_list_ = false;                   // and each row says its pid
    bool foreign_rows_ = false;                 // of pids that this /proc does not have, or not all of
};

}  // namespace cleanslate::agentless
