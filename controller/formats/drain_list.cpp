#include "controller/formats/drain_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "controller/formats/host_lists.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

constexpr std::string_view alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::size_t most_nodes = 1'000;  // one argument holds 128 KiB

// ALL, in any case, is every node to slurmctld.
bool is_node_name(std::string_view name) {
    constexpr std::string_view every = "all";
    const bool is_every =
        std::ranges::equal(name, every, [](char byte, char small) { return (byte | 0x20) == small; });
    return !name.empty() && !is_every && name.size() <= 255 &&
           alphanumeric.find(name.front()) != std::string_view::npos &&
           std::ranges::all_of(name, [](char byte) {
               return alphanumeric.find(byte) != std::string_view::npos || byte == '.' || byte == '_' ||
                      byte == '-';
           });
}

// No quote, no escape, nothing that a shell or Slurm's own parser reads as more than text.
std::string plain(std::string text) {
    for (char& byte : text)
        if (alphanumeric.find(byte) == std::string_view::npos &&
            std::string_view(" ,.:;_()/-").find(byte) == std::string_view::npos)
            byte = '?';
    if (text.size() > most_reason) text = text.substr(0, most_reason - 3) + "...";
    return text;
}

void add_once(std::vector<std::string>& words, std::string word) {
    if (!word.empty() && std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
    return text;
}

std::string codes_of(const std::vector<Finding>& findings) {
    std::vector<std::string> codes;
    for (const Finding& finding : findings)
        if (finding.severity != Severity::note) add_once(codes, finding.code);
    return joined(codes);
}

std::string why(const GpuVerdict& gpu) {
    std::vector<std::string> users;
    for (const Holder& holder : gpu.holders)
        if (!holder.is_protected) add_once(users, holder.user.empty() ? "somebody" : holder.user);
    std::vector<Finding> findings = gpu.findings;
    if (!users.empty())  // who it is says as much
        std::erase_if(findings,
                      [](const Finding& one) { return one.code == "held" || one.code == "memory-in-use"; });
    const std::string codes = codes_of(findings);
    if (!users.empty()) return "held by " + joined(users) + (codes.empty() ? "" : "; " + codes);
    if (!codes.empty()) return codes;
    return gpu.used ? fmt::format("{} MiB used", gpu.used->count) : std::string();
}

// "GPU 0-3,5"
std::string name_of(const std::vector<std::string>& indexes) {
    if (indexes.empty()) return "a GPU";
    std::string folded = inventory::fold(indexes);
    std::erase_if(folded, [](char byte) { return byte == '[' || byte == ']'; });
    return "GPU " + folded;
}

std::string of_gpus(const HostOutcome& host) {
    if (!host.last) return {};
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;
    for (const GpuVerdict& gpu : host.last->gpus) {
        if (!gpu.judged || gpu.verdict == Verdict::clean) continue;
        const std::string because = why(gpu);
        std::string key = std::string(to_string(gpu.verdict)) + (because.empty() ? "" : ": " + because);
        auto group = std::ranges::find(groups, key, [](const auto& one) { return one.first; });
        if (group == groups.end()) group = groups.insert(groups.end(), {std::move(key), {}});
        if (gpu.index) group->second.push_back(std::to_string(*gpu.index));
    }
    std::string text;
    for (const auto& [key, indexes] : groups)
        text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name_of(indexes), key);
    return text;
}

std::string of_host(const HostOutcome& host) {
    std::string codes = codes_of(findings_of(host));
    if (codes.empty() && host.error) {
        codes = host.error->kind;
        std::ranges::replace(codes, '_', '-');
    }
    return std::string(to_string(host.verdict)) + (codes.empty() ? "" : ": " + codes);
}

// As --not-clean-hosts slurm= writes them.
std::string folded_for_slurm(const std::vector<std::string>& names) {
    Report report;
    report.command = "check";
    for (const std::string& name : names) report.result.hosts.emplace_back().name = name;
    std::string text = host_list(report, false, ListForm::slurm).text;
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

}  // namespace

std::string DrainLine::command() const {
    const std::string_view quote = nodes.find('[') == std::string::npos ? "" : "'";  // a shell's pattern else
    return fmt::format("scontrol update NodeName={0}{1}{0} State=DRAIN Reason='{2}'", quote, nodes, reason);
}

std::string drain_reason(const HostOutcome& host) {
    const std::string gpus = of_gpus(host);
    const bool says_more = gpus.empty() || !codes_of(findings_of(host)).empty();
    return plain("cleanslate: " + gpus + (gpus.empty() || !says_more ? "" : "; ") +
                 (says_more ? of_host(host) : ""));
}

DrainList drain_list(const Report& report, const std::set<Verdict>& verdicts) {
    DrainList list;
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;
    std::map<std::string, std::size_t> places;
    for (const HostOutcome& host : report.result.hosts) {
        const auto verdict = verdict_of(report, host);
        if (!verdict || *verdict == Verdict::clean || !verdicts.contains(*verdict)) continue;
        if (!is_node_name(host.name)) {
            list.left_out.push_back(printable(host.name));
            continue;
        }
        const std::string reason = drain_reason(host);
        const auto [place, fresh] = places.emplace(reason, groups.size());
        if (!fresh && groups[place->second].second.size() >= most_nodes) place->second = groups.size();
        if (place->second == groups.size()) groups.push_back({reason, {}});
        groups[place->second].second.push_back(host.name);
    }
    for (const auto& [reason, names] : groups) {
        const std::string nodes = folded_for_slurm(names);
        if (nodes.empty())  // none of them has a number that Slurm can count with
            for (const std::string& name : names) list.left_out.push_back(printable(name));
        else
            list.lines.push_back({nodes, reason});
    }
    return list;
}

}  // namespace cleanslate::controller
