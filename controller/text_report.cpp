#include "controller/text_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/units.hpp"
#include "controller/exit_status.hpp"
#include "controller/folded_notes.hpp"
#include "controller/host_block.hpp"
#include "controller/plan_view.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

// Hosts of which the same is to be said, in the order of the report.
struct Group {
    std::vector<const HostOutcome*> hosts;
    std::vector<std::string> names() const {
        std::vector<std::string> list;
        for (const HostOutcome* host : hosts) list.push_back(host->name);
        return list;
    }
    Milliseconds longest() const {
        Milliseconds longest{0};
        for (const HostOutcome* host : hosts) longest = std::max(longest, host->took);
        return longest;
    }
};

Span folded_names(const Group& group) {
    const std::string names = inventory::fold(group.names());
    const std::string text =
        group.hosts.size() == 1 ? names : fmt::format("{} ({})", names, group.hosts.size());
    return {text, Style::bold, Breaks::at_commas_too};
}

// `parse` only: rows that are known by taking a printed pid off their front.
std::string repaired_text(const HostOutcome& host) {
    std::vector<int> indexes;
    if (host.last)
        for (const GpuVerdict& gpu : host.last->gpus)
            if (gpu.repaired && gpu.index) indexes.push_back(*gpu.index);
    if (indexes.empty()) return {};
    return fmt::format("GPU {} is repaired: its row was fused to printed pids", fold_numbers(indexes));
}

// What a clean host has to say besides being clean: its notes and the work done; equal keys share a line.
// Notes are the same by code: their texts may differ by a number alone.
std::string key_of_clean(const HostOutcome& host) {
    std::string key = work_text(host) + repaired_text(host);
    for (const Finding& finding : findings_of(host)) key += "\n" + finding.code;
    return key;
}

void write_clean_group(Page& page, const Group& group) {
    const HostOutcome& host = *group.hosts.front();
    std::vector<Span> line{folded_names(group), {" "}, word_of(Verdict::clean)};
    if (const std::string work = work_text(host); !work.empty())
        line.push_back({": " + work + (group.hosts.size() == 1 ? "; " : "; at most ") +
                        format_duration(group.longest())});
    page.flow(0, 4, line);
    page.wrapped(4, repaired_text(host));
    write_findings(page, 4, folded_findings(group.hosts));
}

// Nothing is known of it but its error, so that hosts with the same one can share a line.
bool is_error_only(const HostOutcome& host) {
    const auto repeats = [&](const Finding& finding) { return repeats_error(host, finding); };
    return host.error && !host.last && host.signals.empty() && host.commands.empty() &&
           std::ranges::all_of(host.findings, repeats);
}

std::string key_of_error(const HostOutcome& host) {
    const Error& error = *host.error;
    return std::string(to_string(host.verdict)) + '\n' + error.phase + '\n' + error.message + '\n' +
           error.remedy;
}

void write_error_group(Page& page, const Group& group) {
    const HostOutcome& host = *group.hosts.front();
    const std::string text = error_text(*host.error);
    const Span names = folded_names(group);
    const std::string word(to_string(host.verdict));
    if (width_of(names.text) + word.size() + 3 + width_of(printable(text)) <= page.columns()) {
        page.line(0, {names, {" "}, word_of(host.verdict), {": " + text}});
    } else {
        page.flow(0, 4, {names, {" "}, word_of(host.verdict), {":"}});
        page.wrapped(4, text);
    }
    if (!host.error->remedy.empty()) page.wrapped(4, "-> " + host.error->remedy, Style::dim);
}

void write_host(Page& page, const HostOutcome& host, bool raw_commands) {
    page.flow(0, 4,
              {{host.name, Style::bold}, {" "}, word_of(host.verdict), {", " + format_duration(host.took)}});
    write_host_details(page, host, raw_commands);
}

// Groups in the order in which each has its first host.
template <class Key>
std::vector<Group> group_by(const std::vector<const HostOutcome*>& hosts, Key key) {
    std::vector<Group> groups;
    std::map<std::string, std::size_t> place;
    for (const HostOutcome* host : hosts) {
        const auto [found, fresh] = place.emplace(key(*host), groups.size());
        if (fresh) groups.emplace_back();
        groups[found->second].hosts.push_back(host);
    }
    return groups;
}

// "40 hosts: 37 clean, 3 dirty"; "40 hosts" where all are what the line begins with.
std::string counts_text(std::string_view noun, const std::array<std::size_t, 5>& counts,
                        std::optional<Verdict> said) {
    std::size_t total = 0;
    std::string text;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        total += counts[i];
        if (counts[i] > 0)
            text += fmt::format("{} {} {}", text.empty() ? ":" : ",", counts[i],
                                to_string(static_cast<Verdict>(i)));
    }
    if (said && counts[static_cast<std::size_t>(*said)] == total) text.clear();
    return count_of(total, noun) + text;
}

