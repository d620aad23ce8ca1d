#include "inventory/list_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::size_t max_file = 16U << 20;
constexpr std::string_view blanks = " \t\r\v\f";

std::string quote(std::string_view text) { return fmt::format("\"{}\"", ellipsize(printable(text), 60)); }

// Open MPI's: slots=8, max_slots=8, max-slots=8.
bool is_slots(std::string_view word) {
    for (const std::string_view key : {"slots=", "max_slots=", "max-slots="})
        if (word.starts_with(key)) return parse_number(word.substr(key.size())).has_value();
    return false;
}

// What stands between blanks outside of brackets, but the slots.
std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    bool inside = false;
    std::size_t start = 0;
    const auto end_word = [&](std::size_t end) {
        const auto word = text.substr(start, end - start);
        if (!word.empty() && (words.empty() || !is_slots(word))) words.push_back(word);
        start = end + 1;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[') inside = true;
        if (text[i] == ']') inside = false;
        if (!inside && blanks.find(text[i]) != std::string_view::npos) end_word(i);
    }
    end_word(text.size());
    return words;
}

Status use_term(const SignedTerm& term, const std::function<Status(const SignedTerm&)>& use) {
    const auto words = words_of(term.text);
    if (words.empty()) return fail("limit", "an empty name");
    if (term.sign != Sign::add && words.size() > 1)
        return fail("limit", fmt::format("{}: a sign and several names", quote(term.text)),
                    "give each a line of its own, with its sign");
    for (const auto word : words) {
        if (word.find('=') != std::string_view::npos && !word.starts_with('~'))
            return fail("limit", fmt::format("{} is no host name", quote(word)),
                        "this is a list of names; an inventory goes to -i");
        if (auto used = use({term.sign, term.glued, word}); !used) return used;
    }
    return {};
}

}  // namespace

Status each_listed(std::string_view path, Separators separators,
                   const std::function<Status(const SignedTerm&)>& use) {
    const auto text = read_file(std::string(path), max_file);
    if (!text) return fail("limit", text.error().message, text.error().remedy);
    return each_in_list(*text, path == "-" ? "standard input" : printable(path), separators, use);
}

Status each_in_list(std::string_view text, std::string_view name, Separators separators,
                    const std::function<Status(const SignedTerm&)>& use) {
    std::string_view rest = text;
    if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
    std::size_t line = 0, began = 0;
    bool any = false;
    std::string whole;  // a line and those that it goes on in
    while (!rest.empty() || !whole.empty()) {
        const bool last = rest.empty();
        const auto end = std::min(rest.find('\n'), rest.size());
        const auto part = trim(rest.substr(0, std::min(rest.find('#'), end)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (!last) ++line;
        if (part.empty() && !last) continue;
        if (whole.empty()) began = line;
        whole += part;
        if (part.ends_with(',') && !last) continue;
        any = true;
        for (const SignedTerm& term : signed_terms(whole, separators))
            if (auto used = use_term(term, use); !used)
                return std::unexpected(with_context(used.error(), fmt::format("{}:{}", name, began)));
        whole.clear();
    }
    if (!any) return fail("limit", fmt::format("{}: names no host", name), "an empty list selects nothing");
    return {};
}

}  // namespace cleanslate::inventory
