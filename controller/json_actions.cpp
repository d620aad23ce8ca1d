// What was done to a host, or would be, in the JSON report.

#include <algorithm>

#include "controller/json_parts.hpp"
#include "controller/json_text.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

void write_action(JsonWriter& json, const SignalAction& action) {
    json.object([&] {
        json.key("step").number(action.step);
        json.key("signal").text(action.signal);
        write_key_members(json, action.process.key);
        write_holder_members(json, action.process);
        json.key("rule").text_or_null(action.rule);
        const bool said = action.result != SignalResult::sent;  // otherwise its result never came
        json.key("result").text_or_null(said ? to_string(action.result) : std::string_view());
        json.key("end_state").text_or_null(std::string_view(&action.state, action.state == '?' ? 0 : 1));
        json.key("seconds").seconds_or_null(action.took);
    });
}

void write_stream(JsonWriter& json, const std::string& out, bool ran) { ran ? json.lines(out) : json.null(); }

void write_command(JsonWriter& json, const CommandAction& action, bool raw) {
    const bool ran = !action.planned && !action.withheld && !was_not_sent(action);
    json.object([&] {
        json.key("step").number(action.step);
        json.key("kind").text(to_string(action.kind));
        json.key("command").text(shown_command(action.command, raw));
        json.key("about").text_or_null(action.about);
        json.key("bytes").number_or_null(action.bytes);
        json.key("withheld").boolean(action.withheld);
        json.key("conditional").boolean(action.conditional);
        json.key("result").text(command_word(action));
        json.key("exit_status").number_or_null(action.exit_status);
        json.key("exit_signal").text_or_null(action.exit_signal);
        write_stream(json.key("stdout"), action.out, ran);
        write_stream(json.key("stderr"), action.err, ran);
        json.key("seconds").seconds_or_null(action.took);
    });
}

// Who it is stands there only where nothing else of the host says it.
void write_target(JsonWriter& json, const ProcessKey& key, const std::vector<Holder>& known) {
    json.object([&] {
        write_key_members(json, key);
        const auto who = std::ranges::find(known, key, &Holder::key);
        if (who != known.end()) write_holder_members(json, *who);
    });
}

void write_planned(JsonWriter& json, const PlannedStep& step) {
    json.object([&] {
        json.key("step").number(step.step);
        json.key("name").text(step.name);
        json.key("targets").list(
            step.targets, [&](const ProcessKey& key) { write_target(json, key, step.target_holders); });
        json.key("spared").list(step.spared, [&](const Spared& spared) {
            json.object([&] {
                write_key_members(json, spared.key);
                json.key("code").text(spared.code);
                json.key("why").text(spared.why);
            });
        });
        json.key("commands").list(step.commands, [&](std::size_t place) { json.number(place); });
        write_texts(json.key("notes"), step.notes);
    });
}

}  // namespace

void write_actions(JsonWriter& json, const std::vector<SignalAction>& actions) {
    json.list(actions, [&](const SignalAction& action) { write_action(json, action); });
}

void write_commands(JsonWriter& json, const std::vector<CommandAction>& commands, bool raw_commands) {
    json.list(commands, [&](const CommandAction& action) { write_command(json, action, raw_commands); });
}

void write_spared(JsonWriter& json, const HostOutcome& host) {
    const Holder unknown;
    json.list(host.spared, [&, i = std::size_t{0}](const Spared& spared) mutable {
        const Holder& who = i < host.spared_holders.size() ? host.spared_holders[i] : unknown;
        ++i;
        json.object([&] {
            write_key_members(json, spared.key);
            write_holder_members(json, who);
            json.key("code").text(spared.code);
            json.key("why").text(spared.why);
        });
    });
}

void write_plan(JsonWriter& json, const std::vector<PlannedStep>& steps) {
    if (steps.empty()) return json.null();
    json.list(steps, [&](const PlannedStep& step) { write_planned(json, step); });
}

}  // namespace cleanslate::controller