// Hosts that were left as they were for a reason of their own, whatever their verdict: "2 busy, 1 vetoed".
std::string courses_text(const Report& report) {
    constexpr std::pair<std::string_view, std::string_view> courses[] = {
        {"host-busy", "busy"}, {"vetoed", "vetoed"}, {"too-many-targets", "with too many targets"}};
    std::string text;
    for (const auto& [code, word] : courses) {
        const auto among = [&](const std::vector<Finding>& findings) {
            return std::ranges::find(findings, code, &Finding::code) != findings.end();
        };
        const auto has = [&](const HostOutcome& host) {
            return among(host.findings) || (host.last && among(host.last->findings));
        };
        if (const auto count = std::ranges::count_if(report.result.hosts, has); count > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
    }
    return text;
}

// A clean one too, where files of it would be removed, or would be but for a flag.
bool is_told_by_plan(const Report& report, const HostOutcome& host) {
    return has_plan(host) || (report.dry_run && has_withheld(host));
}

void write_clean_hosts(Page& page, const Report& report, const Sink& sink) {
    std::vector<const HostOutcome*> clean;
    for (const HostOutcome& host : report.result.hosts)
        if (host.verdict == Verdict::clean && !is_told_by_plan(report, host)) clean.push_back(&host);
    auto groups = group_by(clean, key_of_clean);
    // The plain line, of hosts with nothing more to say, is the first.
    std::ranges::stable_partition(groups,
                                  [](const Group& group) { return key_of_clean(*group.hosts[0]).empty(); });
    for (const Group& group : groups) {
        write_clean_group(page, group);
        sink(page.take());
    }
    write_notes_of_gpus(page, clean);
    sink(page.take());
}

void write_other_hosts(Page& page, const Report& report, const TextOptions& options, const Sink& sink) {
    std::vector<const HostOutcome*> others;
    for (const HostOutcome& host : report.result.hosts)
        if (has_plan(host) ? !report.plan_shown
                           : host.verdict != Verdict::clean || is_told_by_plan(report, host))
            others.push_back(&host);
    std::ranges::stable_sort(others, [](const auto* a, const auto* b) { return b->verdict < a->verdict; });
    // Hosts that share an error share a line; every other host stands alone, keyed by its place.
    const auto key = [&](const HostOutcome& host) {
        return is_error_only(host) ? key_of_error(host)
                                   : fmt::format("\t{}", &host - report.result.hosts.data());
    };
    std::vector<const HostOutcome*> told;  // by their plan
    for (const Group& group : group_by(others, key)) {
        const HostOutcome& host = *group.hosts.front();
        if (is_error_only(host))
            write_error_group(page, group);
        else if (report.dry_run)
            told.push_back(&host);
        else
            write_host(page, host, options.raw_commands);
        sink(page.take());
    }
    for (const auto& group : same_plans(told, page.columns(), options.raw_commands)) {
        write_planned_hosts(page, group, options.raw_commands);
        sink(page.take());
    }
}

// What the last line says of the hosts, before it says what became of the sweep.
std::vector<std::string> counted(const Report& report) {
    const Summary summary = summarize(report);
    if (report.is_run()) {
        constexpr std::string_view words[] = {"ok", "failed", "not asked"};
        std::string text = count_of(report.result.hosts.size(), "host");
        std::string_view separator = ": ";
        for (std::size_t i = 0; i < summary.asked.size(); ++i) {
            if (summary.asked[i] == 0) continue;
            text += fmt::format("{}{} {}", separator, summary.asked[i], words[i]);
            separator = ", ";
        }
        return {text};
    }
    std::vector<std::string> items{counts_text("host", summary.hosts, summary.verdict)};
    if (std::ranges::any_of(summary.gpus, [](std::size_t count) { return count > 0; }))
        items.push_back(counts_text("GPU", summary.gpus, summary.verdict));
    return items;
}

}  // namespace

void write_text(const Report& report, const TextOptions& options, const Sink& sink) {
    Page page(options.columns, options.color);
    write_other_hosts(page, report, options, sink);
    write_clean_hosts(page, report, sink);
    write_summary(page, report, options.elsewhere);
    sink(page.take());
}

void write_summary(Page& page, const Report& report, const std::vector<std::string>& elsewhere) {
    std::vector<std::string> items = counted(report);
    if (const std::string courses = courses_text(report); !courses.empty()) items.push_back(courses);
    if (report.share)
        items.push_back(fmt::format("shard {} of {}", to_string(report.share->shard),
                                    count_of(report.share->hosts_in_all, "host")));
    items.push_back(format_duration(report.took));
    if (report.dry_run)
        items.push_back(report.is_run()   ? "nothing was run"
                        : report.declined ? "declined, nothing was signalled"
                                          : "dry run, nothing was signalled");
    items.push_back(fmt::format("exit {}: {}", report.exit_status, meaning_of(report)));
    items.insert(items.end(), elsewhere.begin(), elsewhere.end());
    std::vector<Span> spans;
    if (const auto verdict = summarize(report).verdict; verdict && !report.is_run()) {
        spans.push_back(word_of(*verdict));
        spans.push_back({": "});
    }
    for (std::size_t i = 0; i < items.size(); ++i)
        spans.push_back({items[i] + (i + 1 < items.size() ? "; " : ""), Style::plain, Breaks::around});
    page.flow(0, 4, spans);
}

}  // namespace cleanslate::controller
