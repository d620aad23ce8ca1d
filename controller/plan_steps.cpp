#include "controller/plan_steps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "controller/acts.hpp"
#include "controller/plan_table.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;
using Kind = CommandAction::Kind;

constexpr std::size_t step_indent = 4;
constexpr std::size_t indent = 8;
constexpr std::size_t named = 10;  // of files, of notes, of processes that are left alone

PlannedStep& step_of(std::map<int, PlannedStep>& steps, int number) {
    PlannedStep& step = steps[number];
    step.step = number;
    return step;
}

// The steps as they were planned. What would be done and stands in none of them is put there: nobody says yes
// to what is not shown.
std::vector<PlannedStep> all_steps(const HostOutcome& host) {
    std::map<int, PlannedStep> steps;
    for (const PlannedStep& step : host.plan_steps) steps[step.step] = step;
    for (const SignalAction& action : host.signals) {
        if (action.result != SignalResult::planned) continue;
        PlannedStep& step = step_of(steps, action.step);
        if (step.name.empty()) step.name = action.signal;
        if (std::ranges::find(step.targets, action.process.key) == step.targets.end())
            step.targets.push_back(action.process.key);
    }
    for (std::size_t i = 0; i < host.commands.size(); ++i) {
        if (!host.commands[i].planned && !host.commands[i].withheld) continue;
        PlannedStep& step = step_of(steps, host.commands[i].step);
        if (step.name.empty()) step.name = to_string(host.commands[i].kind);
        if (std::ranges::find(step.commands, i) == step.commands.end()) step.commands.push_back(i);
    }
    std::vector<PlannedStep> list;
    for (auto& [number, step] : steps) {
        std::erase_if(step.commands, [&](std::size_t i) { return i >= host.commands.size(); });
        list.push_back(std::move(step));
    }
    return list;
}

// "3 processes", "the same 3, if they are still there", "2 more, and 3 of those above, ...".
std::string count_text(std::size_t fresh, std::size_t again, std::size_t listed) {
    if (again == 0) return count_of(fresh, "process", "processes");
    const std::string same =
        again == listed ? fmt::format("the same {}", again) : fmt::format("{} of those above", again);
    const std::string still = again == 1 ? ", if it is still there" : ", if they are still there";
    return fresh == 0 ? same + still : fmt::format("{} more, and {}{}", fresh, same, still);
}

std::string head_of(const PlannedStep& step, std::size_t fresh, std::size_t listed) {
    std::string head = fmt::format("step {} {}", step.step, step.name);
    if (!step.targets.empty())
        head += ": " + count_text(fresh, step.targets.size() - fresh, listed);
    else if (step.commands.empty() && step.notes.empty())
        head += ": nothing to do now";
    return head;
}

bool idle(const PlannedStep& step) {
    return step.targets.empty() && step.commands.empty() && step.spared.empty() && step.notes.empty();
}

std::string_view verb_of(Kind kind, bool perhaps) {
    if (perhaps && kind == Kind::reset) return "perhaps resets: ";
    if (perhaps && kind == Kind::reboot) return "perhaps reboots: ";
    switch (kind) {
        case Kind::run:
            return "runs: ";
        case Kind::before:
            return "runs before the first step: ";
        case Kind::after:
            return "runs at the end: ";
        case Kind::stop:
            return "stops: ";
        case Kind::reset:
            return "resets: ";
        case Kind::clean_shm:
            return "removes: ";
        case Kind::reboot:
            return "reboots, if the host is not clean by then: ";
    }
    return "";
}

bool says_withheld(const PlannedStep& step) {
    return std::ranges::any_of(step.notes,
                               [](const auto& note) { return note.starts_with("would be withheld"); });
}

// Never cut: a person says yes to all of it.
void write_command(Page& page, const CommandAction& action, bool raw) {
    const std::string verb(action.withheld ? "would be withheld: "
                                           : verb_of(action.kind, action.conditional));
    const std::string command = shown_command(action.command, raw);
    if (indent + width_of(verb) + most_columns_of(command) <= page.columns()) {
        page.line(indent, {{verb}, {command}});
    } else {
        page.line(indent, {{verb.substr(0, verb.size() - 1)}});
        page.boxed(indent + 4, command);
    }
    page.wrapped(indent + 4, action.about, Style::dim);
}

void write_commands(Page& page, const HostOutcome& host, const PlannedStep& step, bool raw) {
    // By whether they would be removed.
    std::vector<const CommandAction*> files[2];
    for (const std::size_t i : step.commands) {
        const CommandAction& action = host.commands[i];
        if (action.kind == Kind::clean_shm) {
            auto& alike = files[action.withheld ? 1 : 0];
            alike.push_back(&action);
            if (alike.size() <= named) write_command(page, action, raw);
            continue;
        }
        // A note says it better, with what it is about.
        if (!action.withheld || !says_withheld(step)) write_command(page, action, raw);
    }
    for (const auto& alike : files)
        if (alike.size() > named)
            page.line(indent,
                      {{fmt::format("and {} more, in all {}", alike.size() - named, files_text(alike))}});
}

void write_spared(Page& page, const PlannedStep& step) {
    std::string text;
    for (std::size_t i = 0; i < step.spared.size() && i < named; ++i)
        text += fmt::format("{}pid {} ({})", i == 0 ? "" : ", ", step.spared[i].key.pid, step.spared[i].code);
    if (step.spared.size() > named) text += fmt::format(" and {} more", step.spared.size() - named);
    if (!text.empty()) page.wrapped(indent, "leaves alone: " + text, Style::dim);
}

void write_notes(Page& page, const PlannedStep& step) {
    for (std::size_t i = 0; i < step.notes.size() && i < named; ++i)
        page.wrapped(indent, step.notes[i], Style::dim);
    if (step.notes.size() > named)
        page.line(indent, {{fmt::format("and {} more of the kind", step.notes.size() - named), Style::dim}});
}

}  // namespace

Listed write_plan_steps(Page& page, const HostOutcome& host, bool raw_commands) {
    Listed listed;
    const auto steps = all_steps(host);
    if (std::ranges::all_of(steps, idle)) return listed;  // that nothing is done is said once
    for (const PlannedStep& step : steps) {
        std::vector<ProcessKey> fresh;
        for (const ProcessKey& key : step.targets)
            if (!listed.contains(key)) fresh.push_back(key);
        page.wrapped(step_indent, head_of(step, fresh.size(), listed.size()));
        if (!fresh.empty()) write_process_table(page, indent, host, processes_of(host, fresh));
        listed.insert(fresh.begin(), fresh.end());
        write_commands(page, host, step, raw_commands);
        write_spared(page, step);
        write_notes(page, step);
    }
    return listed;
}

}  // namespace cleanslate::controller
