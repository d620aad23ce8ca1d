#pragma once
// JSON written as it is said, without a tree in between: the report of a large fleet has a million values.
// Text passes through printable(), as in json_text.hpp; what was not observed is null.

#include <fmt/core.h>

#include <concepts>
#include <iterator>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>

#include "base/units.hpp"

namespace cleanslate::controller {

// Appends to a text. Values go by turns with their keys in an object, and one after the other in a list.
class JsonWriter {
  public:
    explicit JsonWriter(std::string& out) : out_(out) {}

    // Of the value that comes next; a word of ours, which needs no escape.
    JsonWriter& key(std::string_view name) {
        begin_value();
        out_ += '"';
        out_ += name;
        out_ += "\":";
        comma_ = false;
        return *this;
    }
    // The same with a word from outside.
    JsonWriter& foreign_key(std::string_view name);

    // `members` writes keys and values.
    void object(std::invocable auto&& members) {
        open('{');
        members();
        close('}');
    }
    // `write` writes one value for each item.
    template <std::ranges::input_range Range>
    void list(Range&& items, auto&& write) {
        open('[');
        for (auto&& item : items) write(item);
        close(']');
    }

    void null() { literal("null"); }
    void boolean(bool value) { literal(value ? "true" : "false"); }
    void number(std::integral auto value) {
        begin_value();
        fmt::format_to(std::back_inserter(out_), "{}", value);
    }
    void text(std::string_view text);
    void lines(std::string_view text);  // printable_lines(): of several lines
    void seconds(Milliseconds duration);

    void text_or_null(std::string_view value) {  // empty: null
        value.empty() ? null() : text(value);
    }
    void text_or_null(const std::string& value) { text_or_null(std::string_view(value)); }
    void text_or_null(const std::optional<std::string>& value) { value ? text(*value) : null(); }
    void number_or_null(const auto& value) { value ? number(*value) : null(); }
    void mib_or_null(const std::optional<Mebibytes>& value) { value ? number(value->count) : null(); }
    void seconds_or_null(const std::optional<Milliseconds>& value) { value ? seconds(*value) : null(); }

  private:
    void begin_value() {
        if (std::exchange(comma_, true)) out_ += ',';
    }
    void open(char bracket) {
        begin_value();
        out_ += bracket;
        comma_ = false;
    }
    void close(char bracket) {
        out_ += bracket;
        comma_ = true;
    }
    void literal(std::string_view value) {
        begin_value();
        out_ += value;
    }
    void escaped(std::string_view printable_text);

    std::string& out_;
    bool comma_ = false;  // another value would need one in front
};

}  // namespace cleanslate::controller
