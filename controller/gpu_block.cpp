// The GPUs of one host in the text report.

#include <fmt/core.h>

#include <algorithm>

#include "agentless/holder.hpp"
#include "agentless/limits.hpp"
#include "controller/host_block.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

constexpr std::size_t gpu_indent = 4;
constexpr std::size_t detail_indent = 8;

std::string index_text(const GpuVerdict& gpu) {
    if (gpu.index) return std::to_string(*gpu.index);
    if (!gpu.bus_id.empty()) return gpu.bus_id;
    return gpu.uuid.empty() ? "?" : gpu.uuid;
}

// The limit, where it is not the one that everybody expects.
std::string limit_text(const GpuVerdict& gpu) {
    if (!gpu.limit || *gpu.limit == default_limit) return {};
    return fmt::format(", limit {} MiB", gpu.limit->count);
}

std::string used_text(const GpuVerdict& gpu) { return gpu.used ? std::to_string(gpu.used->count) : "?"; }

// How wide a host's cells are, so that its lines stand below each other.
struct Widths {
    std::size_t which = 7;  // the GPUs, up to `most_which`
    std::size_t used = 1;   // their used memory
};
constexpr std::size_t most_which = 23;

std::string memory_text(const GpuVerdict& gpu, const Widths& widths) {
    const std::string used = fmt::format("{:>{}}", used_text(gpu), widths.used);
    return (gpu.total ? fmt::format("{} / {} MiB", used, gpu.total->count) : used + " MiB") + limit_text(gpu);
}

bool is_note(const Finding& finding) { return finding.severity == Severity::note; }

// A clean GPU that shares a line with the others of its kind; its notes stand below them.
bool is_plain(const GpuVerdict& gpu) {
    return gpu.verdict == Verdict::clean && std::ranges::all_of(gpu.findings, is_note) && !gpu.repaired &&
           gpu.index;
}

// A note that is said once for several GPUs, or for those that have no lines of their own.
struct SharedNote {
    Finding finding;
    std::vector<int> indexes;
    bool of_plain = false;
    bool is(const Finding& other) const {
        return is_note(other) && finding.code == other.code && finding.text == other.text &&
               finding.remedy == other.remedy;
    }
};

std::vector<SharedNote> shared_notes(const std::vector<GpuVerdict>& gpus) {
    std::vector<SharedNote> notes;
    for (const GpuVerdict& gpu : gpus) {
        if (!gpu.index) continue;
        for (const Finding& finding : gpu.findings) {
            if (!is_note(finding)) continue;
            auto found = std::ranges::find_if(notes, [&](const auto& note) { return note.is(finding); });
            if (found == notes.end()) found = notes.insert(notes.end(), {finding, {}, false});
            found->indexes.push_back(*gpu.index);
            found->of_plain |= is_plain(gpu);
        }
    }
    std::erase_if(notes, [](const auto& note) { return !note.of_plain && note.indexes.size() < 2; });
    return notes;
}

// What is told of one host's GPUs, and what was told above them.
struct Told {
    const Listed& listed;
    std::vector<SharedNote> shared;
};

// What the GPU's own line, its holders' lines and the shared notes do not say already.
bool is_news(const Finding& finding, const GpuVerdict& gpu, const Told& told) {
    if (finding.code == "memory-in-use" && gpu.used && !gpu.holders.empty()) return false;
    const auto same = [&](const SharedNote& note) { return note.is(finding); };
    if (gpu.index && std::ranges::any_of(told.shared, same)) return false;
    return !shown_as_holder(finding) || gpu.holders.empty();
}

// True where the plan above tells all there is to tell: dirty, by holders that stand in it (and their
// ghosts).
bool told_by_plan(const GpuVerdict& gpu, const Told& told) {
    const auto news = [&](const Finding& finding) { return is_news(finding, gpu, told); };
    const auto in_plan = [&](const Holder& holder) { return told.listed.contains(holder.key); };
    const auto ghost_or_in_plan = [&](const Holder& holder) { return holder.ghost || in_plan(holder); };
    return gpu.verdict == Verdict::dirty && gpu.index && std::ranges::none_of(gpu.findings, news) &&
           std::ranges::any_of(gpu.holders, in_plan) && std::ranges::all_of(gpu.holders, ghost_or_in_plan);
}

void write_gpu_line(Page& page, const std::string& which, Verdict verdict, const std::string& rest,
                    const Widths& widths) {
    const std::string word(to_string(verdict));
    page.cut(gpu_indent, {{fmt::format("GPU {:<{}} ", which, widths.which)},
                          {word, style_of(verdict)},
                          {std::string(word.size() < 8 ? 8 - word.size() : 1, ' ')},
                          {rest}});
}

// "at most 51 MiB, limits 65 to 101 MiB".
std::string plain_text(const std::vector<const GpuVerdict*>& gpus) {
    std::optional<Mebibytes> used, least, most;
    for (const GpuVerdict* gpu : gpus) {
        if (gpu->used) used = std::max(used.value_or(Mebibytes{}), *gpu->used);
        if (!gpu->limit) continue;
        least = std::min(least.value_or(*gpu->limit), *gpu->limit);
        most = std::max(most.value_or(*gpu->limit), *gpu->limit);
    }
    std::string text = used ? fmt::format("at most {} MiB", used->count) : "used memory not shown";
    if (!least || (*least == default_limit && *most == default_limit)) return text;
    return text + (*least == *most ? fmt::format(", limit {} MiB", most->count)
                                   : fmt::format(", limits {} to {} MiB", least->count, most->count));
}

