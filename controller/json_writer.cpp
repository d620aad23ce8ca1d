#include "controller/json_writer.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller {
namespace {

// Neither printable() nor JSON changes these: nearly all text is made of them.
bool is_plain(char c) { return c >= ' ' && c < 0x7F && c != '"' && c != '\\'; }

}  // namespace

void JsonWriter::escaped(std::string_view printable_text) {
    while (!printable_text.empty()) {
        const auto end = std::ranges::find_if(printable_text, [](char c) {
            return static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\';
        });
        const auto same = static_cast<std::size_t>(end - printable_text.begin());
        out_ += printable_text.substr(0, same);
        if (end == printable_text.end()) return;
        switch (*end) {
            case '"':
                out_ += "\\\"";
                break;
            case '\\':
                out_ += "\\\\";
                break;
            case '\n':
                out_ += "\\n";
                break;
            case '\t':
                out_ += "\\t";
                break;
            default:
                fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned char>(*end));
        }
        printable_text.remove_prefix(same + 1);
    }
}

JsonWriter& JsonWriter::foreign_key(std::string_view name) {
    text(name);
    out_ += ':';
    comma_ = false;
    return *this;
}

void JsonWriter::text(std::string_view text) {
    begin_value();
    out_ += '"';
    if (std::ranges::all_of(text, is_plain))
        out_ += text;
    else
        escaped(printable(text));
    out_ += '"';
}

void JsonWriter::lines(std::string_view text) {
    begin_value();
    out_ += '"';
    escaped(printable_lines(text));
    out_ += '"';
}

// The shortest decimal with a point: 1.2, 0.03, 2.0.
void JsonWriter::seconds(Milliseconds duration) {
    begin_value();
    const auto count = duration.count();
    if (count < 0) out_ += '-';
    const auto magnitude =
        count < 0 ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
    fmt::format_to(std::back_inserter(out_), "{}.{:03}", magnitude / 1000, magnitude % 1000);
    for (int zeros = 0; zeros < 2 && out_.back() == '0'; ++zeros) out_.pop_back();
}

}  // namespace cleanslate::controller
