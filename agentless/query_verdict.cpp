#include "agentless/query_verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "agentless/nvidia_smi.hpp"
#include "agentless/sight.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace cleanslate::agentless {
namespace {

// Statuses that are about the whole command, whatever else is the matter with some GPU.
bool is_about_the_command(int status) {
    constexpr std::array statuses{2, 4, 9, 12, 13, 18, 124, 126, 127, 137};
    return std::ranges::find(statuses, status) != statuses.end();
}

// A message that says why the whole command failed. It makes the host unknown by itself.
bool is_of_the_command(const DriverMessage& message) {
    constexpr std::array<std::string_view, 11> codes{
        "driver-not-loaded", "driver-mismatch", "driver-interrupt",  "nvml-failed",
        "nvml-missing",      "unknown-field",   "bad-arguments",     "container-device-cgroup",
        "no-devices",        "not-available",   "permission-refused"};
    return message.bus_id.empty() &&
           (message.trouble == Trouble::unreadable || message.trouble == Trouble::refused) &&
           std::ranges::find(codes, message.code) != codes.end();
}

// Sick GPUs are named, every expected one is accounted for, and nothing else was said.
bool explained_by_sick_gpus(const Evidence& evidence, const Placement& placement, int status) {
    if (is_about_the_command(status) || !placement.accounted) return false;
    if (!placement.unplaced.empty() && !placement.narrowed) return false;
    if (!std::ranges::any_of(placement.slots, is_sick)) return false;
    return std::ranges::all_of(evidence.messages, [](const DriverMessage& message) {
        return message.trouble == Trouble::none || message.trouble == Trouble::sick;
    });
}

// By its row, or by what another query than the compute-apps one printed.
bool is_sick_elsewhere(Slot slot, const Evidence& evidence) {
    std::erase_if(slot.named, [&](const DriverMessage* message) {
        return std::ranges::find(evidence.app_problems, message->text) != evidence.app_problems.end();
    });
    return is_sick(slot);
}

std::string stuck_names(const Evidence& evidence) {
    std::vector<std::string> names;
    for (const auto pid : evidence.stuck) names.push_back(stuck_name(pid, evidence));
    return fmt::format("nvidia-smi hangs in the kernel: {}", fmt::join(names, ", "));
}

// Whether the tool came to an end of its own; if not, why.
bool ran(const ToolResult& tool, std::string_view what, const Evidence& evidence, Findings& findings) {
    if (tool.timed_out)
        findings.add(finding("driver-hung", hung(what, tool, evidence)));
    else if (tool.missing)
        findings.add(finding("nvidia-smi-missing", "nvidia-smi was not found or could not be run"));
    else if (!tool.exit_status)
        findings.add(finding("nvidia-smi-cut", fmt::format("{} did not run to its end", what)));
    else
        return true;
    return false;
}

// A status alone is never more than unknown: a code that means more when a message names a GPU is not used
// for it.
Finding finding_of_status(int status, std::string_view what) {
    const std::string text = fmt::format("{} ended with status {}", what, status);
    auto made = finding(code_for_status(status), text);
    return made.severity == Severity::unknown ? made : finding("nvidia-smi-failed", text);
}

}  // namespace

std::string hung(std::string_view what, const ToolResult& tool, const Evidence& evidence) {
    const bool begun = tool.took || evidence.stuck.empty();
    auto text = !begun      ? fmt::format("{} was not asked", what)
                : tool.took ? fmt::format("{} did not end within {}", what, format_duration(*tool.took))
                            : fmt::format("{} did not end within its time", what);
    return evidence.stuck.empty() ? text : text + "; " + stuck_names(evidence);
}

void judge_stuck(const Evidence& evidence, Findings& findings) {
    if (evidence.stuck.empty()) return;
    for (const auto* tool :
         {&evidence.gpu_query, &evidence.app_query, &evidence.optional_query, &evidence.list_query})
        if (tool->timed_out) return;  // said there
    findings.add(finding("driver-hung", stuck_names(evidence)));
}

