// config: each setting in force, and where it comes from. No host is contacted.

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/text.hpp"
#include "controller/audit_log.hpp"
#include "controller/commands.hpp"
#include "controller/config/config.hpp"
#include "controller/exit_status.hpp"
#include "controller/history/history.hpp"
#include "controller/json_writer.hpp"

namespace cleanslate::controller {
namespace {

using config::Config;
using config::Key;
using config::Setting;
using config::Shape;
using config::Value;

constexpr std::size_t source_column = 46;

// A value and who says so.
struct Holding {
    std::string text;
    std::string variable;       // of the environment
    const Value* in = nullptr;  // of a file
    bool built_in() const { return variable.empty() && in == nullptr; }
};

struct Line {
    const Key* key = nullptr;
    std::vector<Holding> values;
    const Setting* setting = nullptr;  // with an empty list, its values say nothing
};

std::string value_of(const Environment& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string{} : found->second;
}

// What holds where no file says anything.
Holding default_of(const Key& key, const Environment& environment) {
    const bool is_history = key.name == "history";
    if (!is_history && key.name != "audit") return {std::string(key.built_in), {}, nullptr};
    const std::string file = is_history ? default_history_file(environment) : default_audit_file(environment);
    if (file.empty()) return {"none", {}, nullptr};
    const bool by_state = value_of(environment, "XDG_STATE_HOME").starts_with('/');
    return {file, by_state ? "XDG_STATE_HOME" : "HOME", nullptr};
}

std::vector<Line> lines_of(const std::vector<Setting>& settings, const Environment& environment) {
    std::vector<Line> lines;
    for (const Key& key : config::keys()) {
        Line line{&key, {}, nullptr};
        const std::string variable = key.name == "inventory" ? "CLEANSLATE_INVENTORY" : "";
        const auto setting = std::ranges::find(settings, &key, &Setting::key);
        if (const auto text = value_of(environment, variable); !variable.empty() && !text.empty()) {
            line.values.push_back({text, variable, nullptr});
        } else if (setting != settings.end()) {
            line.setting = &*setting;
            for (const Value& value : setting->values) line.values.push_back({value.text, {}, &value});
        } else {
            line.values.push_back(default_of(key, environment));
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

std::string_view state_of(const config::File& file) {
    return file.trouble ? "refused" : file.there ? "read" : "not there";
}

// In "...", where what cannot be printed has an escape: \x09, \u202E. A byte that is no UTF-8 (of the
// environment) has none; it is shown as if it had.
std::string escaped(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        std::size_t length = 1;
        while (length < 4 && length < text.size() && (text[length] & 0xC0) == 0x80) ++length;
        if (invalid_utf8(text.substr(0, length))) length = 1;
        const std::string_view piece = text.substr(0, length);
        text.remove_prefix(length);
        if (piece == "\"" || piece == "\\") {
            out.append("\\").append(piece);
        } else if (printable(piece) == piece) {
            out += piece;
        } else {
            const auto lead = static_cast<unsigned char>(piece.front());
            std::uint32_t point = length == 1 ? lead : lead & (0xFFu >> (length + 1));
            for (const char c : piece.substr(1)) point = point << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
            out += point < 0x100     ? fmt::format("\\x{:02X}", point)
                   : point < 0x10000 ? fmt::format("\\u{:04X}", point)
                                     : fmt::format("\\U{:08X}", point);
        }
    }
    return out + "\"";
}

// As YAML would have it: in quotes where it could be read as something else.
std::string quoted(const std::string& text) {
    constexpr std::string_view plain = "_./@+=%~$";
    const bool is_plain = std::ranges::all_of(text, [&](const char c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        return letter || c == '-' || plain.find(c) != std::string_view::npos;
    });
    if (is_plain && !text.starts_with('-') && !text.starts_with('@') && !text.starts_with('%') &&
        !text.starts_with('=') && text != "~")
        return text;
    if (printable(text) != text) return escaped(text);
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
    return out + "'";
}

std::string source_of(const Holding& value) {
    if (value.in != nullptr) return value.in->place();
    return value.variable.empty() ? "built-in default" : "$" + value.variable;
}

void write_line(std::string& text, const std::string& left, const std::string& source) {
    text += fmt::format("{:<{}}  # {}\n", left, source_column - 4, source);
}

std::string text_of(const Config& config, const std::vector<Line>& lines) {
    std::string text;
    if (config.files.empty()) text += "# no config file: --config none, or $CLEANSLATE_CONFIG\n";
    for (const auto& file : config.files)
        text += fmt::format("# {}, {}: {}\n", printable(file.path), file.named_by, state_of(file));
    for (const Line& line : lines) {
        const Shape shape = line.key->shape;
        const std::string key = std::string(line.key->name) + ":";
        if (line.values.empty()) {
            write_line(text, key + " []", line.setting->place());
        } else if (line.values.front().built_in()) {
            write_line(text, "#" + key + " " + line.values.front().text, "built-in default");
        } else if (shape == Shape::list || shape == Shape::growing_list) {
            text += key + "\n";
            for (const Holding& value : line.values)
                write_line(text, "  - " + quoted(value.text), source_of(value));
        } else {
            write_line(text, key + " " + quoted(line.values.front().text), source_of(line.values.front()));
        }
    }
    return text;
}

void write_value(JsonWriter& json, const Holding& value) {
    json.object([&] {
        json.key("value").text(value.text);
        json.key("source").text(value.in != nullptr      ? "file"
                                : value.variable.empty() ? "built-in"
                                                         : "environment");
        value.in == nullptr ? json.key("file").null() : json.key("file").text(value.in->file);
        value.in == nullptr ? json.key("line").null() : json.key("line").number(value.in->mark.line);
        value.in == nullptr ? json.key("column").null() : json.key("column").number(value.in->mark.column);
        value.variable.empty() ? json.key("variable").null() : json.key("variable").text(value.variable);
    });
}

std::string json_of(const Config& config, const std::vector<Line>& lines) {
    std::string text;
    JsonWriter json(text);
    json.object([&] {
        json.key("schema").text("cleanslate.config/1");
        json.key("files").list(config.files, [&](const config::File& file) {
            json.object([&] {
                json.key("path").text(file.path);
                json.key("named_by").text(file.named_by);
                json.key("state").text(state_of(file));
                file.trouble ? json.key("error").text(file.trouble->message) : json.key("error").null();
            });
        });
        json.key("settings").list(lines, [&](const Line& line) {
            json.object([&] {
                json.key("key").text(line.key->name);
                json.key("values").list(line.values, [&](const Holding& value) { write_value(json, value); });
                json.key("built_in").text(line.key->built_in);
            });
        });
    });
    return text + "\n";
}

}  // namespace

int config_command(const Context& context) {
    const Config config = config::load_config(context.options.config, context.environment);
    bool broken = false;
    for (const auto& file : config.files) {
        if (!file.trouble) continue;
        print_error(*file.trouble);
        broken = true;
    }
    if (const auto right = config::check_values(config); !right) {
        print_error(right.error());
        broken = true;
    }
    const auto settings = config.settings();
    const auto lines = lines_of(settings, context.environment);
    context.out.write(context.options.format == Format::json ? json_of(config, lines)
                                                             : text_of(config, lines));
    const int written = finish_output(context);
    return broken && written == 0 ? exit_usage : written;
}

}  // namespace cleanslate::controller