// Those that are plain, in one line.
struct Plain {
    std::vector<const GpuVerdict*> gpus;
    std::string which;
};

Plain plain_of(const std::vector<GpuVerdict>& gpus) {
    Plain plain;
    std::vector<int> indexes;
    for (const GpuVerdict& gpu : gpus) {
        if (!is_plain(gpu)) continue;
        indexes.push_back(*gpu.index);
        plain.gpus.push_back(&gpu);
    }
    plain.which = fold_numbers(indexes);
    return plain;
}

// Those of one code together, so that their remedy is said once.
void write_shared_notes(Page& page, const std::vector<SharedNote>& notes) {
    std::vector<Finding> lines;
    for (const SharedNote& note : notes) {
        Finding line = note.finding;
        line.text = fmt::format("GPU {}: {}", fold_numbers(note.indexes), line.text);
        const auto same_code = [&](const Finding& other) { return other.code == line.code; };
        const auto last = std::find_if(lines.rbegin(), lines.rend(), same_code);
        lines.insert(last == lines.rend() ? lines.end() : last.base(), std::move(line));
    }
    write_findings(page, detail_indent, lines);
}

void write_own_line(Page& page, const std::string& which, const GpuVerdict& gpu, const Widths& widths) {
    write_gpu_line(page, which, gpu.verdict,
                   memory_text(gpu, widths) + (gpu.name.empty() ? "" : "  " + gpu.name), widths);
}

void write_below_own_line(Page& page, const GpuVerdict& gpu, const Told& told) {
    for (const Holder& holder : gpu.holders)
        if (!told.listed.contains(holder.key)) write_holder(page, detail_indent, "", holder);
    write_instances(page, detail_indent, gpu.instances);
    std::vector<Finding> news = gpu.findings;
    std::erase_if(news, [&](const Finding& finding) { return !is_news(finding, gpu, told); });
    write_findings(page, detail_indent, news);
}

// GPUs of which exactly the same is to be said share their lines.
struct Alike {
    std::string line, below;   // the own line, as it is without an index, and the others
    std::vector<int> indexes;  // empty: one that has none
    const GpuVerdict* gpu = nullptr;
    std::string which() const { return indexes.empty() ? index_text(*gpu) : fold_numbers(indexes); }
};

std::vector<Alike> alike(const Page& page, const std::vector<GpuVerdict>& gpus, const Told& told) {
    std::vector<Alike> groups;
    for (const GpuVerdict& gpu : gpus) {
        if (is_plain(gpu) || told_by_plan(gpu, told)) continue;
        Page scratch(page.columns(), page.color());
        write_own_line(scratch, "", gpu, {});
        std::string line = scratch.take();
        write_below_own_line(scratch, gpu, told);
        std::string below = scratch.take();
        const auto same = [&](const Alike& group) {
            return gpu.index && !group.indexes.empty() && group.line == line && group.below == below;
        };
        const auto found = std::ranges::find_if(groups, same);
        Alike& group = found != groups.end()
                           ? *found
                           : groups.emplace_back(Alike{std::move(line), std::move(below), {}, &gpu});
        if (gpu.index) group.indexes.push_back(*gpu.index);
    }
    return groups;
}

}  // namespace

bool shown_as_holder(const Finding& finding) {
    return finding.code == "held" || finding.code == "ghost" || finding.code == "opener";
}

void write_gpus(Page& page, const std::vector<GpuVerdict>& gpus, const Listed& listed) {
    const Told told{listed, shared_notes(gpus)};
    const std::vector<Alike> groups = alike(page, gpus, told);
    const Plain plain = plain_of(gpus);
    Widths widths;
    const auto make_room = [&](const std::string& which) {
        if (which.size() <= most_which) widths.which = std::max(widths.which, which.size());
    };
    make_room(plain.which);
    for (const Alike& group : groups) {
        make_room(group.which());
        widths.used = std::max(widths.used, used_text(*group.gpu).size());
    }
    for (const Alike& group : groups) {
        write_own_line(page, group.which(), *group.gpu, widths);
        page.add(group.below);
    }
    if (!plain.gpus.empty())
        write_gpu_line(page, plain.which, Verdict::clean, plain_text(plain.gpus), widths);
    write_shared_notes(page, told.shared);
}

std::string remarks_on(const Holder& holder) {
    std::vector<std::string> remarks;
    if (holder.is_protected) remarks.push_back("protected (" + holder.protected_by + ")");
    if (holder.unit) remarks.push_back("in " + *holder.unit);
    if (holder.inherited) remarks.push_back("keeps a dead process's memory through inherited descriptors");
    if (agentless::is_being_torn_down(holder))
        remarks.push_back("still being torn down by the driver");
    else if (holder.without_device)
        remarks.push_back("has no device file open under a name known here");
    if (holder.foreign_pid) remarks.push_back("in another pid namespace");
    std::string text;
    for (const std::string& remark : remarks) text += (text.empty() ? "" : "; ") + remark;
    return text;
}

void write_holder(Page& page, std::size_t indent, std::string_view role, const Holder& holder) {
    page.cut(indent, {{std::string(role) + holder_text(holder) + ": "}, {command_text(holder)}});
    page.wrapped(indent + 4, remarks_on(holder), Style::dim);
}

}  // namespace cleanslate::controller
