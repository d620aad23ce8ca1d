#include "controller/formats/host_lists.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "inventory/names.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using agentless::GpuVerdict;
using agentless::HostOutcome;
using agentless::Verdict;

// Slurm takes no more hosts in one pair of brackets (MAX_RANGE), and no longer numbers there.
constexpr std::size_t most_in_brackets = 60'000;
constexpr std::size_t most_digits = 18;

struct Entry {
    std::string name;
    std::size_t clean_gpus = 0;
};

std::set<std::string> clean_names(const Report& report) {
    std::set<std::string> names, others;
    for (const HostOutcome& host : report.result.hosts)
        (is_listed_clean(report, host) ? names : others).insert(host.name);
    for (const std::string& name : others) names.erase(name);
    return names;
}

std::size_t clean_gpus_of(const HostOutcome& host) {
    if (!host.last) return 0;
    return static_cast<std::size_t>(std::ranges::count_if(
        host.last->gpus, [](const GpuVerdict& gpu) { return gpu.judged && gpu.verdict == Verdict::clean; }));
}

// In the order of the report, each name once; of several hosts with one name, the fewest GPUs.
std::vector<Entry> entries_of(const Report& report, bool clean) {
    const std::set<std::string> cleans = clean_names(report);
    std::vector<Entry> entries;
    std::map<std::string, std::size_t> places;
    for (const HostOutcome& host : report.result.hosts) {
        if (cleans.contains(host.name) != clean) continue;
        const auto [place, fresh] = places.emplace(host.name, entries.size());
        if (fresh) entries.push_back({host.name, clean_gpus_of(host)});
        std::size_t& gpus = entries[place->second].clean_gpus;
        gpus = std::min(gpus, clean_gpus_of(host));
    }
    return entries;
}

std::string_view digits_at_the_end(std::string_view name) {
    const auto last = name.find_last_not_of("0123456789");
    return name.substr(last == std::string_view::npos ? 0 : last + 1);
}

// What an inventory takes as a name has no brackets, commas, blanks or signs; a report that was read from a
// file may have any name.
bool can_be_written(std::string_view name, ListForm form) {
    if (!inventory::check_host_name(name)) return false;
    switch (form) {
        case ListForm::slurm: {
            // It reads the number at a name's end into 64 bits, and writes it back.
            const auto digits = digits_at_the_end(name);
            return digits.size() <= most_digits || parse_number(digits).has_value();
        }
        case ListForm::mpi:
            return name.find('%') == std::string_view::npos;
        case ListForm::ansible:  // they are groups there, of all hosts
            return name != "all" && name != "ungrouped";
        case ListForm::plain:
        case ListForm::folded:
            break;
    }
    return true;
}

// Slurm's brackets stand at the end of a name alone: "r1n[01-04]", and names with something behind their
// number one by one.
std::string slurm_list(const std::vector<std::string>& names) {
    struct Group {
        std::string prefix;
        std::vector<std::string> tails;
    };
    std::vector<Group> groups;
    std::map<std::string, std::size_t> places;  // of the group that still takes tails, by prefix
    for (const std::string& name : names) {
        std::string_view tail = digits_at_the_end(name);
        if (tail.size() > most_digits) tail = {};
        const std::string prefix = name.substr(0, name.size() - tail.size());
        if (tail.empty()) {
            groups.push_back({name, {}});
            continue;
        }
        const auto [place, fresh] = places.emplace(prefix, groups.size());
        if (!fresh && groups[place->second].tails.size() >= most_in_brackets) place->second = groups.size();
        if (place->second == groups.size()) groups.push_back({prefix, {}});
        groups[place->second].tails.emplace_back(tail);
    }
    std::string list;
    for (const Group& group : groups)
        list += (list.empty() ? "" : ",") + group.prefix +
                (group.tails.empty() ? "" : inventory::fold(group.tails));
    return list;
}

std::string text_of(const std::vector<Entry>& entries, ListForm form) {
    std::vector<std::string> names;
    for (const Entry& entry : entries) names.push_back(entry.name);
    if (form == ListForm::folded) return inventory::fold(names) + '\n';
    if (form == ListForm::slurm) return slurm_list(names) + '\n';
    std::string text;
    for (const Entry& entry : entries)
        text += form == ListForm::mpi ? fmt::format("{} slots={}\n", entry.name, entry.clean_gpus)
                                      : entry.name + '\n';
    return text;
}

}  // namespace

bool is_listed_clean(const Report& report, const HostOutcome& host) {
    return verdict_of(report, host) == Verdict::clean && !is_clean_in_part(host);
}

HostList host_list(const Report& report, bool clean, ListForm form) {
    HostList list;
    std::vector<Entry> entries = entries_of(report, clean);
    if (clean && form == ListForm::mpi)
        std::erase_if(entries, [](const Entry& entry) { return entry.clean_gpus == 0; });
    std::erase_if(entries, [&](const Entry& entry) {
        if (can_be_written(entry.name, form)) return false;
        list.left_out.push_back(printable(entry.name));
        return true;
    });
    list.text = entries.empty() ? empty_host_list(form) : text_of(entries, form);
    return list;
}

std::string empty_host_list(ListForm form) {
    // ansible takes an empty file, or one of exclusions alone, for all hosts, less the exclusions.
    return form == ListForm::ansible ? "!all\n" : "";
}

std::size_t count_listed_clean(const Report& report) { return clean_names(report).size(); }

}  // namespace cleanslate::controller
