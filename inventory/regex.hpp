#pragma once
// Regular expressions in the spelling of Python's re, as far as they can be matched in a time that grows with
// the text alone. The only code that knows RE2.

#include <memory>
#include <string_view>

#include "base/result.hpp"

namespace re2 {
class RE2;
}

namespace cleanslate::inventory {

class Regex {
  public:
    // Errors have kind "limit": what is malformed, longer than 500 bytes or takes more than 1 MiB, and what
    // only Python knows or reads in another way: groups with (? but (?: and (?P< and (?i), backreferences,
    // \Z, {,n} and [[:class:]].
    static Result<Regex> compile(std::string_view expression);
    Regex(Regex&&) noexcept;
    Regex& operator=(Regex&&) noexcept;
    ~Regex();

    // As re.match: from the first byte on, not necessarily to the last.
    bool matches_start_of(std::string_view text) const;

  private:
    explicit Regex(std::unique_ptr<re2::RE2> compiled);
    std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace cleanslate::inventory
