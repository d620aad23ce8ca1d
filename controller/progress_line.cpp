#include "controller/progress_line.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "agentless/verdict.hpp"
#include "base/text.hpp"
#include "controller/page.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using agentless::Verdict;

constexpr Milliseconds stall{3'000};  // so long without news, and the slowest hosts are named
constexpr std::size_t least_cells = 8, most_cells = 32;  // of the bar
// "; waiting for " and eight columns of a name: no shorter piece of it says who is meant.
constexpr std::size_t least_of_waiting = 22;

std::string whole_seconds(Milliseconds duration) {
    if (duration < Milliseconds{60'000}) return fmt::format("{} s", duration.count() / 1000);
    return format_duration(duration);
}

// Rounded up, no finer than the guess is.
std::string time_left(Milliseconds left) {
    const auto seconds = (left.count() + 999) / 1000;
    const auto grain = seconds < 10 ? 1 : seconds < 120 ? 5 : 60;
    const auto rounded = (seconds + grain - 1) / grain * grain;
    return rounded < 120 ? fmt::format("{} s left", rounded)
                         : fmt::format("{} min left", (rounded + 59) / 60);
}

std::string rate_text(double rate) {
    if (rate >= 9.95) return fmt::format("{:.0f}/s", rate);
    if (rate >= 0.995) return fmt::format("{:.1f}/s", rate);
    return fmt::format("{:.0f}/min", rate * 60);
}

std::size_t width(const std::vector<Span>& spans) {
    std::size_t columns = 0;
    for (const Span& span : spans) columns += most_columns_of(span.text);
    return columns;
}

// At most so many columns of a text that is safe to print, "..." at its end where something was cut.
std::string cut(const std::string& text, std::size_t columns) {
    if (most_columns_of(text) <= columns) return text;
    for (std::size_t points = columns;; --points) {
        const std::string shorter = ellipsize(text, points);
        if (most_columns_of(shorter) <= columns || points == 0) return shorter;
    }
}

std::vector<Span> all_counts(const ProgressState& state) {
    std::vector<Span> spans;
    const auto add = [&](std::size_t count, std::string_view word, Style style) {
        if (count == 0) return;
        spans.push_back({spans.empty() ? ": " : ", "});
        spans.push_back({fmt::format("{} {}", count, word), style});
    };
    if (!state.verdicts) {
        add(state.not_asked, "not asked", Style::red);
        return spans;
    }
    for (std::size_t i = 0; i < state.counts.size(); ++i) {
        const auto verdict = static_cast<Verdict>(i);
        add(state.counts[i], to_string(verdict), style_of(verdict));
    }
    return spans;
}

// For where there is no room for them all.
std::vector<Span> short_counts(const ProgressState& state) {
    const std::size_t clean = state.counts[static_cast<std::size_t>(Verdict::clean)];
    const std::size_t other = state.verdicts ? state.done - std::min(clean, state.done) : state.not_asked;
    if (other == 0) return {};
    return {{": "}, {fmt::format("{} not {}", other, state.verdicts ? "clean" : "asked"), Style::red}};
}

// Who is waited for, as many as fit into `columns`, the first one in any case (cut).
std::string slow_hosts(const std::vector<HostUnderWay>& slowest, std::size_t columns) {
    std::string text;
    for (const HostUnderWay& host : slowest) {
        std::string one = text.empty() ? "waiting for " : ", ";
        one += printable(host.doing.empty() ? host.name : host.name + ": " + host.doing);
        one += " (" + whole_seconds(host.since) + ")";
        if (text.empty()) {
            text = cut(one, columns);
        } else if (most_columns_of(text) + most_columns_of(one) <= columns) {
            text += one;
        } else {
            break;
        }
    }
    return text;
}

// "[####....]": done hosts by verdict, so that it shows in colour what the counts say.
std::vector<Span> bar(const ProgressState& state, std::size_t cells) {
    std::vector<Span> spans{{"["}};
    const auto up_to = [&](std::size_t hosts) {
        return hosts * cells / std::max<std::size_t>(1, state.total);
    };
    std::size_t before = 0;
    const auto fill = [&](std::size_t hosts, Style style) {
        spans.push_back({std::string(up_to(before + hosts) - up_to(before), '#'), style});
        before += hosts;
    };
    if (state.verdicts)
        for (std::size_t i = 0; i < state.counts.size(); ++i)
            fill(state.counts[i], style_of(static_cast<Verdict>(i)));
    else
        fill(state.done, Style::plain);
    spans.push_back({std::string(cells - std::min(cells, up_to(before)), '.')});
    spans.push_back({"] "});
    return spans;
}

// Puts the line together, what matters most first; what finds no room is left out.
class Line {
  public:
    explicit Line(std::size_t columns) : columns_(columns) {}
    std::size_t room() const { return columns_ - std::min(columns_, used_); }
    bool add(std::vector<Span>& part, std::vector<Span> spans) {
        if (width(spans) > room() + width(part)) return false;
        used_ += width(spans) - width(part);
        part = std::move(spans);
        return true;
    }
    std::vector<Span> bar, count, counts, rate, time, waiting;

  private:
    std::size_t columns_, used_ = 0;
};

void add_left(Line& line, const ProgressState& state) {
    if (!state.rate) return;
    const std::string rate = "; " + rate_text(*state.rate);
    if (!state.left || state.not_begun == 0) {
        line.add(line.rate, {{rate}});
        return;
    }
    line.add(line.rate, {{"; " + time_left(*state.left)}});
    line.add(line.rate, {{rate + ", " + time_left(*state.left)}});
}

}  // namespace

std::string progress_line(const ProgressState& state, std::size_t columns, bool color) {
    Line line(columns);
    const std::string done = fmt::format("{}/{}", state.done, state.total);
    if (!line.add(line.count, {{done}})) return cut(done, columns);
    const bool stalls = state.quiet_for >= stall && !state.slowest.empty();
    // The first name comes before what does not fit beside it.
    const std::size_t least = stalls ? least_of_waiting : 0;
    if (line.room() < least || line.room() >= least + width(short_counts(state)))
        line.add(line.counts, short_counts(state));
    if (line.room() >= least && stalls)
        line.add(line.waiting, {{"; " + slow_hosts({state.slowest.front()}, line.room() - 2)}});
    line.add(line.counts, all_counts(state));
    if (!stalls) add_left(line, state);
    line.add(line.count, {{done + (state.total == 1 ? " host" : " hosts")}});
    line.add(line.time, {{"; " + whole_seconds(state.elapsed)}});
    if (!line.waiting.empty())
        line.add(line.waiting, {{"; " + slow_hosts(state.slowest, line.room() + width(line.waiting) - 2)}});
    if (line.room() >= least_cells + 3) line.add(line.bar, bar(state, std::min(most_cells, line.room() - 3)));
    Page page(columns, color);
    std::vector<Span> all;
    for (const auto* part : {&line.bar, &line.count, &line.counts, &line.rate, &line.time, &line.waiting})
        all.insert(all.end(), part->begin(), part->end());
    page.line(0, all);
    std::string text = page.take();
    text.pop_back();  // the line's end
    return text;
}

std::string unfinished_text(const std::vector<HostUnderWay>& hosts, std::size_t rest, std::size_t columns) {
    constexpr std::size_t most_of_a_fold = 2'000;
    struct Group {
        std::vector<std::string> names;
        Milliseconds least{0}, most{0};
    };
    std::map<std::string, Group> by_doing;
    for (const HostUnderWay& host : hosts) {
        Group& group = by_doing[host.doing.empty() ? "starting" : host.doing];
        group.least = group.names.empty() ? host.since : std::min(group.least, host.since);
        group.most = std::max(group.most, host.since);
        group.names.push_back(host.name);
    }
    std::vector<std::pair<std::string, Group>> groups(by_doing.begin(), by_doing.end());
    std::ranges::stable_sort(groups,
                             [](const auto& a, const auto& b) { return a.second.most > b.second.most; });
    Page page(columns, false);
    std::string first = count_of(hosts.size(), "host") + " under way";
    if (rest > 0) first += fmt::format(", {} not begun", rest);
    page.boxed(0, hosts.empty() ? first : first + ":");
    for (const auto& [doing, group] : groups) {
        const bool alike = whole_seconds(group.least) == whole_seconds(group.most);
        page.boxed(
            2, fmt::format("{}, {}{}: {} ({})", doing, alike ? "" : whole_seconds(group.least) + " to ",
                           whole_seconds(group.most), ellipsize(inventory::fold(group.names), most_of_a_fold),
                           group.names.size()));
    }
    return page.take();
}

}  // namespace cleanslate::controller
