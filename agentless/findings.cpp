#include "agentless/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::size_t longest_text = 400;  // code points
constexpr std::size_t most_of_one_code = 4;
constexpr std::size_t most_names = 3;

}  // namespace

std::string severities_of(const FindingKind& kind) {
    const std::string usual(to_string(kind.severity));
    return kind.sometimes ? fmt::format("{} or {}", usual, to_string(*kind.sometimes)) : usual;
}

Finding finding(std::string_view code, Severity severity, std::string_view text) {
    Finding made{severity, std::string(code), ellipsize(printable(text), longest_text), {}};
    const auto& kinds = finding_kinds();
    const auto kind = std::ranges::find(kinds, code, &FindingKind::code);
    if (kind != kinds.end()) made.remedy = kind->remedy;
    return made;
}

Finding finding(std::string_view code, std::string_view text) {
    const auto& kinds = finding_kinds();
    const auto kind = std::ranges::find(kinds, code, &FindingKind::code);
    return finding(code, kind == kinds.end() ? Severity::unknown : kind->severity, text);
}

void Findings::add(Finding finding) {
    const auto alike = [&](const Finding& f) {
        return f.code == finding.code && f.severity == finding.severity;
    };
    std::size_t same_code = 0;
    for (const auto& there : out_) {
        if (!alike(there)) continue;
        if (there.text == finding.text) return;
        ++same_code;
    }
    if (same_code < most_of_one_code) {
        out_.push_back(std::move(finding));
        return;
    }
    for (auto& [first, count] : folded_)
        if (alike(first)) {
            ++count;
            return;
        }
    folded_.emplace_back(std::move(finding), 1);
}

Findings::~Findings() {
    for (auto& [first, count] : folded_) {
        if (count > 1) first.text = fmt::format("and {} more of the kind", count);
        out_.push_back(std::move(first));
    }
}

std::string name_of(const Holder& holder) {
    if (!holder.exe) return fmt::format("pid {}", holder.key.pid);
    const auto slash = holder.exe->rfind('/');
    return fmt::format("pid {} ({})", holder.key.pid,
                       slash == std::string::npos ? *holder.exe : holder.exe->substr(slash + 1));
}

std::string names_of(const std::vector<const Holder*>& holders) {
    std::string names;
    for (std::size_t i = 0; i < holders.size() && i < most_names; ++i)
        names += (i == 0 ? "" : ", ") + name_of(*holders[i]);
    if (holders.size() > most_names) names += fmt::format(" and {} more", holders.size() - most_names);
    return names;
}

}  // namespace cleanslate::agentless
