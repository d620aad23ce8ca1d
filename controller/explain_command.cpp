// explain: what a finding code means, from the one table of codes.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "agentless/findings.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "controller/commands.hpp"
#include "controller/exit_status.hpp"
#include "controller/json_text.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller {
namespace {

using agentless::FindingKind;
using agentless::Severity;

constexpr std::size_t label_width = 10;
constexpr std::size_t near_shown = 5;

// "Driver_Hung:" as "driver-hung": typed, or copied out of a report.
std::string normal_code(std::string_view word) {
    word = trim(word);
    if (word.ends_with(':')) word.remove_suffix(1);
    std::string code;
    for (const char c : word) {
        const bool capital = c >= 'A' && c <= 'Z';
        code += capital ? static_cast<char>(c - 'A' + 'a') : c == '_' || c == ' ' ? '-' : c;
    }
    return code;
}

const FindingKind* find_kind(std::string_view code) {
    const auto& kinds = agentless::finding_kinds();
    const auto found = std::ranges::find(kinds, code, &FindingKind::code);
    return found == kinds.end() ? nullptr : &*found;
}

// The code that a slip was meant for, and those with the word in them.
std::vector<std::string> near_codes(const std::string& code) {
    std::vector<std::string> names, near;
    for (const FindingKind& kind : agentless::finding_kinds()) names.emplace_back(kind.code);
    const auto slip = yaml::nearest(code, names);
    if (!slip.empty()) near.push_back(slip);
    for (const std::string& name : names)
        if (code.size() > 2 && name != slip && name.find(code) != std::string::npos) near.push_back(name);
    if (near.size() > near_shown) near.resize(near_shown);
    return near;
}

struct Lookup {
    std::vector<const FindingKind*> kinds;
    std::vector<Error> unknown;
};

Lookup look_up(const std::vector<std::string>& words) {
    Lookup found;
    for (const std::string& word : words) {
        const std::string code = normal_code(word);
        if (const FindingKind* kind = find_kind(code)) {
            if (std::ranges::find(found.kinds, kind) == found.kinds.end()) found.kinds.push_back(kind);
            continue;
        }
        const auto near = near_codes(code);
        found.unknown.push_back({"usage", "",
                                 fmt::format("no such finding code: {}", ellipsize(printable(word), 60)),
                                 near.empty() ? "`cleanslate explain` lists them all"
                                              : fmt::format("did you mean {}?", fmt::join(near, ", "))});
    }
    return found;
}

Style style_of(Severity severity) {
    switch (severity) {
        case Severity::note:
            return Style::dim;
        case Severity::dirty:
            return Style::yellow;
        case Severity::sick:
            return Style::magenta;
        case Severity::unknown:
            return Style::red;
    }
    return Style::plain;
}

// "    evidence  a cell of the GPU's row, or a line that names its bus id,"
// "              says `GPU requires reset`"
void write_part(Page& page, std::string_view label, std::string_view text) {
    const std::size_t left = 4 + label_width;
    const auto lines = wrap(text, page.columns() > left + 20 ? page.columns() - left : 20);
    for (const std::string& line : lines) {
        const std::string head = &line == lines.data() ? std::string(label) : std::string();
        page.line(4, {{fmt::format("{:<{}}", head, label_width), Style::dim}, {line}});
    }
}

void write_kind(Page& page, const FindingKind& kind) {
    page.line(0, {{std::string(kind.code), Style::bold},
                  {": "},
                  {agentless::severities_of(kind), style_of(kind.severity)}});
    write_part(page, "meaning", kind.meaning);
    write_part(page, "evidence", kind.evidence);
    write_part(page, "remedy", kind.remedy);
}

void write_list(Page& page, const std::vector<const FindingKind*>& kinds) {
    std::size_t code = 0, severity = 0;
    for (const FindingKind* kind : kinds) {
        code = std::max(code, kind->code.size());
        severity = std::max(severity, to_string(kind->severity).size());
    }
    const std::size_t left = code + severity + 4;
    for (const FindingKind* kind : kinds) {
        const bool fits = page.columns() > left + 20;
        const auto lines = fits ? wrap(kind->meaning, page.columns() - left)
                                : std::vector<std::string>{std::string(kind->meaning)};
        page.line(0,
                  {{fmt::format("{:<{}}  ", kind->code, code), Style::bold},
                   {fmt::format("{:<{}}  ", to_string(kind->severity), severity), style_of(kind->severity)},
                   {lines.front()}});
        for (std::size_t i = 1; i < lines.size(); ++i) page.line(left, {{lines[i]}});
    }
}

std::string json_of(const std::vector<const FindingKind*>& kinds) {
    std::string out = "{\"schema\":\"cleanslate.findings/1\",\"findings\":[";
    std::string_view separator = "\n";
    for (const FindingKind* kind : kinds) {
        const nlohmann::ordered_json json = {{"code", kind->code},
                                             {"severity", to_string(kind->severity)},
                                             {"meaning", kind->meaning},
                                             {"evidence", text_or_null(std::string(kind->evidence))},
                                             {"remedy", text_or_null(std::string(kind->remedy))}};
        out += std::string(separator) + dump(json);
        separator = ",\n";
    }
    return out + "\n]}\n";
}

}  // namespace

int explain_command(const Context& context) {
    const Options& options = context.options;
    Lookup found = look_up(options.codes);
    for (const Error& error : found.unknown) print_error(error);
    if (!found.unknown.empty()) return exit_usage;
    if (options.codes.empty())
        for (const FindingKind& kind : agentless::finding_kinds()) found.kinds.push_back(&kind);

    const bool terminal = context.terminal.out;
    Page page(terminal ? context.terminal.out_columns : 80,
              use_color(options.color, terminal, context.environment));
    if (options.format == Format::json) {
        context.out.write(json_of(found.kinds));
    } else if (options.codes.empty()) {
        write_list(page, found.kinds);
    } else {
        for (const FindingKind* kind : found.kinds) write_kind(page, *kind);
    }
    context.out.write(page.take());
    return finish_output(context);
}

}  // namespace cleanslate::controller
