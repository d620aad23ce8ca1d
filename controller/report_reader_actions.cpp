// What was done to a host, or would be, read back: the other side of json_actions.cpp.

#include "controller/report_reader_parts.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;
using Kind = CommandAction::Kind;

constexpr SignalResult signal_results[] = {
    SignalResult::ended,         SignalResult::alive,   SignalResult::zombie,  SignalResult::changed,
    SignalResult::not_permitted, SignalResult::planned, SignalResult::not_sent};
constexpr Kind kinds[] = {Kind::run,   Kind::before,    Kind::after, Kind::stop,
                          Kind::reset, Kind::clean_shm, Kind::reboot};

enum class CommandResult { ok, failed, not_ended, planned, withheld, not_sent };
constexpr CommandResult command_results[] = {CommandResult::ok,        CommandResult::failed,
                                             CommandResult::not_ended, CommandResult::planned,
                                             CommandResult::withheld,  CommandResult::not_sent};
std::string_view to_string(CommandResult result) {
    constexpr std::string_view words[] = {"ok", "failed", "not_ended", "planned", "withheld", "not_sent"};
    return words[static_cast<std::size_t>(result)];
}

SignalAction read_action(const JsonCursor& json) {
    SignalAction action;
    action.step = json.member("step").number<int>(0);
    action.signal = json.member("signal").text();
    action.process = read_holder(json, true);
    action.rule = json.member("rule").text_or_empty();
    const JsonCursor result = json.member("result");
    action.result = result.is_null() ? SignalResult::sent : result.word(signal_results);
    if (const auto state = json.known("end_state")) action.state = state->letter_or_mark();
    action.took = json.member("seconds").seconds_or_null();
    return action;
}

std::string read_stream(const JsonCursor& json, bool ran) {
    if (ran) return json.lines();
    if (!json.is_null()) json.refuse("wants null, since nothing ran");
    return {};
}

CommandAction read_command(const JsonCursor& json) {
    CommandAction action;
    action.step = json.member("step").number<int>(0);
    action.kind = json.member("kind").word(kinds);
    action.command = json.member("command").text();
    action.about = json.member("about").text_or_empty();
    action.bytes = json.member("bytes").number_or_null<std::uint64_t>();
    action.withheld = json.member("withheld").boolean();
    action.conditional = json.member("conditional").boolean();
    const CommandResult result = json.member("result").word(command_results);
    if (action.withheld != (result == CommandResult::withheld))
        json.member("withheld").refuse("says other than the result");
    action.planned = result == CommandResult::planned;
    action.not_sent = result == CommandResult::not_sent;
    action.ok = result == CommandResult::ok;
    action.ran_to_end = action.ok || result == CommandResult::failed;
    action.exit_status = json.member("exit_status").number_or_null<int>();
    action.exit_signal = json.member("exit_signal").text_or_empty();
    const bool ran = action.ran_to_end || result == CommandResult::not_ended;
    action.out = read_stream(json.member("stdout"), ran);
    action.err = read_stream(json.member("stderr"), ran);
    action.took = json.member("seconds").seconds_or_null();
    return action;
}

Spared read_reason(const JsonCursor& json, const ProcessKey& key) {
    Spared spared;
    spared.key = key;
    spared.code = json.member("code").text();
    spared.why = json.member("why").text();
    return spared;
}

PlannedStep read_step(const JsonCursor& json, std::size_t commands) {
    PlannedStep step;
    step.step = json.member("step").number<int>(0);
    step.name = json.member("name").text();
    json.member("targets").each([&](const JsonCursor& target) {
        if (!target.known("user")) {
            step.targets.push_back(read_key(target));
            return;
        }
        step.target_holders.push_back(read_holder(target));
        step.targets.push_back(step.target_holders.back().key);
    });
    json.member("spared").each(
        [&](const JsonCursor& spared) { step.spared.push_back(read_reason(spared, read_key(spared))); });
    json.member("commands").each([&](const JsonCursor& place) {
        step.commands.push_back(place.number<std::size_t>());
        if (step.commands.back() >= commands) place.refuse("the host has no such command");
    });
    step.notes = read_texts(json.member("notes"));
    return step;
}

}  // namespace

std::vector<SignalAction> read_actions(const JsonCursor& json) {
    std::vector<SignalAction> actions;
    json.each([&](const JsonCursor& action) { actions.push_back(read_action(action)); });
    return actions;
}

std::vector<CommandAction> read_commands(const JsonCursor& json) {
    std::vector<CommandAction> commands;
    json.each([&](const JsonCursor& command) { commands.push_back(read_command(command)); });
    return commands;
}

void read_spared(const JsonCursor& json, HostOutcome& host) {
    json.each([&](const JsonCursor& spared) {
        host.spared_holders.push_back(read_holder(spared, true));
        host.spared.push_back(read_reason(spared, host.spared_holders.back().key));
    });
}

std::vector<PlannedStep> read_plan(const JsonCursor& json, std::size_t commands) {
    std::vector<PlannedStep> steps;
    if (json.is_null()) return steps;
    json.each([&](const JsonCursor& step) { steps.push_back(read_step(step, commands)); });
    return steps;
}

}  // namespace cleanslate::controller
