// A diff for people.

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "controller/history/diff_view.hpp"
#include "controller/history/gpu_change_view.hpp"
#include "controller/history/holder_lines.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller::history {
namespace {

constexpr std::size_t most_told = 40;  // hosts one by one; the others by name

std::string folded(const std::vector<std::string>& names) {
    return names.size() == 1 ? names.front() : fmt::format("{} ({})", inventory::fold(names), names.size());
}

std::string since_text(const Diff& diff, const std::optional<std::int64_t>& since) {
    if (!since) return {};
    return fmt::format(" for {}, since {}", span_text(diff.newer.started - *since), rfc3339(*since));
}

void write_heading(Page& page, std::string_view what, std::size_t count, Style style) {
    page.line(0, {{fmt::format("{} ({})", what, count), style}});
}

// "GPU 0-1, 152214 MiB", with those that are new to it.
std::string gpus_text(const HostChange& change, bool still) {
    std::string text = gpu_list(change.gpus, [](const StoredGpu&) { return true; });
    if (text.empty()) return {};
    Mebibytes used;
    for (const StoredGpu& gpu : change.gpus) used += gpu.used.value_or(Mebibytes{});
    text += fmt::format(", {} MiB", used.count);
    const std::string newly = gpu_list(change.gpus, [](const StoredGpu& gpu) { return gpu.newly == true; });
    return still && !newly.empty() ? text + "; newly " + newly : text;
}

void write_dirty(Page& page, const Diff& diff, const HostChange& change, bool still) {
    std::string text = change.host + " " + std::string(to_string(change.verdict));
    if (still) text += since_text(diff, change.dirty_since);
    if (const std::string gpus = gpus_text(change, still); !gpus.empty()) text += ": " + gpus;
    if (!change.why.empty()) text += "; " + change.why;
    page.boxed(4, text);
    write_holders(page, 8, change.holders);
}

void write_dirty_hosts(Page& page, const Diff& diff, const std::vector<HostChange>& changes, bool still) {
    if (changes.empty()) return;
    write_heading(page, still ? "still dirty or sick" : "newly dirty or sick", changes.size(), Style::yellow);
    std::vector<std::string> others;
    for (const HostChange& change : changes) {
        if (static_cast<std::size_t>(&change - changes.data()) < most_told)
            write_dirty(page, diff, change, still);
        else
            others.push_back(change.host);
    }
    if (!others.empty()) page.boxed(4, "and " + folded(others));
}

// Of whom the same is to be said, together, in the order in which each text comes first.
void write_grouped(Page& page, const std::vector<std::pair<std::string, std::string>>& lines) {
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;
    std::map<std::string, std::size_t> place;
    for (const auto& [name, text] : lines) {
        const auto [found, fresh] = place.emplace(text, groups.size());
        if (fresh) groups.push_back({text, {}});
        groups[found->second].second.push_back(name);
    }
    for (const auto& [text, names] : groups) page.boxed(4, folded(names) + text);
}

void write_unknown_hosts(Page& page, const Diff& diff, const std::vector<HostChange>& changes, bool still) {
    if (changes.empty()) return;
    write_heading(page, still ? "still unknown or unreachable" : "newly unknown or unreachable",
                  changes.size(), Style::red);
    std::vector<std::pair<std::string, std::string>> lines;
    for (const HostChange& change : changes) {
        std::string text = " " + std::string(to_string(change.verdict));
        if (still) text += since_text(diff, change.unknown_since);
        if (!change.why.empty()) text += ": " + change.why;
        if (change.dirty_since) text += "; dirty or sick before, since " + rfc3339(*change.dirty_since);
        lines.emplace_back(change.host, text);
    }
    write_grouped(page, lines);
}

void write_clean_hosts(Page& page, const std::vector<HostChange>& changes) {
    if (changes.empty()) return;
    write_heading(page, "newly clean", changes.size(), Style::green);
    std::vector<std::pair<std::string, std::string>> lines;
    for (const HostChange& change : changes) {
        std::string text = change.before ? ", " + std::string(to_string(*change.before)) + " before" : "";
        if (change.dirty_since && !(change.before == agentless::Verdict::dirty))
            text += change.before == agentless::Verdict::sick ? "" : ", and dirty or sick before that";
        lines.emplace_back(change.host, text);
    }
    write_grouped(page, lines);
}

void write_gpu_changes(Page& page, const Diff& diff) {
    for (const auto* list : {&diff.gpus_gone, &diff.gpus_swapped, &diff.gpus_moved, &diff.gpus_new})
        for (const GpuChange& change : *list) page.boxed(0, gpu_change_text(change));
}

void write_head(Page& page, const Diff& diff) {
    const auto name = [](const SweepHead& sweep) {
        return fmt::format("sweep {} ({}, {}{})", sweep.id, rfc3339(sweep.started), sweep.command,
                           sweep.stopped_by.empty() ? "" : ", stopped by " + sweep.stopped_by);
    };
    const auto where = [](const SweepScope& scope) { return scope.inventory + ", " + scope.limit; };
    if (!diff.older) {
        page.boxed(0, name(diff.newer) + " of " + where(diff.newer.scope) +
                          " is the first of its kind: everything is new");
        return;
    }
    const bool same = diff.older->scope == diff.newer.scope;
    page.boxed(0, "from " + name(*diff.older) + (same ? "" : " of " + where(diff.older->scope)) + " to " +
                      name(diff.newer) + " of " + where(diff.newer.scope));
}

}  // namespace

std::string diff_summary(const Diff& diff) {
    std::string text;
    const auto add = [&](std::size_t count, std::string_view what) {
        if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
    };
    add(diff.newly_dirty.size(), "newly dirty or sick");
    add(diff.newly_unknown.size(), "newly unknown or unreachable");
    add(diff.newly_clean.size(), "newly clean");
    add(diff.still_dirty.size(), "still dirty or sick");
    add(diff.still_unknown.size(), "still unknown or unreachable");
    add(diff.still_clean, "still clean");
    add(diff.not_looked_at, "not looked at");
    add(diff.hosts_gone.size(), "gone");
    add(diff.hosts_new.size(), "new");
    add(diff.not_compared, "in one of the two alone");
    const std::size_t gpus =
        diff.gpus_gone.size() + diff.gpus_swapped.size() + diff.gpus_moved.size() + diff.gpus_new.size();
    if (gpus > 0) text += fmt::format("; {} gone, swapped, moved or new", count_of(gpus, "GPU"));
    return text.empty() ? "no host" : text;
}

void diff_text(Page& page, const Diff& diff) {
    write_head(page, diff);
    write_dirty_hosts(page, diff, diff.newly_dirty, false);
    write_unknown_hosts(page, diff, diff.newly_unknown, false);
    write_clean_hosts(page, diff.newly_clean);
    write_dirty_hosts(page, diff, diff.still_dirty, true);
    write_unknown_hosts(page, diff, diff.still_unknown, true);
    if (!diff.hosts_gone.empty()) page.boxed(0, "hosts gone: " + folded(diff.hosts_gone));
    if (!diff.hosts_new.empty()) page.boxed(0, "hosts new: " + folded(diff.hosts_new));
    write_gpu_changes(page, diff);
    page.boxed(0, diff_summary(diff), Style::bold);
}

}  // namespace cleanslate::controller::history
