#include "controller/plan_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/units.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

constexpr std::size_t command_shown = 300;  // code points of a command line

struct Row {
    Holder process;
    std::string gpus;  // "2", "0-1", "-" for none
    std::optional<Mebibytes> used;
};

Row row_of(const HostOutcome& host, const Holder& process) {
    Row row{process, "", std::nullopt};
    std::vector<int> indexes;
    bool unnamed = false;
    if (host.last) {
        for (const GpuVerdict& gpu : host.last->gpus) {
            const auto found = std::ranges::find(gpu.holders, process.key, &Holder::key);
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
    return row;
}

std::string age_text(const Holder& holder) {
    if (!holder.age_s) return "?";
    const auto seconds = std::min<std::uint64_t>(*holder.age_s, 4'000'000'000);
    return format_duration(Milliseconds{static_cast<std::int64_t>(seconds) * 1000});
}

// The first that is known of a key stays.
void learn(std::map<ProcessKey, Holder>& known, const std::vector<Holder>& holders) {
    for (const Holder& holder : holders) known.emplace(holder.key, holder);
}

}  // namespace

std::vector<Holder> processes_of(const HostOutcome& host, const std::vector<ProcessKey>& keys) {
    std::map<ProcessKey, Holder> known;
    for (const SignalAction& action : host.signals) known.emplace(action.process.key, action.process);
    learn(known, host.spared_holders);
    for (const PlannedStep& step : host.plan_steps) learn(known, step.target_holders);
    if (host.last) {
        for (const GpuVerdict& gpu : host.last->gpus) learn(known, gpu.holders);
        learn(known, host.last->openers);
    }
    std::vector<Holder> processes;
    for (const ProcessKey& key : keys) {
        const auto found = known.find(key);
        if (found != known.end()) {
            processes.push_back(found->second);
            continue;
        }
        processes.emplace_back();
        processes.back().key = key;
    }
    return processes;
}

void write_process_table(Page& page, std::size_t indent, const HostOutcome& host,
                         const std::vector<Holder>& processes) {
    std::vector<Row> rows;
    std::size_t user = 4, gpus = 4;
    for (const Holder& process : processes) {
        rows.push_back(row_of(host, process));
        user = std::max(user, width_of(printable(process.user)));
        gpus = std::max(gpus, rows.back().gpus.size());
    }
    const auto line = [&](std::string_view pid, std::string_view who, std::string_view age,
                          std::string_view which, std::string_view mib) {
        const std::size_t pad = user > width_of(who) ? user - width_of(who) : 0;
        return fmt::format("{:>7} {}{} {:>7} {:<{}} {:>7} ", pid, who, std::string(pad, ' '), age, which,
                           gpus, mib);
    };
    page.cut(indent, {{line("PID", "USER", "AGE", "GPUS", "MIB") + "COMMAND", Style::dim}});
    for (const Row& row : rows) {
        const Holder& process = row.process;
        const std::string who = process.user.empty() ? "?" : printable(process.user);
        const std::string mib = row.used ? std::to_string(row.used->count) : "-";
        const std::string cells =
            line(std::to_string(process.key.pid), who, age_text(process), row.gpus, mib);
        // The command line is what a process is known by: it is not cut to fit, but has lines of its own.
        const std::string command = ellipsize(command_text(process), command_shown);
        const bool fits = indent + width_of(cells) + most_columns_of(printable(command)) <= page.columns();
        page.line(indent, {{fits ? cells + command : cells.substr(0, cells.find_last_not_of(' ') + 1)}});
        if (!fits) page.boxed(indent + 8, command);
        page.boxed(indent + 8, remarks_on(process), Style::dim);
    }
}

}  // namespace cleanslate::controller
