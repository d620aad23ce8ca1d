// The GPUs of one host in the text report.

#include <fmt/core.h>

#include <algorithm>

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

std::string memory_text(const GpuVerdict& gpu) {
    const std::string used = gpu.used ? std::to_string(gpu.used->count) : "?";
    return gpu.total ? fmt::format("{} / {} MiB", used, gpu.total->count) : used + " MiB";
}

// A clean GPU about which nothing needs to be said.
bool is_plain(const GpuVerdict& gpu) {
    return gpu.verdict == Verdict::clean && gpu.findings.empty() && !gpu.repaired && gpu.index;
}

// What the GPU's own line and its holders' lines do not say already.
bool is_news(const Finding& finding, const GpuVerdict& gpu) {
    if (finding.code == "memory-in-use" && gpu.used && !gpu.holders.empty()) return false;
    return !shown_as_holder(finding) || gpu.holders.empty();
}

// True where the plan above tells all there is to tell: dirty, by holders that stand in it (and their
// ghosts).
bool told_by_plan(const GpuVerdict& gpu, const Listed& listed) {
    const auto news = [&](const Finding& finding) { return is_news(finding, gpu); };
    const auto in_plan = [&](const Holder& holder) { return listed.contains(holder.key); };
    const auto ghost_or_in_plan = [&](const Holder& holder) { return holder.ghost || in_plan(holder); };
    return gpu.verdict == Verdict::dirty && gpu.index && std::ranges::none_of(gpu.findings, news) &&
           std::ranges::any_of(gpu.holders, in_plan) && std::ranges::all_of(gpu.holders, ghost_or_in_plan);
}

void write_gpu_line(Page& page, const std::string& which, Verdict verdict, const std::string& rest) {
    const std::string word(to_string(verdict));
    page.cut(gpu_indent, {{fmt::format("GPU {:<7} ", which)},
                          {word, style_of(verdict)},
                          {std::string(word.size() < 8 ? 8 - word.size() : 1, ' ')},
                          {rest}});
}

void write_plain_gpus(Page& page, const std::vector<GpuVerdict>& gpus) {
    std::vector<int> indexes;
    std::int64_t most = 0;
    for (const GpuVerdict& gpu : gpus) {
        if (!is_plain(gpu)) continue;
        indexes.push_back(*gpu.index);
        if (gpu.used) most = std::max(most, gpu.used->count);
    }
    if (!indexes.empty())
        write_gpu_line(page, fold_numbers(indexes), Verdict::clean, fmt::format("at most {} MiB", most));
}

void write_gpu(Page& page, const std::string& which, const GpuVerdict& gpu, const Listed& listed) {
    write_gpu_line(page, which, gpu.verdict, memory_text(gpu) + (gpu.name.empty() ? "" : "  " + gpu.name));
    for (const Holder& holder : gpu.holders)
        if (!listed.contains(holder.key)) write_holder(page, detail_indent, "", holder);
    std::vector<Finding> news = gpu.findings;
    std::erase_if(news, [&](const Finding& finding) { return !is_news(finding, gpu); });
    write_findings(page, detail_indent, news);
}

// GPUs of which exactly the same is to be said share their lines.
struct Alike {
    std::string text;
    std::vector<int> indexes;  // empty: one that has none
    const GpuVerdict* gpu = nullptr;
};

std::vector<Alike> alike(const Page& page, const std::vector<GpuVerdict>& gpus, const Listed& listed) {
    std::vector<Alike> groups;
    for (const GpuVerdict& gpu : gpus) {
        if (is_plain(gpu) || told_by_plan(gpu, listed)) continue;
        Page scratch(page.columns(), false);
        write_gpu(scratch, "", gpu, listed);
        const std::string text = scratch.take();
        const auto same = [&](const Alike& group) {
            return gpu.index && !group.indexes.empty() && group.text == text;
        };
        const auto found = std::ranges::find_if(groups, same);
        Alike& group = found != groups.end() ? *found : groups.emplace_back(Alike{text, {}, &gpu});
        if (gpu.index) group.indexes.push_back(*gpu.index);
    }
    return groups;
}

}  // namespace

bool shown_as_holder(const Finding& finding) {
    return finding.code == "held" || finding.code == "ghost" || finding.code == "opener";
}

void write_gpus(Page& page, const std::vector<GpuVerdict>& gpus, const Listed& listed) {
    for (const Alike& group : alike(page, gpus, listed)) {
        const std::string which =
            group.indexes.empty() ? index_text(*group.gpu) : fold_numbers(group.indexes);
        write_gpu(page, which, *group.gpu, listed);
    }
    write_plain_gpus(page, gpus);
}

std::string remarks_on(const Holder& holder) {
    std::vector<std::string> remarks;
    if (holder.is_protected) remarks.push_back("protected (" + holder.protected_by + ")");
    if (holder.unit) remarks.push_back("in " + *holder.unit);
    if (holder.inherited) remarks.push_back("keeps a dead process's memory through inherited descriptors");
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
