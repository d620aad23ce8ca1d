#include "agentless/nvidia_smi_repair.hpp"

#include <algorithm>
#include <string>

#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::uint64_t most_pid = 4'194'304;  // PID_MAX_LIMIT on 64-bit Linux

bool is_pid(std::string_view token) {
    if (token.empty() || token.front() == '0') return false;
    const auto number = parse_number(token);
    return number && *number <= most_pid;
}

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> found;
    for (std::size_t at = text.find_first_not_of(" \t"); at != std::string_view::npos;) {
        const auto end = text.find_first_of(" \t", at);
        found.push_back(text.substr(at, end - at));
        at = end == std::string_view::npos ? end : text.find_first_not_of(" \t", end);
    }
    return found;
}

// The one index of 0 to rows-1 that no row but the first has.
std::optional<int> missing_index(const std::vector<GpuRow>& rows) {
    std::vector<bool> seen(rows.size(), false);
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const auto index = rows[i].index;
        if (!index || static_cast<std::size_t>(*index) >= rows.size()) return std::nullopt;
        if (seen[static_cast<std::size_t>(*index)]) return std::nullopt;
        seen[static_cast<std::size_t>(*index)] = true;
    }
    return static_cast<int>(std::ranges::find(seen, false) - seen.begin());
}

}  // namespace

bool repair_fused_row(std::vector<GpuRow>& rows, std::string_view fused, std::optional<int> expected) {
    if (rows.empty() || rows.front().index || fused.empty()) return false;
    if (expected && (*expected < 0 || static_cast<std::size_t>(*expected) != rows.size())) return false;
    const auto missing = missing_index(rows);
    if (!missing) return false;
    auto pids = words(fused);
    const auto last = pids.back();
    pids.pop_back();
    if (pids.empty() || !std::ranges::all_of(pids, is_pid)) return false;
    const std::string rest = std::to_string(*missing);
    const bool fits = std::ranges::any_of(pids, [&](std::string_view pid) {
        return last.size() == pid.size() + rest.size() && last.starts_with(pid) && last.ends_with(rest);
    });
    if (!fits) return false;
    auto& first = rows.front();
    first.index = missing;
    first.repaired = true;
    std::erase_if(first.troubles, [](const DriverMessage& trouble) { return trouble.code == "row-fused"; });
    return true;
}

}  // namespace cleanslate::agentless
