#include "controller/plan_view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/units.hpp"
#include "controller/host_block.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

constexpr std::size_t command_shown = 300;  // code points of a command line

// One process of the plan, over all the steps that would signal it.
struct Row {
    std::string signals;  // "TERM,KILL"
    Holder process;
    std::string gpus;  // "2", "0-1", "-" for none
    std::optional<Mebibytes> used;
};

void add_gpus(Row& row, const HostOutcome& host) {
    std::vector<int> indexes;
    bool unnamed = false;
    if (host.last) {
        for (const GpuVerdict& gpu : host.last->gpus) {
            const auto same = [&](const Holder& holder) { return holder.key == row.process.key; };
            const auto found = std::ranges::find_if(gpu.holders, same);
            if (found == gpu.holders.end()) continue;
            if (gpu.index)
                indexes.push_back(*gpu.index);
            else
                unnamed = true;
            row.process.inherited = row.process.inherited || found->inherited;
            if (found->used) row.used = row.used.value_or(Mebibytes{}) + *found->used;
        }
    }
    row.gpus = fold_numbers(indexes);
    if (unnamed) row.gpus += row.gpus.empty() ? "?" : ",?";
    if (row.gpus.empty()) row.gpus = "-";
}

std::vector<Row> rows_of(const HostOutcome& host) {
    std::vector<Row> rows;
    for (const SignalAction& action : host.signals) {
        if (action.result != SignalResult::planned) continue;
        const auto same = [&](const Row& row) { return row.process.key == action.process.key; };
        if (const auto row = std::ranges::find_if(rows, same); row != rows.end()) {
            const auto signals = split(row->signals, ',');
            if (std::ranges::find(signals, action.signal) == signals.end())
                row->signals += "," + action.signal;
            continue;
        }
        rows.push_back({action.signal, action.process, "", std::nullopt});
        add_gpus(rows.back(), host);
    }
    return rows;
}

std::string age_text(const Holder& holder) {
    if (!holder.age_s) return "?";
    const auto seconds = std::min<std::uint64_t>(*holder.age_s, 4'000'000'000);
    return format_duration(Milliseconds{static_cast<std::int64_t>(seconds) * 1000});
}

void write_rows(Page& page, const std::vector<Row>& rows) {
    std::size_t signals = 6, user = 4, gpus = 4;
    for (const Row& row : rows) {
        signals = std::max(signals, row.signals.size());
        user = std::max(user, width_of(printable(row.process.user)));
        gpus = std::max(gpus, row.gpus.size());
    }
    const auto line = [&](std::string_view sent, std::string_view pid, std::string_view who,
                          std::string_view age, std::string_view which, std::string_view mib) {
        const std::size_t pad = user > width_of(who) ? user - width_of(who) : 0;
        return fmt::format("{:<{}} {:>7} {}{} {:>7} {:<{}} {:>7} ", sent, signals, pid, who,
                           std::string(pad, ' '), age, which, gpus, mib);
    };
    page.cut(4, {{line("SIGNAL", "PID", "USER", "AGE", "GPUS", "MIB") + "COMMAND", Style::dim}});
    for (const Row& row : rows) {
        const Holder& process = row.process;
        const std::string who = process.user.empty() ? "?" : printable(process.user);
        const std::string mib = row.used ? std::to_string(row.used->count) : "-";
        const std::string cells =
            line(row.signals, std::to_string(process.key.pid), who, age_text(process), row.gpus, mib);
        // The command line is what a process is known by: it is not cut to fit, but has lines of its own.
        const std::string command = ellipsize(command_text(process), command_shown);
        const bool fits = 4 + width_of(cells) + most_columns_of(printable(command)) <= page.columns();
        page.line(4, {{fits ? cells + command : cells}});
        if (!fits) page.boxed(12, command);
        page.boxed(12, remarks_on(process), Style::dim);
    }
}

void write_planned_commands(Page& page, const HostOutcome& host, bool raw) {
    for (const CommandAction& action : host.commands)
        if (action.planned)
            // Never cut: a person says yes to all of it.
            page.line(4,
                      {{fmt::format("step {} runs: ", action.step)}, {shown_command(action.command, raw)}});
}

// The host as it is left when its plan is told: what was seen and what is spared.
HostOutcome without_plan(const HostOutcome& host) {
    HostOutcome rest = host;
    std::erase_if(rest.signals, [](const SignalAction& a) { return a.result == SignalResult::planned; });
    std::erase_if(rest.commands, [](const CommandAction& c) { return c.planned; });
    return rest;
}

}  // namespace

void write_planned_host(Page& page, const HostOutcome& host, bool raw_commands) {
    page.line(0,
              {{host.name, Style::bold}, {" "}, word_of(host.verdict), {", " + format_duration(host.took)}});
    const std::vector<Row> rows = rows_of(host);
    if (!rows.empty()) write_rows(page, rows);
    write_planned_commands(page, host, raw_commands);
    if (!has_plan(host)) page.line(4, {{"nothing to signal"}});
    Listed listed;
    for (const Row& row : rows) listed.insert(row.process.key);
    write_host_details(page, without_plan(host), raw_commands, listed);
}

void write_plan(Page& page, const Report& report, bool raw_commands) {
    std::vector<std::string> idle, lost;
    for (const HostOutcome& host : report.result.hosts) {
        if (has_plan(host)) continue;
        (host.last && !host.error ? idle : lost).push_back(host.name);
    }
    page.line(0, {{fmt::format("Plan of playbook {}:", report.playbook), Style::bold}});
    const auto folded = [&](const std::vector<std::string>& names, std::string_view text) {
        if (!names.empty())
            page.line(0, {{fmt::format("{} ({}): {}", inventory::fold(names), names.size(), text)}});
    };
    folded(idle, "nothing to do");
    folded(lost, "no plan, will be left alone (see the report)");
    for (const HostOutcome& host : report.result.hosts)
        if (has_plan(host)) write_planned_host(page, host, raw_commands);
}

PlanSize size_of_plan(const std::vector<HostOutcome>& hosts) {
    PlanSize size;
    for (const HostOutcome& host : hosts) {
        if (!has_plan(host)) continue;
        ++size.hosts;
        size.processes += rows_of(host).size();
        size.commands += static_cast<std::size_t>(
            std::ranges::count_if(host.commands, [](const CommandAction& c) { return c.planned; }));
    }
    return size;
}

std::string question_for(const PlanSize& size) {
    std::string what;
    if (size.processes > 0) what = "Signal " + count_of(size.processes, "process", "processes");
    if (size.commands > 0)
        what += fmt::format("{} {}", what.empty() ? "Run" : " and run", count_of(size.commands, "command"));
    return fmt::format("{} on {}?", what, count_of(size.hosts, "host"));
}

}  // namespace cleanslate::controller
