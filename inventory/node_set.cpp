#include "inventory/node_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_set>

#include "base/text.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::size_t max_digits = 18;  // fits into 64 bits
constexpr std::size_t max_name = 255;

using Names = std::vector<std::string>;

std::string quote(std::string_view text) { return fmt::format("\"{}\"", ellipsize(printable(text), 60)); }

std::unexpected<Error> bad(std::string_view text, std::string_view problem, std::string remedy = {}) {
    return fail("range", fmt::format("{}: {}", quote(text), problem), std::move(remedy));
}

bool is_number(std::string_view text) {
    return !text.empty() && text.size() <= max_digits &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_letter(std::string_view text) {
    return text.size() == 1 && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
}

// One item between the commas inside of brackets: "07", "01-16", "1:9:2".
struct Range {
    std::string_view first, last;
    std::string_view step = "1";
    bool dash = false;
};

std::optional<Range> split_range(std::string_view item) {
    if (item.find(':') != std::string_view::npos) {
        const auto parts = split(item, ':');
        if (parts.size() > 3) return std::nullopt;
        return Range{parts[0], parts[1], parts.size() == 3 ? parts[2] : "1"};
    }
    const auto dash = item.find('-');
    if (dash == std::string_view::npos) return Range{item, item};
    Range range{.first = item.substr(0, dash), .last = item.substr(dash + 1), .dash = true};
    if (const auto slash = range.last.find('/'); slash != std::string_view::npos) {
        range.step = range.last.substr(slash + 1);
        range.last = range.last.substr(0, slash);
    }
    return range;
}

Status add_letters(std::string_view whole, const Range& range, std::uint64_t step, Names& out) {
    const char first = range.first[0], last = range.last[0];
    if ((first >= 'a') != (last >= 'a')) return bad(whole, "the range mixes capital and small letters");
    if (first > last) return bad(whole, fmt::format("the range {}:{} runs backwards", first, last));
    for (std::uint64_t c = static_cast<unsigned char>(first); c <= static_cast<unsigned char>(last);
         c += step) {
        out.emplace_back(1, static_cast<char>(c));
    }
    return {};
}

// Adds what one item stands for to `out`, which may grow to `max_names`.
Status add_item(std::string_view whole, std::string_view item, std::size_t max_names, Names& out) {
    const auto range = split_range(item);
    const bool letters = range && is_letter(range->first) && is_letter(range->last);
    const bool numbers = range && is_number(range->first) && is_number(range->last);
    if (!range || (!letters && !numbers) || !is_number(range->step)) {
        return bad(whole, fmt::format("{} is no range", quote(item)),
                   "write a range such as [01-16] or [1-3,7]");
    }
    const std::uint64_t step = std::min<std::uint64_t>(*parse_number(range->step), UINT32_MAX);
    if (step == 0) return bad(whole, "the step of a range can not be 0");
    if (letters) return add_letters(whole, *range, step, out);
    const std::uint64_t first = *parse_number(range->first), last = *parse_number(range->last);
    const std::size_t width = range->first.size();
    const bool padded =
        (width > 1 && range->first[0] == '0') || (range->last.size() > 1 && range->last[0] == '0');
    // Slurm prints [01-100], and means 01 to 99 and 100.
    const bool grows = range->dash && range->last.size() > width && range->last[0] != '0';
    if (padded && range->last.size() != width && !grows) {
        return bad(whole, fmt::format("the range {} is ragged", printable(item)),
                   "write both ends with the same number of digits, such as 08-12");
    }
    if (first > last) {
        return bad(whole, fmt::format("the range {} runs backwards", printable(item)),
                   "write the lower end first");
    }
    if ((last - first) / step >= max_names - std::min(max_names, out.size())) {
        return bad(whole, fmt::format("stands for more than {} names", max_names));
    }
    for (std::uint64_t value = first; value <= last; value += step) {
        out.push_back(padded ? fmt::format("{:0{}}", value, width) : fmt::format("{}", value));
    }
    return {};
}

Status check_literal(std::string_view whole, std::string_view literal) {
    if (literal.find(']') != std::string_view::npos) return bad(whole, "a ] without its [");
    const auto odd = std::ranges::find_if(
        literal, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7F; });
    if (odd != literal.end()) return bad(whole, "a blank or control byte in a name");
    return {};
}

// Replaces each name so far by itself with each of `tails` behind it.
Status append_each(std::string_view whole, Names& names, const Names& tails, std::size_t max_names) {
    if (tails.size() > max_names / names.size()) {
        return bad(whole, fmt::format("stands for more than {} names", max_names));
    }
    Names longer;
    longer.reserve(names.size() * tails.size());
    for (const auto& name : names) {
        for (const auto& tail : tails) {
            if (name.size() + tail.size() > max_name) {
                return bad(whole, fmt::format("a name of more than {} bytes", max_name));
            }
            longer.push_back(name + tail);
        }
    }
    names = std::move(longer);
    return {};
}

// One term: text without commas outside of brackets.
Result<Names> unfold_term(std::string_view term, std::size_t max_names) {
    if (term.empty()) return bad(term, "an empty name");
    Names names(1);
    std::string_view rest = term;
    while (!rest.empty()) {
        const auto open = std::min(rest.find('['), rest.size());
        const auto literal = rest.substr(0, open);
        if (auto fine = check_literal(term, literal); !fine) return std::unexpected(fine.error());
        if (auto fine = append_each(term, names, {std::string(literal)}, max_names); !fine) {
            return std::unexpected(fine.error());
        }
        rest.remove_prefix(open);
        if (rest.empty()) break;
        const auto close = rest.find(']');
        if (close == std::string_view::npos) return bad(term, "a [ without its ]");
        Names tails;
        for (const auto item : split(rest.substr(1, close - 1), ',')) {
            if (auto fine = add_item(term, trim(item), max_names, tails); !fine)
                return std::unexpected(fine.error());
        }
        if (auto fine = append_each(term, names, tails, max_names); !fine)
            return std::unexpected(fine.error());
        rest.remove_prefix(close + 1);
    }
    return names;
}

void remove_repeats(Names& names) {
    std::unordered_set<std::string> seen;
    seen.reserve(names.size());
    std::erase_if(names, [&](const std::string& name) { return !seen.insert(name).second; });
}

}  // namespace

std::vector<std::string_view> split_terms(std::string_view text) {
    std::vector<std::string_view> terms;
    std::size_t start = 0;
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[') inside = true;
        if (text[i] == ']') inside = false;
        if (text[i] != ',' || inside) continue;
        terms.push_back(trim(text.substr(start, i - start)));
        start = i + 1;
    }
    terms.push_back(trim(text.substr(start)));
    return terms;
}

Result<std::vector<std::string>> unfold(std::string_view text, std::size_t max_names) {
    Names all;
    for (const auto term : split_terms(text)) {
        auto names = unfold_term(term, max_names);
        if (!names) return names;
        if (names->size() > max_names - all.size()) {
            return bad(text, fmt::format("stands for more than {} names", max_names));
        }
        all.insert(all.end(), std::make_move_iterator(names->begin()), std::make_move_iterator(names->end()));
    }
    if (all.size() > 1) remove_repeats(all);
    return all;
}

}  // namespace cleanslate::inventory
