#pragma once
// Lines for people. Everything that is put on a page passes through printable(): no byte of a host can steer
// the terminal, because the only escape codes are the page's own.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/verdict.hpp"
#include "controller/text_width.hpp"

namespace cleanslate::controller {

// Where finished text goes, piece by piece.
using Sink = std::function<void(std::string_view)>;

enum class Style { plain, bold, dim, green, yellow, red, magenta };

// Where a line may be broken within a text that goes on behind it.
enum class Breaks { at_blanks, at_commas_too, around };

struct Span {
    std::string text;
    Style style = Style::plain;
    Breaks breaks = Breaks::at_blanks;  // of flow()
};

Style style_of(agentless::Verdict verdict);
// The verdict's word in its colour.
Span word_of(agentless::Verdict verdict);

// Of a page that breaks no line.
inline constexpr std::size_t endless = 1'000'000;

class Page {
  public:
    Page(std::size_t columns, bool color) : columns_(columns), color_(color) {}

    // One line, as long as it is.
    void line(std::size_t indent, const std::vector<Span>& spans);
    // One line, cut to the page's columns with "..." at its end.
    void cut(std::size_t indent, const std::vector<Span>& spans);
    // As many lines as it takes, broken where the spans may be; those behind the first are indented by
    // `hanging` more. What may not be broken stays whole.
    void flow(std::size_t indent, std::size_t hanging, const std::vector<Span>& spans);
    // As many lines as it takes, broken at blanks; a word that is longer than a line stays whole.
    void wrapped(std::size_t indent, std::string_view text, Style style = Style::plain);
    // As wrapped, and words that are too long are broken: no terminal begins a line of its own with hostile
    // text.
    void boxed(std::size_t indent, std::string_view text, Style style = Style::plain);

    // Lines of another page with the same columns and colour.
    void add(std::string_view lines) { out_ += lines; }

    std::size_t columns() const { return columns_; }
    bool color() const { return color_; }
    // What was written since the last take().
    std::string take();

  private:
    void append(std::string_view printable_text, Style style);

    std::size_t columns_;
    bool color_;
    std::string out_;
};

// Words of `text` in lines of at most so many columns.
std::vector<std::string> wrap(std::string_view text, std::size_t columns);

// printable() for text of several lines: line ends and tabs stay, CRLF becomes LF.
std::string printable_lines(std::string_view text);

// "1 host", "2 hosts"; the plural is named where it is not the noun with an s.
std::string count_of(std::size_t count, std::string_view noun, std::string_view plural = {});

}  // namespace cleanslate::controller
