// Names -> node set. A name is its shape (the text between the numbers) and its numbers; names of one shape
// are rows of numbers, and rows that differ in one column only are joined, column by column from the last.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::size_t max_digits = 18;  // longer runs of digits are text
constexpr char slot = '\0';             // in a shape: here stands a number

struct Number {
    std::uint64_t value = 0;
    std::size_t digits = 0;
    friend auto operator<=>(const Number&, const Number&) = default;
    bool has_leading_zero() const { return digits > 1 && fmt::formatted_size("{}", value) < digits; }
};

using Cell = std::vector<Number>;  // sorted, each once
using Row = std::vector<Cell>;

// The run of digits at the start of `text`.
std::string_view digits_of(std::string_view text) {
    return text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
}

std::pair<std::string, Row> take_apart(std::string_view name) {
    std::string shape;
    Row row;
    while (!name.empty()) {
        const auto digits = digits_of(name);
        if (digits.empty()) {
            shape += name.front();
            name.remove_prefix(1);
            continue;
        }
        if (digits.size() <= max_digits) {
            shape += slot;
            row.push_back({Number{*parse_number(digits), digits.size()}});
        } else {
            shape += digits;
        }
        name.remove_prefix(digits.size());
    }
    return {std::move(shape), std::move(row)};
}

// Joins rows that are the same but for `column`.
void join(std::vector<Row>& rows, std::size_t column) {
    const auto others_less = [column](const Row& a, const Row& b) {
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (i != column && a[i] != b[i]) return a[i] < b[i];
        }
        return false;
    };
    std::ranges::stable_sort(rows, others_less);
    std::vector<Row> joined;
    for (auto& row : rows) {
        if (joined.empty() || others_less(joined.back(), row)) {
            joined.push_back(std::move(row));
        } else {
            auto& cell = joined.back()[column];
            cell.insert(cell.end(), row[column].begin(), row[column].end());
        }
    }
    for (auto& row : joined) std::ranges::sort(row[column]);
    rows = std::move(joined);
}

// 08 and 10 belong to one range, 8 and 10 to another: `width` is the number of digits, or 0 for as many as
// needed.
struct Run {
    std::uint64_t first = 0;
    std::size_t width = 0;
    std::uint64_t last = 0;
    friend auto operator<=>(const Run&, const Run&) = default;
};

std::vector<Run> runs_of(const Cell& cell) {
    std::set<std::size_t> padded;
    for (const Number& number : cell) {
        if (number.has_leading_zero()) padded.insert(number.digits);
    }
    std::map<std::size_t, std::vector<Run>> by_width;
    for (const Number& number : cell) {
        const std::size_t width = padded.contains(number.digits) ? number.digits : 0;
        auto& runs = by_width[width];
        if (!runs.empty() && runs.back().last + 1 == number.value) {
            runs.back().last = number.value;
        } else {
            runs.push_back({number.value, width, number.value});
        }
    }
    std::vector<Run> all;
    for (const auto& [width, runs] : by_width) all.insert(all.end(), runs.begin(), runs.end());
    std::ranges::sort(all);
    return all;
}

std::string show(const Cell& cell) {
    if (cell.size() == 1) return fmt::format("{:0{}}", cell[0].value, cell[0].digits);
    std::string items;
    for (const Run& run : runs_of(cell)) {
        if (!items.empty()) items += ',';
        items += fmt::format("{:0{}}", run.first, run.width);
        if (run.last != run.first) items += fmt::format("-{:0{}}", run.last, run.width);
    }
    return '[' + items + ']';
}

template <class Show>
std::string put_together(std::string_view shape, const Row& row, Show&& show_cell) {
    std::string out;
    std::size_t next = 0;
    for (const char c : shape) {
        if (c == slot) {
            out += show_cell(row[next++]);
        } else {
            out += c;
        }
    }
    return out;
}

std::string first_name(std::string_view shape, const Row& row) {
    return put_together(shape, row, [](const Cell& cell) { return show({cell.front()}); });
}

// gpu2 before gpu10, gpu10 before login1.
bool natural_less(std::string_view a, std::string_view b) {
    const std::string_view whole_a = a, whole_b = b;
    while (!a.empty() && !b.empty()) {
        auto x = digits_of(a), y = digits_of(b);
        if (x.empty() || y.empty()) {
            if (a.front() != b.front()) return a.front() < b.front();
            x = a.substr(0, 1), y = b.substr(0, 1);
        }
        a.remove_prefix(x.size());
        b.remove_prefix(y.size());
        x.remove_prefix(std::min(x.find_first_not_of('0'), x.size()));
        y.remove_prefix(std::min(y.find_first_not_of('0'), y.size()));
        if (x.size() != y.size()) return x.size() < y.size();
        if (x != y) return x < y;
    }
    if (a.empty() != b.empty()) return a.empty();
    return whole_a < whole_b;
}

}  // namespace

std::string fold(const std::vector<std::string>& names) {
    std::vector<std::string_view> unique(names.begin(), names.end());
    std::ranges::sort(unique);
    unique.erase(std::ranges::unique(unique).begin(), unique.end());
    std::map<std::string, std::vector<Row>> shapes;
    std::vector<std::pair<std::string, std::string>> terms;  // first name, to sort by, and folded term
    for (const auto name : unique) {
        if (name.find(slot) != std::string_view::npos) {
            terms.emplace_back(name, name);
            continue;
        }
        auto [shape, row] = take_apart(name);
        shapes[std::move(shape)].push_back(std::move(row));
    }
    for (auto& [shape, rows] : shapes) {
        for (std::size_t column = rows.front().size(); column-- > 0;) join(rows, column);
        for (const Row& row : rows)
            terms.emplace_back(first_name(shape, row), put_together(shape, row, show));
    }
    std::ranges::sort(terms, [](const auto& a, const auto& b) { return natural_less(a.first, b.first); });
    std::string out;
    for (const auto& [first, term] : terms) {
        if (!out.empty()) out += ',';
        out += term;
    }
    return out;
}

}  // namespace cleanslate::inventory
