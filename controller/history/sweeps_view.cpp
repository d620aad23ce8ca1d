#include "controller/history/sweeps_view.hpp"

#include <fmt/core.h>

#include "base/text.hpp"
#include "controller/history/sweep_json.hpp"
#include "controller/json_writer.hpp"

namespace cleanslate::controller::history {
namespace {

using agentless::Verdict;

// "clear", "clear sweep", "clear, dry run".
std::string what_text(const SweepHead& sweep) {
    std::string text = sweep.command;
    if (!sweep.playbook.empty() && sweep.playbook != sweep.command) text += " " + sweep.playbook;
    if (sweep.declined) return text + ", declined";
    return sweep.dry_run ? text + ", dry run" : text;
}

// The worst comes first: where a line is cut, it is not.
std::vector<Span> counts_of(const SweepHead& sweep) {
    std::vector<Span> spans;
    const auto add = [&](std::size_t count, std::string_view word, Style style) {
        if (count == 0) return;
        if (!spans.empty()) spans.push_back({", "});
        spans.push_back({fmt::format("{} {}", count, word), style});
    };
    for (std::size_t i = sweep.hosts.size(); i-- > 0;) {
        const auto verdict = static_cast<Verdict>(i);
        add(sweep.hosts[i], to_string(verdict), style_of(verdict));
    }
    add(sweep.not_begun, "never begun", Style::dim);
    if (spans.empty()) spans.push_back({"no host"});
    return spans;
}

void write_sweep_line(Page& page, const SweepHead& sweep) {
    std::vector<Span> line{{fmt::format("{:>6}", sweep.id), Style::bold},
                           {fmt::format("  {}  {:<8}  ", rfc3339(sweep.started), what_text(sweep))}};
    for (Span& span : counts_of(sweep)) line.push_back(std::move(span));
    line.push_back({"; " + format_duration(sweep.took)});
    if (!sweep.stopped_by.empty()) line.push_back({"; stopped: " + sweep.stopped_by, Style::red});
    page.cut(0, line);
}

}  // namespace

void sweeps_text(Page& page, const std::vector<SweepHead>& sweeps, std::size_t more) {
    const SweepScope* scope = nullptr;
    for (const SweepHead& sweep : sweeps) {
        if (scope == nullptr || !(*scope == sweep.scope))
            page.boxed(0, sweep.scope.inventory + ", " + sweep.scope.limit, Style::dim);
        scope = &sweep.scope;
        write_sweep_line(page, sweep);
    }
    if (sweeps.empty()) page.line(0, {{"no sweep"}});
    if (more > 0)
        page.line(0, {{fmt::format("and {} older: --last N or --since shows them", more), Style::dim}});
}

std::string sweeps_json(const std::vector<SweepHead>& sweeps) {
    std::string text;
    JsonWriter json(text);
    json.object([&] {
        json.key("schema").text("cleanslate.sweeps/1");
        json.key("sweeps").list(sweeps, [&](const SweepHead& sweep) { write_sweep(json, sweep); });
    });
    return text + "\n";
}

}  // namespace cleanslate::controller::history
