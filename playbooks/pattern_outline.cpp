#include "playbooks/pattern_outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "playbooks/pattern.hpp"

namespace cleanslate::playbooks {
namespace {

constexpr std::size_t max_unfolded = 500;  // atoms after repetition: matching takes time with their square
constexpr std::size_t max_depth = 50;      // nested groups
constexpr std::size_t max_repeat = 255;    // POSIX: RE_DUP_MAX

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class Outline {
  public:
    explicit Outline(std::string_view pattern) : text_(pattern) {}

    Status check() {
        while (at_ < text_.size())
            if (auto step = next(); !step) return step;
        return {};
    }

  private:
    // A group under way: atoms so far, and those of the last one, which a repetition multiplies.
    struct Group {
        std::size_t atoms = 0;
        std::size_t last = 0;  // 0: there is nothing to repeat
        bool repeated = false;
    };

    std::unexpected<Error> refuse(std::string_view what, std::string remedy) const {
        return fail(
            "playbook",
            fmt::format("pattern '{}', character {}: {}", ellipsize(printable(text_), 60), at_ + 1, what),
            std::move(remedy));
    }

    Status next() {
        const char c = text_[at_];
        switch (c) {
            case '\\':
                return escape();
            case '[':
                return bracket();
            case '(':
                return open();
            case ')':
                return close();
            case '|':
                groups_.back().last = 0;
                break;
            case '^':
            case '$':
                groups_.back().last = 0;
                break;
            case '*':
                return repeat(1, 1);
            case '?':
                return repeat(1, 1);
            case '+':
                return repeat(2, 1);
            case '{':
                return interval();
            default:
                return atom(1);
        }
        ++at_;
        return {};
    }

    Status atom(std::size_t length) {
        Group& group = groups_.back();
        group.last = 1;
        group.repeated = false;
        group.atoms += 1;
        at_ += length;
        return {};
    }

    Status open() {
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '?')
            return refuse("(? is Perl's, not POSIX's", "leave ?: and the like out: (a|b)");
        if (groups_.size() > max_depth)
            return refuse(fmt::format("more than {} nested groups", max_depth), "write a simpler one");
        groups_.emplace_back();
        ++at_;
        return {};
    }

    Status close() {
        if (groups_.size() == 1) return refuse("this ) closes nothing", "write \\) for the character itself");
        const std::size_t inner = groups_.back().atoms + 1;
        groups_.pop_back();
        groups_.back().last = inner;
        groups_.back().repeated = false;
        groups_.back().atoms += inner;
        ++at_;
        return {};
    }

    // Multiplies the last atom, and passes the operator's own `length` characters.
    Status repeat(std::size_t times, std::size_t length) {
        Group& group = groups_.back();
        if (group.repeated)
            return refuse("two repetitions in a row (POSIX has no lazy ones)", "keep one of them");
        if (group.last == 0)
            return refuse("nothing to repeat here (this is a regular expression, not a glob)",
                          "leave a leading * out: an expression matches anywhere in the text");
        group.atoms += group.last * (times - 1);
        group.repeated = true;
        std::size_t all = 0;
        for (const Group& g : groups_) all += g.atoms;
        if (all > max_unfolded)
            return refuse(fmt::format("repetitions unfold to more than {} parts", max_unfolded),
                          "use smaller numbers, or * or + once");
        at_ += length;
        return {};
    }

    // {m}, {m,} or {m,n}.
    Status interval() {
        const std::size_t end = text_.find('}', at_);
        const auto wrong = [&] {
            return refuse("not a repetition",
                          "write {2}, {2,} or {2,4} (at most 255), or \\{ for the character");
        };
        if (end == std::string_view::npos) return wrong();
        const auto bounds = split(text_.substr(at_ + 1, end - at_ - 1), ',');
        if (bounds.size() > 2) return wrong();
        const auto low = parse_number(bounds[0]);
        if (!low || *low > max_repeat) return wrong();
        std::size_t times = *low;
        if (bounds.size() == 2 && bounds[1].empty()) {
            times = *low + 1;
        } else if (bounds.size() == 2) {
            const auto high = parse_number(bounds[1]);
            if (!high || *high > max_repeat || *high < *low) return wrong();
            times = *high;
        }
        return repeat(std::max<std::size_t>(times, 1), end - at_ + 1);
    }

    Status escape() {
        if (at_ + 1 >= text_.size()) return refuse("a backslash at the end", "write \\\\ for the character");
        const char c = text_[at_ + 1];
        if (c == 'd') return refuse("\\d is Perl's, not POSIX's", "write [0-9]");
        if (is_digit(c))
            return refuse("back-references are not supported", "write the text itself, or two steps");
        constexpr std::string_view anchors = "bB<>`'";  // GNU: they match a place, no character
        constexpr std::string_view classes = "wWsS";
        if (anchors.find(c) != std::string_view::npos) {
            groups_.back().last = 0;
            at_ += 2;
            return {};
        }
        if (is_letter(c) && classes.find(c) == std::string_view::npos)
            return refuse(fmt::format("\\{} means nothing in POSIX", c),
                          fmt::format("write {} without \\", c));
        return atom(2);
    }

    // [...]: passes it whole. Inside, a backslash is a character like any other.
    Status bracket() {
        std::size_t i = at_ + 1;
        if (i < text_.size() && text_[i] == '^') ++i;
        for (bool first = true; i < text_.size(); first = false) {
            const char c = text_[i];
            const char following = i + 1 < text_.size() ? text_[i + 1] : '\0';
            if (c == ']' && !first) return atom(i - at_ + 1);
            if (c == '[' && (following == ':' || following == '.' || following == '=')) {
                const char close[] = {following, ']', '\0'};
                const std::size_t end = text_.find(close, i + 2);
                if (end == std::string_view::npos) break;
                i = end + 2;
                continue;
            }
            if (c == '\\' && (is_letter(following) || is_digit(following) || following == ']'))
                return refuse("inside [ ] a backslash is only itself",
                              "write [0-9], [[:alnum:]_] or [[:space:]]; a ] comes first: []x]");
            ++i;
        }
        return refuse("this [ is never closed", "write \\[ for the character itself");
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<Group> groups_{1};
};

}  // namespace

Status check_outline(std::string_view pattern) {
    if (pattern.size() > max_pattern_bytes)
        return fail("playbook", fmt::format("a pattern of {} bytes", pattern.size()),
                    fmt::format("write at most {}", max_pattern_bytes));
    for (const char c : pattern)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            return fail("playbook",
                        fmt::format("pattern '{}' has a line break or control character",
                                    ellipsize(printable(pattern), 60)),
                        "write it on one line, in single quotes; [[:space:]] matches any blank");
    return Outline(pattern).check();
}

}  // namespace cleanslate::playbooks
