#include "controller/page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace cleanslate::controller {
namespace {

std::string_view code_of(Style style) {
    switch (style) {
        case Style::plain:
            return "";
        case Style::bold:
            return "\x1b[1m";
        case Style::dim:
            return "\x1b[2m";
        case Style::green:
            return "\x1b[32m";
        case Style::yellow:
            return "\x1b[33m";
        case Style::red:
            return "\x1b[31m";
        case Style::magenta:
            return "\x1b[35m";
    }
    return "";
}

std::size_t code_point_length(char lead) {
    const auto byte = static_cast<unsigned char>(lead);
    return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// What stands together on a line, and the blanks in front of it.
struct Word {
    std::vector<Span> parts;
    std::size_t blanks = 0;
    std::size_t width() const {
        std::size_t columns = 0;
        for (const Span& part : parts) columns += width_of(part.text);
        return columns;
    }
};

// Spans without a blank between them go on with the word that is there.
std::vector<Word> words_of(const std::vector<Span>& spans) {
    std::vector<Word> words(1);
    const auto next_word = [&](std::size_t blanks) {
        if (!words.back().parts.empty()) words.emplace_back();
        words.back().blanks += blanks;
    };
    for (const Span& span : spans) {
        const std::string text = printable(span.text);
        const auto begin = std::min(text.find_first_not_of(' '), text.size());
        const auto end = text.find_last_not_of(' ') + 1;  // 0: nothing but blanks
        if (begin > 0) next_word(begin);
        std::string part;
        const auto end_part = [&] {
            if (!part.empty()) words.back().parts.push_back({std::exchange(part, {}), span.style});
        };
        for (std::size_t i = begin; i < end; ++i) {
            const bool blank = text[i] == ' ' && span.breaks != Breaks::around;
            if (!blank) part += text[i];
            if (!blank && !(text[i] == ',' && span.breaks == Breaks::at_commas_too && i + 1 < end)) continue;
            end_part();
            next_word(blank ? 1 : 0);
        }
        end_part();
        if (end > 0 && end < text.size()) next_word(text.size() - end);
    }
    return words;
}

}  // namespace

Style style_of(agentless::Verdict verdict) {
    using agentless::Verdict;
    switch (verdict) {
        case Verdict::clean:
            return Style::green;
        case Verdict::dirty:
            return Style::yellow;
        case Verdict::sick:
            return Style::magenta;
        case Verdict::unknown:
        case Verdict::unreachable:
            return Style::red;
    }
    return Style::plain;
}

Span word_of(agentless::Verdict verdict) {
    return {std::string(agentless::to_string(verdict)), style_of(verdict)};
}

void Page::append(std::string_view printable_text, Style style) {
    const bool styled = color_ && style != Style::plain && !printable_text.empty();
    if (styled) out_ += code_of(style);
    out_ += printable_text;
    if (styled) out_ += "\x1b[0m";
}

void Page::line(std::size_t indent, const std::vector<Span>& spans) {
    out_.append(indent, ' ');
    for (const Span& span : spans) append(printable(span.text), span.style);
    out_ += '\n';
}

void Page::cut(std::size_t indent, const std::vector<Span>& spans) {
    std::size_t left = columns_ > indent ? columns_ - indent : 1;
    out_.append(indent, ' ');
    for (const Span& span : spans) {
        const std::string text = printable(span.text);
        const std::size_t width = width_of(text);
        append(width > left ? shortened(text, left) : text, span.style);
        if (width > left) break;
        left -= width;
    }
    out_ += '\n';
}

void Page::flow(std::size_t indent, std::size_t hanging, const std::vector<Span>& spans) {
    std::size_t used = 0;
    Span run;  // of one style
    const auto put = [&](std::string_view text, Style style) {
        if (style != run.style) append(std::exchange(run.text, {}), run.style);
        run.style = style;
        run.text += text;
    };
    out_.append(indent, ' ');
    for (const Word& word : words_of(spans)) {
        if (word.parts.empty()) continue;
        const std::size_t width = word.width();
        if (used > 0 && indent + used + word.blanks + width > columns_) {
            append(std::exchange(run.text, {}), run.style);
            out_ += '\n';
            out_.append(indent + hanging, ' ');
            used = hanging;
        } else if (word.blanks > 0) {
            // Blanks within a style keep it, those at its edge have none.
            const bool same = !run.text.empty() && run.style == word.parts.front().style;
            put(std::string(word.blanks, ' '), same ? run.style : Style::plain);
            used += word.blanks;
        }
        for (const Span& part : word.parts) put(part.text, part.style);
        used += width;
    }
    append(run.text, run.style);
    out_ += '\n';
}

void Page::wrapped(std::size_t indent, std::string_view text, Style style) {
    const std::size_t room = columns_ > indent + 20 ? columns_ - indent : 20;
    for (const std::string& part : wrap(printable(text), room)) {
        out_.append(indent, ' ');
        append(part, style);
        out_ += '\n';
    }
}

void Page::boxed(std::size_t indent, std::string_view text, Style style) {
    const std::size_t room = columns_ > indent + 20 ? columns_ - indent : 20;
    std::string line;
    std::size_t used = 0;
    const auto end_line = [&] {
        out_.append(indent, ' ');
        append(std::exchange(line, {}), style);
        out_ += '\n';
        used = 0;
    };
    for (const std::string& part : wrap(printable(text), room)) {
        for (std::size_t at = 0; at < part.size();) {
            const std::size_t length = code_point_length(part[at]);
            const auto point = std::string_view(part).substr(at, length);
            if (used + most_columns_of(point) > room) end_line();
            line += point;
            used += most_columns_of(point);
            at += length;
        }
        end_line();
    }
}

std::string Page::take() { return std::exchange(out_, {}); }

std::vector<std::string> wrap(std::string_view text, std::size_t columns) {
    std::vector<std::string> lines;
    std::string line;
    std::size_t width = 0;  // of the line
    for (std::string_view word : split(text, ' ')) {
        if (word.empty()) continue;
        if (!line.empty() && width + 1 + width_of(word) > columns) {
            lines.push_back(std::exchange(line, {}));
            width = 0;
        }
        if (!line.empty()) line += ' ';
        line += word;
        width += width_of(word) + (width > 0 ? 1 : 0);
    }
    if (!line.empty()) lines.push_back(std::move(line));
    return lines;
}

std::string printable_lines(std::string_view text) {
    std::string out;
    bool first_line = true;
    for (std::string_view line : split(text, '\n')) {
        if (!std::exchange(first_line, false)) out += '\n';
        if (line.ends_with('\r')) line.remove_suffix(1);
        bool first_cell = true;
        for (std::string_view cell : split(line, '\t')) {
            if (!std::exchange(first_cell, false)) out += '\t';
            out += printable(cell);
        }
    }
    return out;
}

std::string count_of(std::size_t count, std::string_view noun, std::string_view plural) {
    if (count == 1) return fmt::format("1 {}", noun);
    return plural.empty() ? fmt::format("{} {}s", count, noun) : fmt::format("{} {}", count, plural);
}

}  // namespace cleanslate::controller
