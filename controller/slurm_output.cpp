#include "controller/slurm_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <unordered_set>

#include "base/text.hpp"
#include "inventory/names.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using Names = std::vector<std::string>;

// Of a job that has its nodes.
constexpr std::string_view holding_states[] = {"RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED",
                                               "STOPPED", "RESIZING",   "SIGNALING",   "STAGE_OUT"};
// It has none yet, or they may be another's by now.
constexpr std::string_view other_states[] = {
    "PENDING",       "CANCELLED",     "COMPLETED",     "FAILED",       "TIMEOUT",
    "NODE_FAIL",     "PREEMPTED",     "BOOT_FAIL",     "DEADLINE",     "OUT_OF_MEMORY",
    "REQUEUED",      "REVOKED",       "REQUEUE_FED",   "REQUEUE_HOLD", "SPECIAL_EXIT",
    "RESV_DEL_HOLD", "LAUNCH_FAILED", "RECONFIG_FAIL", "EXPEDITING"};
constexpr std::string_view words_for_none[] = {"(null)", "n/a", "none", "none assigned"};

std::string quote(std::string_view text) { return fmt::format("\"{}\"", ellipsize(printable(text), 60)); }

std::string lower(std::string_view text) {
    std::string small(text);
    for (char& c : small)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return small;
}

// "gpu gpu[01-04]" -> the first word, and what is behind it.
struct Line {
    std::string_view first, rest;
};

std::vector<Line> lines_of(std::string_view text) {
    std::vector<Line> lines;
    for (const auto whole : split(text, '\n')) {
        const auto line = trim(whole);
        if (line.empty()) continue;
        const auto blank = std::min(line.find(' '), line.size());
        lines.push_back({line.substr(0, blank), trim(line.substr(blank))});
    }
    return lines;
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

// "4242_7" and "4242+1" are a part of a job: what squeue says of the others of it is not asked for. By itself
// a number may be that of a part, which squeue then calls by the other name.
bool is_asked_for(std::string_view id, std::string_view job) {
    return job.find_first_of("_+") == std::string_view::npos || id == job;
}

class Union {
  public:
    void add(Names names) {
        for (std::string& name : names)
            if (seen_.insert(name).second) names_.push_back(std::move(name));
    }
    Names take() { return std::move(names_); }
    bool empty() const { return names_.empty(); }

  private:
    std::unordered_set<std::string> seen_;
    Names names_;
};

}  // namespace

Result<Names> slurm_nodes_in(std::string_view list, std::string_view who) {
    const auto text = trim(list);
    if (text.empty()) return fail("slurm", fmt::format("{}: no node is named", who));
    if (is_one_of(lower(text), words_for_none))
        return fail("slurm", fmt::format("{}: there are no nodes: {}", who, quote(text)));
    auto names = inventory::unfold(text);
    const auto no_host = [](const std::string& name) {
        return name.find(':') != std::string::npos || !inventory::check_host_name(name);
    };
    if (!names || std::ranges::any_of(*names, no_host))
        return fail("slurm", fmt::format("{}: {} is no list of nodes", who, quote(text)));
    return names;
}

Result<Names> nodes_of_job(std::string_view lines, const std::string& job) {
    Union nodes;
    std::set<std::string> states;
    for (const Line& line : lines_of(lines)) {
        if (line.first.find_first_not_of("0123456789") == 0)
            return fail("slurm", fmt::format("squeue: {} is no job", quote(line.first)));
        if (!is_asked_for(line.first, job)) continue;
        const auto blank = std::min(line.rest.find(' '), line.rest.size());
        const auto state = line.rest.substr(0, blank);
        states.emplace(state);
        if (is_one_of(state, other_states)) continue;
        if (!is_one_of(state, holding_states))
            return fail("slurm",
                        fmt::format("squeue, of job {}: the state {} is not known", job, quote(state)),
                        "name the hosts with -H or -l");
        auto names = slurm_nodes_in(line.rest.substr(blank), fmt::format("squeue, of job {}", job));
        if (!names) return names;
        nodes.add(std::move(*names));
    }
    if (states.empty())
        return fail("slurm", fmt::format("squeue shows no job {}", job),
                    "is it another cluster's, or long over?");
    if (nodes.empty())
        return fail("slurm", fmt::format("job {} has no nodes now: {}", job, fmt::join(states, ", ")),
                    "once it has ended they may be another job's: name the hosts with -H or -l");
    return nodes.take();
}

Result<Names> nodes_of_partitions(std::string_view lines, const Names& partitions, const Names& states) {
    Union nodes;
    std::set<std::string, std::less<>> found;
    for (const Line& line : lines_of(lines)) {
        if (std::ranges::find(partitions, line.first) == partitions.end())
            return fail("slurm", fmt::format("sinfo: {} was not asked for", quote(line.first)));
        if (line.rest.empty()) continue;
        auto names = slurm_nodes_in(line.rest, fmt::format("sinfo, of partition {}", printable(line.first)));
        if (!names) return names;
        found.emplace(line.first);
        nodes.add(std::move(*names));
    }
    for (const std::string& partition : partitions) {
        if (found.contains(partition)) continue;
        if (states.empty())
            return fail("slurm", fmt::format("sinfo shows no node of a partition {}", partition),
                        "`sinfo -a` lists the partitions");
        return fail("slurm",
                    fmt::format("sinfo shows no node of a partition {} that is {}", partition,
                                fmt::join(states, " or ")),
                    "leave the partition out; `sinfo -a` lists all and their states");
    }
    return nodes.take();
}

}  // namespace cleanslate::controller
