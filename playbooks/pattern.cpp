#include "playbooks/pattern.hpp"

#include <fmt/format.h>
#include <regex.h>

#include <utility>

#include "base/text.hpp"
#include "playbooks/pattern_outline.hpp"

namespace cleanslate::playbooks {

struct Pattern::Compiled {
    regex_t regex{};
    bool ready = false;
    Compiled() = default;
    Compiled(const Compiled&) = delete;
    Compiled& operator=(const Compiled&) = delete;
    ~Compiled() {
        if (ready) regfree(&regex);
    }
};

namespace {

// Whether it matches whatever word there is: each letter, repeated, stands for one.
template <class Search>
bool matches_any_word(const Search& found_in) {
    for (char letter = 'a'; letter <= 'z'; ++letter)
        if (!found_in(std::string(8, letter))) return false;
    return true;
}

}  // namespace

Result<Pattern> Pattern::compile(std::string_view text) {
    if (text.empty())
        return fail("playbook", "an empty pattern would match every process", "write what to match");
    if (auto sound = check_outline(text); !sound) return std::unexpected(sound.error());
    auto compiled = std::make_shared<Compiled>();
    const std::string copy(text);
    if (const int code = regcomp(&compiled->regex, copy.c_str(), REG_EXTENDED | REG_NOSUB); code != 0) {
        char reason[128] = "";
        regerror(code, &compiled->regex, reason, sizeof reason);
        return fail("playbook",
                    fmt::format("'{}' is not a POSIX extended regular expression: {}",
                                ellipsize(printable(text), 60), reason),
                    "put a backslash before a character that is meant as itself: \\( \\[ \\. \\* \\+ \\?");
    }
    compiled->ready = true;
    Pattern pattern(std::move(compiled));
    const auto search = [&](std::string_view subject) { return pattern.found_in(subject); };
    if (search("") || search("/") || matches_any_word(search))
        return fail("playbook", fmt::format("'{}' would match every process", ellipsize(printable(text), 60)),
                    "name a part that only the processes meant have, such as 'sglang[.]launch_server'");
    return pattern;
}

bool Pattern::found_in(std::string_view subject) const {
    regmatch_t range{0, static_cast<regoff_t>(subject.size())};
    // A view may have no data at all; regexec wants a pointer even for no bytes.
    const char* begin = subject.data() != nullptr ? subject.data() : "";
    return regexec(&compiled_->regex, begin, 1, &range, REG_STARTEND) == 0;
}

}  // namespace cleanslate::playbooks
