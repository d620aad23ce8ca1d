#include "tests/fleet/scale/script.hpp"

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

bool is_name(std::string_view text) {
    if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
    for (const char c : text)
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
            return false;
    return true;
}

// name=value or name='value'; false for any other line.
bool take_assignment(std::string_view line, Script& script) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || !is_name(line.substr(0, equals))) return false;
    auto value = line.substr(equals + 1);
    if (value.size() >= 2 && value.front() == '\'' && value.back() == '\'')
        value = value.substr(1, value.size() - 2);
    if (value.find_first_of("'\"`$") != std::string_view::npos) return false;
    script.values.insert_or_assign(std::string(line.substr(0, equals)), std::string(value));
    return true;
}

std::string_view last_line(std::string_view text) {
    if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    const auto at = text.rfind('\n');
    return at == std::string_view::npos ? text : text.substr(at + 1);
}

// The last line is `cleanslate_run SECONDS NONCE`, and before it stands the function with the command.
bool take_command(std::string_view text, Script& script) {
    const auto words = split(last_line(text), ' ');
    if (words.size() != 3 || words[0] != "cleanslate_run" || !to_number(words[1])) return false;
    constexpr std::string_view head = "\ncleanslate_command() {\n:\n";
    const auto begin = text.rfind(head);
    const auto end = text.rfind("\n}\ncleanslate_run ");
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin + head.size())
        return false;
    script.command = text.substr(begin + head.size(), end - begin - head.size());
    script.values["timeout_s"] = words[1];
    script.values["nonce"] = words[2];
    return true;
}

ScriptKind kind_of(const Script& script) {
    const auto has = [&](std::string_view name) { return script.values.contains(name); };
    if (!has("nonce")) return ScriptKind::unknown;
    if (has("gpu_columns") && has("app_columns")) return ScriptKind::survey;
    if (has("signal") && has("targets")) return ScriptKind::signal;
    if (script.value("act") == "take") return ScriptKind::take_lock;
    if (script.value("act") == "release") return ScriptKind::release_lock;
    if (has("files")) return ScriptKind::shm;
    if (has("gpus") || has("daemons") || has("units")) return ScriptKind::reset;
    if (has("boot") && script.values.size() == 2) return ScriptKind::reboot;
    return ScriptKind::unknown;
}

}  // namespace

const char* name_of(ScriptKind kind) {
    switch (kind) {
        case ScriptKind::survey:
            return "survey";
        case ScriptKind::signal:
            return "signal";
        case ScriptKind::take_lock:
            return "lock";
        case ScriptKind::release_lock:
            return "release";
        case ScriptKind::command:
            return "command";
        case ScriptKind::reset:
            return "reset";
        case ScriptKind::shm:
            return "shm";
        case ScriptKind::reboot:
            return "reboot";
        case ScriptKind::unknown:
            break;
    }
    return "unknown script";
}

const std::string& Script::value(std::string_view name) const {
    static const std::string none;
    const auto found = values.find(name);
    return found == values.end() ? none : found->second;
}

long Script::number(std::string_view name, long otherwise) const {
    return to_number(value(name)).value_or(otherwise);
}

bool is_whole(std::string_view text) {
    if (text.empty() || text.back() != '\n') return false;
    const auto line = last_line(text);
    return line == "main" || line.starts_with("cleanslate_run ");
}

Script recognise(std::string_view text) {
    Script script;
    if (!is_whole(text)) return script;
    if (last_line(text) != "main") {
        if (take_command(text, script)) script.kind = ScriptKind::command;
        return script;
    }
    for (auto rest = text; !rest.empty();) {
        const auto end = rest.find('\n');
        if (!take_assignment(rest.substr(0, end), script)) break;
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    script.kind = kind_of(script);
    return script;
}

}  // namespace cleanslate::simulated
