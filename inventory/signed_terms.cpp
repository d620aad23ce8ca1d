#include "inventory/signed_terms.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "inventory/names.hpp"

namespace cleanslate::inventory {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view signs = "&!^";
constexpr std::string_view blanks = " \t\r\n";
constexpr std::size_t max_address = 300;  // of an IPv6 address with its scope, and blanks

Sign sign_of(char c) {
    return c == '&' ? Sign::keep : c == '!' ? Sign::drop : c == '^' ? Sign::toggle : Sign::add;
}

// Where the first of `ends` stands that is not in brackets.
std::size_t end_outside_brackets(std::string_view text, std::string_view ends) {
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[') inside = true;
        if (text[i] == ']') inside = false;
        if (!inside && ends.find(text[i]) != npos) return i;
    }
    return text.size();
}

// The same for a regular expression: parentheses, braces and escapes count, too.
std::size_t end_of_expression(std::string_view text, std::string_view ends) {
    std::size_t open = 0;
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\') {
            ++i;
            continue;
        }
        if (c == '[') inside = true;
        if (c == ']') inside = false;
        if (inside) continue;
        if (c == '(' || c == '{') ++open;
        if ((c == ')' || c == '}') && open > 0) --open;
        if (open == 0 && ends.find(c) != npos) return i;
    }
    return text.size();
}

// How much of `rest`, which begins with a term (behind its sign), is this term.
std::size_t length_of(std::string_view rest, Separators separators) {
    const bool colons = separators == Separators::commas_and_colons;
    if (rest.starts_with('@')) return std::min(rest.find(','), rest.size());
    if (rest.starts_with('~') && colons) return end_of_expression(rest, ",:");
    if (!colons) return end_outside_brackets(rest, ",&!^");
    // Looked at no further than an address can be long, or a list of many colons would be read again and
    // again.
    const auto begin = rest.substr(0, max_address);
    const auto piece = begin.substr(0, end_outside_brackets(begin, ",&!^"));
    if (is_ipv6(trim(piece))) return piece.size();
    return end_outside_brackets(rest, ",&!^:");
}

}  // namespace

std::vector<SignedTerm> signed_terms(std::string_view list, Separators separators) {
    std::vector<SignedTerm> terms;
    bool glued = false;  // no separator stood before what comes next
    for (std::string_view rest = list;;) {
        rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
        SignedTerm term{.sign = Sign::add, .glued = false, .text = {}};
        if (!rest.empty() && signs.find(rest.front()) != npos) {
            term.sign = sign_of(rest.front());
            term.glued = glued;
            rest.remove_prefix(1);
            rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
        }
        const auto length = length_of(rest, separators);
        term.text = trim(rest.substr(0, length));
        terms.push_back(term);
        rest.remove_prefix(length);
        if (rest.empty()) return terms;
        glued = signs.find(rest.front()) != npos;
        if (!glued) rest.remove_prefix(1);
    }
}

}  // namespace cleanslate::inventory