void judge_query(const Evidence& evidence, const Placement& placement, Findings& findings) {
    constexpr std::string_view what = "the GPU query of nvidia-smi";
    if (!ran(evidence.gpu_query, what, evidence, findings)) return;
    const int status = *evidence.gpu_query.exit_status;
    if (status == 0 || explained_by_sick_gpus(evidence, placement, status)) return;
    auto ended = finding_of_status(status, what);
    // Where what it printed says so or says more, that is said, in its own words.
    const bool vague = ended.code == "nvidia-smi-failed" || ended.code == "bad-arguments";
    const bool said = std::ranges::any_of(evidence.messages, [&](const DriverMessage& message) {
        return (vague && is_of_the_command(message)) ||
               (message.code == ended.code &&
                (message.trouble == Trouble::unreadable || message.trouble == Trouble::refused));
    });
    if (!said) findings.add(std::move(ended));
}

bool failed_as_a_whole(const Evidence& evidence) {
    const auto& tool = evidence.gpu_query;
    if (!evidence.gpus.empty()) return false;
    return tool.missing || tool.timed_out || tool.exit_status.value_or(0) != 0 ||
           std::ranges::any_of(evidence.messages, is_of_the_command);
}

void judge_messages(const Evidence& evidence, const Placement& placement, Findings& findings) {
    const auto is_of_a_gpu = [&](const DriverMessage& message) {
        return std::ranges::any_of(placement.slots, [&](const Slot& slot) {
            return std::ranges::find(slot.unclear, &message) != slot.unclear.end();
        });
    };
    for (const auto& message : evidence.messages)
        if (is_unclear(message) && !is_of_a_gpu(message))
            findings.add(finding(message.code, Severity::unknown, message.text));
    for (const auto* message : placement.unplaced) findings.add(finding(message->code, message->text));
}

void judge_apps(const Evidence& evidence, const Placement& placement, Findings& findings) {
    constexpr std::string_view what = "the compute-apps query of nvidia-smi";
    // Where the first query came to no end, the second was not asked; the host is unknown already.
    if (evidence.gpu_query.missing || evidence.gpu_query.timed_out) return;
    const bool sick = std::ranges::any_of(
        placement.slots, [&](const Slot& slot) { return is_sick_elsewhere(slot, evidence); });
    if (!ran(evidence.app_query, what, evidence, findings)) return;
    if (failed_as_a_whole(evidence) && evidence.app_query.exit_status == evidence.gpu_query.exit_status &&
        evidence.apps.empty())
        return;
    const int status = *evidence.app_query.exit_status;
    // A sick GPU makes this query fail as well; its verdict is there already, and what was listed is used.
    if (status != 0 && (!sick || is_about_the_command(status))) findings.add(finding_of_status(status, what));
    for (const auto& problem : evidence.app_problems) {
        const auto message = classify_line(problem);
        // Here a line of nothing but numbers is no leftover of another tool: it may be a row that was cut.
        const bool harmless = message.trouble == Trouble::none && message.code != "pids";
        // What says that a GPU is sick counts there (Placement::overheard).
        if (harmless || message.trouble == Trouble::sick) continue;
        findings.add(finding("apps-unreadable", message.text));
    }
}

// The rest of a name is that of a holder that is listed: where it is what speaks against the host, the line
// is only told. Where nothing else does, it may as well be a message that is not known here.
void judge_name_rests(const Evidence& evidence, bool otherwise_clean, Findings& findings) {
    for (const auto& rest : evidence.app_name_rests) {
        const auto who = rest.pid ? fmt::format("pid {}", *rest.pid) : "a holder without its pid";
        findings.add(finding("app-name-broken", otherwise_clean ? Severity::unknown : Severity::note,
                             fmt::format("the name of {} holds a line break, as it seems: it goes on with {}",
                                         who, ellipsize(printable(rest.text), 80))));
    }
}

}  // namespace cleanslate::agentless
