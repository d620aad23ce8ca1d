#include "controller/formats/event_lines.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "controller/json_parts.hpp"
#include "controller/json_report.hpp"
#include "controller/json_writer.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

Event event_of(std::string_view name, auto&& members) {
    Event event{name, {}};
    JsonWriter json(event.members);
    json.object([&] { members(json); });
    return event;
}

// A member whose value is JSON already, behind the others.
void add_value(Event& event, std::string_view key, const std::string& json) {
    event.members.pop_back();
    event.members += fmt::format("{}\"{}\":{}}}", event.members.size() > 1 ? "," : "", key, json);
}

// The one element of a list that is JSON.
std::string element(const std::string& list) { return list.substr(1, list.size() - 2); }

Event action_event(std::string_view name, const HostOutcome& host, std::string_view stage,
                   std::string_view key, const std::string& action) {
    Event event = event_of(name, [&](JsonWriter& json) {
        json.key("host").text(host.name);
        json.key("stage").text(stage);
    });
    add_value(event, key, action);
    return event;
}

Event action_event(const HostOutcome& host, const SignalAction& action, std::string_view stage) {
    std::string list;
    JsonWriter json(list);
    write_actions(json, {action});
    return action_event("signal", host, stage, "action", element(list));
}

Event action_event(const HostOutcome& host, const CommandAction& action, bool raw, std::string_view stage) {
    std::string list;
    JsonWriter json(list);
    write_commands(json, {action}, raw);
    return action_event("command", host, stage, "command", element(list));
}

}  // namespace

std::string line_of(const Event& event, std::string_view time, std::string_view phase) {
    std::string line;
    JsonWriter json(line);
    json.object([&] {
        json.key("event").text(event.name);
        json.key("time").text_or_null(time);
        json.key("phase").text_or_null(phase);
    });
    line.back() = ',';
    line += std::string_view(event.members).substr(1);
    line += '\n';
    return line;
}

Event sweep_started_event(const Report& report, std::size_t hosts) {
    return event_of("sweep_started", [&](JsonWriter& json) {
        json.key("schema").text("cleanslate.events/1");
        json.key("command").text(report.command);
        json.key("playbook").text_or_null(report.playbook);
        json.key("inventory").text_or_null(report.inventory);
        json.key("limit").text_or_null(report.limit);
        json.key("dry_run").boolean(report.dry_run);
        json.key("hosts").number(hosts);
    });
}

Event sweep_finished_event(const Report& report) {
    Event event = event_of("sweep_finished", [&](JsonWriter& json) {
        json.key("dry_run").boolean(report.dry_run);
        json.key("seconds").seconds(report.took);
        json.key("notes").list(report.result.notes, [&](const std::string& note) { json.text(note); });
    });
    add_value(event, "summary", json_of_summary(report));
    return event;
}

Event host_started_event(const HostOutcome& host) {
    return event_of("host_started", [&](JsonWriter& json) {
        json.key("host").text(host.name);
        json.key("address").text_or_null(host.address);
    });
}

Event step_event(const HostOutcome& host) {
    return event_of("step", [&](JsonWriter& json) {
        json.key("host").text(host.name);
        json.key("doing").text(host.doing);
    });
}

Event host_finished_event(const Report& report, const HostOutcome& host, bool raw_commands) {
    Event event = event_of("host_finished", [&](JsonWriter& json) { json.key("host").text(host.name); });
    add_value(event, "report", json_of_host(report, host, raw_commands));
    return event;
}

Event intent_event(const HostOutcome& host, const SignalAction& action, bool) {
    return action_event(host, action, "intent");
}
Event intent_event(const HostOutcome& host, const CommandAction& action, bool raw) {
    return action_event(host, action, raw, "intent");
}
Event result_event(const HostOutcome& host, const SignalAction& action, bool) {
    return action_event(host, action, action.result == SignalResult::planned ? "plan" : "result");
}
Event result_event(const HostOutcome& host, const CommandAction& action, bool raw) {
    return action_event(host, action, raw, is_planned(action) ? "plan" : "result");
}

bool has_ended(const SignalAction& action) { return action.result != SignalResult::sent; }
bool has_ended(const CommandAction& action) {
    return was_stopped(action) || action.ran_to_end || action.took;
}

bool was_stopped(const SignalAction& action) {
    return action.result == SignalResult::planned || action.result == SignalResult::not_sent;
}
bool was_stopped(const CommandAction& action) {
    return action.planned || action.withheld || was_not_sent(action);
}

std::string phase_of(std::string_view command, bool dry_run) {
    if (command != "clear") return {};
    return dry_run ? "plan" : "act";
}

std::string rfc3339_milliseconds(std::chrono::system_clock::time_point time) {
    const auto since = std::chrono::floor<Milliseconds>(time).time_since_epoch();
    const auto whole = std::chrono::floor<std::chrono::seconds>(since);
    std::string text = rfc3339(whole.count());
    text.insert(text.size() - 1, fmt::format(".{:03}", (since - whole).count()));
    return text;
}

}  // namespace cleanslate::controller
