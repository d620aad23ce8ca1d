#pragma once
// What a report is made from, and the numbers that stand above it.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "agentless/fleet.hpp"
#include "agentless/outcome.hpp"
#include "base/units.hpp"
#include "controller/shard.hpp"

namespace cleanslate::controller {

struct Report {
    std::string command;         // "check", "clear", "run", "parse"
    std::string playbook;        // empty: none
    std::string inventory;       // as given; "-": stdin; empty: -H or --local
    std::string limit;           // -l, or the targets of -H; empty: none
    std::optional<Share> share;  // --shard: the hosts are a part of these
    std::string started;         // RFC 3339
    Milliseconds took{0};
    bool dry_run = false;             // nothing was signalled and nothing run
    bool declined = false;            // somebody said no to the plan
    bool plan_shown = false;          // the reader has just seen it: text does not repeat it
    bool local = false;               // no SSH: hosts have no port
    std::optional<int> expect_hosts;  // so many clean ones are enough
    int exit_status = 0;
    agentless::SweepResult result;  // the hosts, in the order of the inventory
    bool is_run() const { return command == "run"; }
};

// How a host's ad-hoc command went.
enum class Asked { ok, failed, not_asked };
Asked asked(const agentless::HostOutcome& host);

// What the report says about a host. Absent for a host that was only asked to run a command: nothing was
// surveyed.
std::optional<agentless::Verdict> verdict_of(const Report& report, const agentless::HostOutcome& host);

// Its verdict is of some GPUs alone (`gpus` of a playbook's verify step), and of the others not all are
// clean.
bool is_clean_in_part(const agentless::HostOutcome& host);

// Never begun: its verdict is unknown for no fault of its own.
bool not_tried(const agentless::HostOutcome& host);

struct Summary {
    std::optional<agentless::Verdict> verdict;  // the worst; absent: no host was surveyed
    std::array<std::size_t, 5> hosts{};         // by Verdict
    std::array<std::size_t, 5> gpus{};          // by Verdict; never unreachable
    std::array<std::size_t, 3> asked{};         // by Asked; of `run`
};
Summary summarize(const Report& report);

// The findings of the last survey, then those of the host's whole course.
std::vector<agentless::Finding> findings_of(const agentless::HostOutcome& host);

// Whether the finding says no more than the host's error, which is shown in any case.
bool repeats_error(const agentless::HostOutcome& host, const agentless::Finding& finding);

// A shell command as it may be shown and stored: secrets masked unless raw commands were asked for.
std::string shown_command(const std::string& command, bool raw);

// Masks the secrets in the command lines of all processes: those of a report that was written with them, and
// is not to be shown with them.
void mask_commands(Report& report);

// Meant to be done, and stopped right before.
bool was_not_sent(const agentless::CommandAction& action);

// In the plan of a dry run, and not withheld.
bool is_planned(const agentless::CommandAction& action);

// True if anything that would be done stands in the host's plan.
bool has_plan(const agentless::HostOutcome& host);

// True if anything of it would be withheld: its steps say what and why.
bool has_withheld(const agentless::HostOutcome& host);

}  // namespace cleanslate::controller
