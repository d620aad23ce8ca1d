#include "controller/folded_notes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "base/text.hpp"
#include "controller/host_block.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

using Hosts = std::vector<const HostOutcome*>;

// One text, and who says it.
struct Variant {
    const Finding* finding = nullptr;
    Hosts hosts;
    std::vector<int> gpus;  // of the first host
};

// The texts of one code, in the order in which they were met.
struct Note {
    std::string code;
    std::vector<Variant> variants;
};

// Of findings that live as long as it does.
class Notes {
  public:
    Variant& add(const Finding& finding, const HostOutcome& host) {
        const auto [note, new_code] = notes_.emplace(finding.code, list_.size());
        if (new_code) list_.push_back({finding.code, {}});
        auto& variants = list_[note->second].variants;
        const auto [place, new_text] =
            places_.emplace(Key(finding.code, finding.text, finding.remedy), variants.size());
        if (new_text) variants.push_back({&finding, {}, {}});
        Variant& variant = variants[place->second];
        if (variant.hosts.empty() || variant.hosts.back() != &host) variant.hosts.push_back(&host);
        return variant;
    }
    const std::vector<Note>& list() const { return list_; }

  private:
    using Key = std::tuple<std::string_view, std::string_view, std::string_view>;  // code, text, remedy

    std::vector<Note> list_;
    std::map<std::string_view, std::size_t> notes_;
    std::map<Key, std::size_t> places_;
};

std::string folded(const Hosts& hosts) {
    std::vector<std::string> names;
    for (const HostOutcome* host : hosts) names.push_back(host->name);
    return inventory::fold(names);
}

// Those of whom one of the texts is, in the order of `all`.
Hosts who_says(const std::vector<Variant>& variants, const Hosts& all) {
    std::map<const HostOutcome*, bool> saying;
    for (const Variant& variant : variants)
        for (const HostOutcome* host : variant.hosts) saying[host] = true;
    Hosts hosts = all;
    std::erase_if(hosts, [&](const HostOutcome* host) { return !saying.contains(host); });
    return hosts;
}

// More texts than anybody reads: one of them, and that there are others.
Finding differing(const std::vector<Variant>& variants, const Hosts& all) {
    Finding finding = *variants.front().finding;
    finding.text = fmt::format("{} on {} ({} hosts, texts differ; see --format json)", finding.text,
                               variants.front().hosts.front()->name, who_says(variants, all).size());
    const auto same = [&](const Variant& other) { return other.finding->remedy == finding.remedy; };
    if (!std::ranges::all_of(variants, same)) finding.remedy.clear();
    return finding;
}

// Where the notes of these texts stand: "gpu[10-73] (64)", "gpu13 GPU 1,5".
std::string where_of(const Variant& variant) {
    const std::string names = folded(variant.hosts);
    if (variant.hosts.size() > 1) return fmt::format("{} ({})", names, variant.hosts.size());
    return variant.gpus.empty() ? names : names + " GPU " + fold_numbers(variant.gpus);
}

void write_variant(Page& page, const Variant& variant) {
    const std::string head = printable(fmt::format("note {}: {}", variant.finding->code, where_of(variant)));
    const std::string text = printable(variant.finding->text);
    if (text.empty() || width_of(head) + 2 + width_of(text) <= page.columns()) {
        page.flow(0, 4, {{text.empty() ? head : head + ": " + text, Style::dim}});
    } else {
        page.flow(0, 4, {{head + ":", Style::dim, Breaks::at_commas_too}});
        page.boxed(4, text, Style::dim);
    }
}

void write_differing(Page& page, const Note& note, const Hosts& all) {
    const Hosts hosts = who_says(note.variants, all);
    const std::string count = hosts.size() > 1 ? fmt::format("{} hosts, ", hosts.size()) : "";
    page.flow(
        0, 4,
        {{fmt::format("note {}: {} ({}texts differ; see --format json)", note.code, folded(hosts), count),
          Style::dim, Breaks::at_commas_too}});
}

}  // namespace

std::vector<Finding> folded_findings(const Hosts& hosts) {
    std::vector<std::vector<Finding>> said(hosts.size());  // by each of them
    Notes notes;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        said[i] = findings_of(*hosts[i]);
        for (const Finding& finding : said[i]) notes.add(finding, *hosts[i]);
    }
    std::vector<Finding> findings;
    for (const Note& note : notes.list()) {
        std::vector<Variant> of_some;
        for (const Variant& variant : note.variants) {
            if (variant.hosts.size() == hosts.size())
                findings.push_back(*variant.finding);
            else
                of_some.push_back(variant);
        }
        if (of_some.size() > most_texts) {
            findings.push_back(differing(of_some, hosts));
            continue;
        }
        for (const Variant& variant : of_some) {
            findings.push_back(*variant.finding);
            findings.back().text += fmt::format(" ({})", folded(variant.hosts));
        }
    }
    return findings;
}

void write_notes_of_gpus(Page& page, const Hosts& hosts) {
    Notes notes;
    for (const HostOutcome* host : hosts) {
        if (!host->last) continue;
        for (const GpuVerdict& gpu : host->last->gpus) {
            for (const Finding& finding : gpu.findings) {
                if (gpu.repaired && finding.code == "row-repaired") continue;
                Variant& variant = notes.add(finding, *host);
                const bool again = std::ranges::find(variant.gpus, gpu.index) != variant.gpus.end();
                if (variant.hosts.size() == 1 && gpu.index && !again) variant.gpus.push_back(*gpu.index);
            }
        }
    }
    for (const Note& note : notes.list()) {
        if (note.variants.size() > most_texts)
            write_differing(page, note, hosts);
        else
            for (const Variant& variant : note.variants) write_variant(page, variant);
    }
}

}  // namespace cleanslate::controller
