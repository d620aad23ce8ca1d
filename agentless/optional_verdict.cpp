#include "agentless/optional_verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "agentless/nvidia_smi.hpp"
#include "agentless/query_verdict.hpp"

namespace cleanslate::agentless {
namespace {

constexpr Milliseconds slow{5'000};

constexpr std::string_view optional_name = "the optional query of nvidia-smi";
constexpr std::string_view list_name = "nvidia-smi -L";

bool is_slow(const ToolResult& tool) { return !tool.timed_out && tool.took && *tool.took >= slow; }

// Where the core queries took long, no time was left. Else it was not wanted, as between two signals.
bool lacked_time(const Evidence& evidence) {
    return is_slow(evidence.gpu_query) || is_slow(evidence.app_query) || evidence.app_query.timed_out;
}

void judge_end(const ToolResult& tool, std::string_view what, const Evidence& evidence, bool any_sick,
               Findings& findings) {
    const auto note = [&](std::string_view why) {
        findings.add(finding("optional-not-read", fmt::format("{} {}", what, why)));
    };
    if (tool.timed_out) {
        if (evidence.stuck.empty())
            note("did not end within its time");
        else
            findings.add(finding("driver-hung", hung(what, tool, evidence)));
    } else if (tool.missing) {
        note("could not be run");
    } else if (tool.skipped) {
        if (lacked_time(evidence)) note("was not asked: no time was left");
    } else if (tool.exit_status.value_or(0) != 0 && !any_sick) {
        // A sick GPU makes these fail as well, and it is named already.
        note(fmt::format("ended with status {}", *tool.exit_status));
    }
}

// A line that says of a GPU that it is sick counts there (Placement::overheard).
void judge_problems(const std::vector<std::string>& problems, std::string_view what, Findings& findings) {
    for (const auto& problem : problems) {
        const auto message = classify_optional_line(problem);
        if (message.trouble == Trouble::sick || message.code == "continued") continue;
        findings.add(finding("optional-not-read", fmt::format("{} printed: {}", what, message.text)));
    }
}

void judge_speed(const Evidence& evidence, Findings& findings) {
    const std::array<std::pair<const ToolResult*, std::string_view>, 4> tools{
        {{&evidence.gpu_query, "the GPU query"},
         {&evidence.app_query, "the compute-apps query"},
         {&evidence.optional_query, "the optional query"},
         {&evidence.list_query, list_name}}};
    std::vector<std::string> slow_ones;
    for (const auto& [tool, name] : tools)
        if (is_slow(*tool))
            slow_ones.push_back(fmt::format("{} took {}", name, format_duration(*tool->took)));
    if (!slow_ones.empty())
        findings.add(finding("driver-slow", fmt::format("{}", fmt::join(slow_ones, ", "))));
}

}  // namespace

void judge_optional(const Evidence& evidence, const Placement& placement, Findings& findings) {
    const bool any_sick = std::ranges::any_of(placement.slots, is_sick);
    // Where the core query showed no GPU, these have nothing to say of one.
    if (!evidence.gpus.empty() || !evidence.stuck.empty()) {
        judge_end(evidence.optional_query, optional_name, evidence, any_sick, findings);
        judge_end(evidence.list_query, list_name, evidence, any_sick, findings);
    }
    if (!evidence.gpus.empty()) {
        judge_problems(evidence.optional_problems, optional_name, findings);
        judge_problems(evidence.list_problems, list_name, findings);
    }
    if (!evidence.unknown_fields.empty())
        findings.add(finding(
            "unknown-optional-field",
            fmt::format("not known to this nvidia-smi: {}", fmt::join(evidence.unknown_fields, ", "))));
    judge_speed(evidence, findings);
}

}  // namespace cleanslate::agentless
