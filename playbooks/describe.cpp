// Names for steps that have none.
#include <fmt/format.h>

#include "base/text.hpp"
#include "playbooks/steps.hpp"

namespace cleanslate::playbooks {
namespace {

constexpr std::size_t max_columns = 200;  // as of a name that a file gives

std::string joined(const std::vector<std::string>& words, std::string_view between = ", ") {
    std::string out;
    for (const auto& word : words) {
        if (!out.empty()) out += between;
        out += ellipsize(printable(word), 40);
    }
    return out;
}

// "in no slurm job", "in unit ollama.service", "in a pod or none".
std::string in_owner(std::string_view kind, const std::vector<std::string>& owners) {
    std::string out;
    for (const auto& owner : owners) {
        out += out.empty() ? " in " : " or ";
        if (owner == "none")
            out += fmt::format("no {}", kind);
        else if (owner == "any")
            out += fmt::format("any {}", kind);
        else
            out += fmt::format("{} {}", kind, ellipsize(printable(owner), 40));
    }
    return out;
}

std::string describe_patterns(const Match& match) {
    std::string out;
    const auto add = [&](std::string_view key, const std::vector<std::string>& patterns) {
        for (std::size_t i = 0; i < patterns.size(); ++i)
            out += fmt::format("{} '{}'", i == 0 ? fmt::format(" with {}", key) : " or",
                               ellipsize(printable(patterns[i]), 40));
    };
    add("cmdline", match.cmdline);
    add("name", match.name);
    add("exe", match.exe);
    add("cgroup", match.cgroup);
    if (!match.not_cgroup.empty())
        out += fmt::format(" without cgroup '{}'", joined(match.not_cgroup, "' or '"));
    for (std::size_t i = 0; i < match.pid.size(); ++i)
        out += fmt::format("{} {}", i == 0 ? " with pid" : " or", match.pid[i]);
    return out;
}

std::string describe_match(const Match& match) {
    std::string out = match.orphaned ? "orphaned " : "";
    out += match.holding_gpu || !match.gpus.empty() ? "holders" : "processes";
    if (!match.gpus.empty()) out += " of GPU " + joined(match.gpus);
    if (!match.user.empty()) out += " of user " + joined(match.user, " or ");
    if (!match.not_user.empty()) out += " not of user " + joined(match.not_user, " or ");
    if (match.uid_at_least) out += fmt::format(" with uid {} or more", *match.uid_at_least);
    out += describe_patterns(match);
    if (match.older_than) out += " older than " + format_duration(*match.older_than);
    if (match.used_at_least) out += fmt::format(" with {} MiB or more", match.used_at_least->count);
    out += in_owner("slurm job", match.slurm_job) + in_owner("pod", match.pod) +
           in_owner("container", match.container) + in_owner("unit", match.unit);
    if (match.tree) out += " and their launchers";
    if (match.descendants) out += " and their descendants";
    return out;
}

struct Describe {
    std::string operator()(const SignalStep& step) const {
        return step.signal_name + " " + describe_match(step.match);
    }
    std::string operator()(const StopStep& step) const {
        std::vector<std::string> kinds;
        if (step.units) kinds.emplace_back("units");
        if (step.containers) kinds.emplace_back("containers");
        if (step.slurm_jobs) kinds.emplace_back("slurm jobs");
        if (step.mps) kinds.emplace_back("MPS");
        return fmt::format("stop {} of {}", joined(kinds), describe_match(step.match));
    }
    std::string operator()(const RunStep& step) const {
        const std::string_view line = trim(step.command);
        const std::string_view when = step.when == RunStep::When::before  ? "before: "
                                      : step.when == RunStep::When::after ? "after: "
                                                                          : "";
        return fmt::format("{}run {}", when, ellipsize(printable(line.substr(0, line.find('\n'))), 60));
    }
    std::string operator()(const VerifyStep& step) const {
        return step.gpus.empty() ? "verify" : "verify GPU " + joined(step.gpus);
    }
    std::string operator()(const ResetStep& step) const {
        return step.daemons.empty() ? "reset GPUs" : "reset GPUs without " + joined(step.daemons);
    }
    std::string operator()(const RebootStep&) const { return "reboot"; }
    std::string operator()(const CleanShmStep& step) const {
        return "clean /dev/shm of " + joined(step.names);
    }
};

}  // namespace

std::string describe(const Action& action) { return ellipsize(std::visit(Describe{}, action), max_columns); }

}  // namespace cleanslate::playbooks
