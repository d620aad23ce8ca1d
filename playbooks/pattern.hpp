#pragma once
// A POSIX extended regular expression that is safe to pick processes with.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cleanslate::playbooks {

inline constexpr std::size_t max_pattern_bytes = 1024;

class Pattern {
  public:
    // Compiles `text`. Refused, with kind "playbook" and what would be right, though without a place, which
    // the caller knows: what is no POSIX extended expression, what means another thing there than its writer
    // believes (globs, Perl's \d, (?...), lazy quantifiers), what matches the empty text, a lone / or any
    // word (it would match every process), back-references and what would take too much memory or time.
    static Result<Pattern> compile(std::string_view text);

    // Whether the expression matches anywhere in `subject`: bytes, which may hold NUL and invalid UTF-8.
    bool found_in(std::string_view subject) const;

  private:
    struct Compiled;
    explicit Pattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
    std::shared_ptr<const Compiled> compiled_;
};

}  // namespace cleanslate::playbooks
