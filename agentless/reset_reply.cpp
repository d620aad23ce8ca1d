#include "agentless/reset_reply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agentless/findings.hpp"
#include "agentless/nvidia_smi_cells.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

constexpr int no_permission = 4;
constexpr std::size_t longest_text = 160;

// In lower case. nvidia-smi words its refusals a little differently from version to version.
struct Refusal {
    std::string_view words;
    std::string_view code;
};
constexpr std::array<Refusal, 12> refusals{{
    {"insufficient permission", "reset-not-permitted"},
    {"permission denied", "reset-not-permitted"},
    {"no permission", "reset-not-permitted"},
    {"in use by another", "reset-in-use"},  // client, process
    {"being used by", "reset-in-use"},
    {"currently in use", "reset-in-use"},
    {"primary gpu", "reset-unsupported"},
    {"not supported", "reset-unsupported"},
    {"unsupported", "reset-unsupported"},
    {"could not be reset", "reset-failed"},
    {"couldn't run", "reset-failed"},
    {"unable to reset", "reset-failed"},
}};

// Its lines in one, without the empty ones.
std::string in_one_line(std::string_view text) {
    std::string line;
    for (const auto part : split(text, '\n'))
        if (const auto words = trim(part); !words.empty()) line.append(line.empty() ? "" : " ").append(words);
    return line;
}

std::string_view code_of(const std::string& text) {
    const auto low = lowered(text);
    const auto found = std::ranges::find_if(
        refusals, [&](const Refusal& refusal) { return low.find(refusal.words) != std::string::npos; });
    return found == refusals.end() ? std::string_view{} : found->code;
}

std::string how_it_ended(const std::optional<int>& status) {
    return status ? fmt::format("ended with status {}", *status) : "was not seen to end";
}

}  // namespace

std::optional<Finding> finding_of_reset(const ResetReport::Gpu& gpu, std::optional<int> index) {
    const auto text = in_one_line(gpu.text);
    auto code = code_of(text);
    if (gpu.status == 0 && code.empty()) return std::nullopt;
    // What had no end may have come to more than it said.
    if (!gpu.status) code = "reset-failed";
    if (gpu.status == no_permission && code.empty()) code = "reset-not-permitted";
    if (code.empty()) code = "reset-failed";
    const auto who = index ? fmt::format("GPU {}", *index) : "GPU " + printable(gpu.bus_id);
    const auto how = fmt::format("nvidia-smi --gpu-reset {}", how_it_ended(gpu.status));
    return finding(code, fmt::format("{}: {}{}", who, how,
                                     text.empty() ? "" : ": " + ellipsize(printable(text), longest_text)));
}

std::vector<Finding> findings_of_daemons(const ResetReport& report) {
    std::vector<Finding> findings;
    for (const auto& unit : report.units)
        if (unit.was_active && unit.start_status != 0)
            findings.push_back(finding(
                "daemon-not-restarted",
                fmt::format("{} ran before the reset, and systemctl start {}", printable(unit.name),
                            unit.start_status ? fmt::format("ended with status {}", *unit.start_status)
                                              : "gave no answer")));
    return findings;
}

}  // namespace cleanslate::agentless
