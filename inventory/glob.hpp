#pragma once
// Patterns with `*` and `?`, and with classes of characters as Python's fnmatch has them.

#include <bitset>
#include <optional>
#include <string_view>
#include <vector>

namespace cleanslate::inventory {

// Whether `pattern` (`*`: any bytes, `?`: one byte) matches the whole of `text`. Takes at most the product of
// the two lengths in steps.
bool glob(std::string_view pattern, std::string_view text);

// The same with `[abc]`, `[a-c]` and `[!abc]`.
class ClassGlob {
  public:
    // Nothing where a bracket is not closed.
    static std::optional<ClassGlob> parse(std::string_view pattern);
    bool matches(std::string_view text) const;

  private:
    struct Token {
        bool star = false;
        std::bitset<256> bytes;  // of one byte
    };
    std::vector<Token> tokens_;
};

}  // namespace cleanslate::inventory
