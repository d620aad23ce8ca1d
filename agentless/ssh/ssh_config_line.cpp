#include "agentless/ssh/ssh_config_line.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string_view without_leading_blanks(std::string_view text) {
    const auto begin = text.find_first_not_of(blanks);
    return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// A form feed counts as a blank at the end of a line alone.
std::string_view without_trailing_blanks(std::string_view text) {
    const auto last = text.find_last_not_of(" \t\r\n\f");
    return last == std::string_view::npos ? text.substr(0, 0) : text.substr(0, last + 1);
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The word that begins at `at`, which moves behind it. Nothing where a quote has no end.
std::optional<std::string> argument(std::string_view text, std::size_t& at) {
    std::string word;
    char quote = '\0';
    for (; at < text.size(); ++at) {
        const char c = text[at];
        const char next = at + 1 < text.size() ? text[at + 1] : '\0';
        if (c == '\\' && (next == '\'' || next == '"' || next == '\\' || (quote == '\0' && next == ' '))) {
            word += next;
            ++at;
        } else if (quote == '\0' && is_blank(c)) {
            break;
        } else if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (quote != '\0' && c == quote) {
            quote = '\0';
        } else {
            word += c;
        }
    }
    if (quote != '\0') return std::nullopt;
    return word;
}

}  // namespace

std::optional<std::string> KeywordWords::next() {
    if (!rest_) return std::nullopt;
    const std::string_view text = *rest_;
    const auto end = text.find_first_of(" \t\r\n\"=");
    if (end == std::string_view::npos) {
        rest_.reset();
        return std::string(text);
    }
    std::string word(text.substr(0, end));
    std::string_view after = text.substr(end + 1);
    if (text[end] == '"') {
        const auto closing = after.find('"');
        if (closing == std::string_view::npos) {
            rest_.reset();
            return std::nullopt;
        }
        word += after.substr(0, closing);
        rest_ = without_leading_blanks(after.substr(closing + 1));
        return word;
    }
    after = without_leading_blanks(after);
    if (text[end] != '=' && after.starts_with('=')) after = without_leading_blanks(after.substr(1));
    rest_ = after;
    return word;
}

std::optional<std::vector<std::string>> argument_words(std::string_view text) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (is_blank(text[at])) continue;
        if (text[at] == '#') break;
        auto word = argument(text, at);
        if (!word) return std::nullopt;
        words.push_back(std::move(*word));
    }
    return words;
}

std::optional<ConfigLine> config_line(std::string_view line) {
    line = line.substr(0, line.find('\0'));
    KeywordWords words(without_trailing_blanks(line));
    auto keyword = words.next();
    if (keyword && keyword->empty()) keyword = words.next();
    if (!keyword || keyword->empty() || keyword->front() == '#') return std::nullopt;
    return ConfigLine{std::move(*keyword), without_leading_blanks(words.rest())};
}

}  // namespace cleanslate::agentless::ssh
