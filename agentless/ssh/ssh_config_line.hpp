#pragma once
// One line of ssh's configuration, cut into words by ssh's own two sets of rules.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleanslate::agentless::ssh {

// The rules for keywords and for what follows Match: words end at blanks and at one '='; "..." belongs to a
// word.
class KeywordWords {
  public:
    explicit KeywordWords(std::string_view text) : rest_(text) {}
    // Nothing where no word is left, and at a quote without its end. A word may be empty.
    std::optional<std::string> next();
    std::string_view rest() const { return rest_.value_or(""); }

  private:
    std::optional<std::string_view> rest_;
};

// The rules for arguments: words end at blanks, '...' and "..." may stand anywhere in them, a backslash
// before a quote, a backslash or a blank takes its meaning, and a word that begins with '#' ends the line.
// Nothing where a quote has no end.
std::optional<std::vector<std::string>> argument_words(std::string_view text);

struct ConfigLine {
    std::string keyword;    // as it is written
    std::string_view rest;  // what follows it, without blanks at both ends
};
// Nothing: the line is empty or a comment.
std::optional<ConfigLine> config_line(std::string_view line);

}  // namespace cleanslate::agentless::ssh
