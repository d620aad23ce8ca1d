// What a node of the YAML reader means: places, kinds and plain values for those who read it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.hpp"
#include "base/yaml.hpp"

namespace cleanslate::yaml {
namespace {

std::string found(const Node& node) {
    if (!node.tag().empty()) return fmt::format("the tag {}", printable(node.tag()));
    if (node.is_null()) return "nothing";
    if (!node.is_scalar()) return fmt::format("a {}", describe(node));
    return fmt::format("{}\"{}\"", node.quoted ? "the quoted text " : "",
                       ellipsize(printable(node.text()), 60));
}

std::unexpected<Error> wrong(const Node& node, std::string_view file, std::string_view what,
                             std::string_view expected, std::string remedy) {
    return fail(
        "yaml",
        fmt::format("{}: {}: found {} where {} belongs", place(file, node.mark), what, found(node), expected),
        std::move(remedy));
}

bool is_plain(const Node& node) { return node.is_scalar() && node.tag().empty() && !node.quoted; }

// Edits between two words (insert, delete, replace, swap neighbours), or `limit` + 1 where they are more.
std::size_t edits(std::string_view a, std::string_view b, std::size_t limit) {
    if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        if (*std::ranges::min_element(row) > limit) return limit + 1;
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

}  // namespace

std::string_view Node::text() const {
    if (!is_scalar() || size_ == 0) return {};
    return {static_cast<const char*>(content_), size_};
}

std::string_view Node::tag() const { return tag_ == nullptr ? std::string_view() : *tag_; }

std::span<const Node> Node::items() const {
    if (!is_sequence()) return {};
    return {static_cast<const Node*>(content_), size_};
}

std::span<const Entry> Node::entries() const {
    if (!is_mapping()) return {};
    return {static_cast<const Entry*>(content_), size_};
}

const Node* Node::find(std::string_view key) const {
    const auto all = entries();
    const auto entry = std::ranges::find_if(all, [&](const auto& e) { return e.first.text() == key; });
    return entry == all.end() ? nullptr : &entry->second;
}

std::string place(std::string_view file, Mark mark) {
    if (mark.line == 0) return printable(file);
    return fmt::format("{}:{}:{}", printable(file), mark.line, mark.column);
}

std::string_view describe(const Node& node) {
    switch (node.kind) {
        case Kind::scalar:
            return "text";
        case Kind::sequence:
            return "list";
        case Kind::mapping:
            return "mapping";
        case Kind::null:
            break;
    }
    return "nothing";
}

Result<std::string> as_text(const Node& node, std::string_view file, std::string_view what) {
    const bool text_tag = node.tag().empty() || node.tag() == "tag:yaml.org,2002:str";
    if (!node.is_scalar() || !text_tag) return wrong(node, file, what, "a text", "");
    return std::string(node.text());
}

Result<std::int64_t> as_integer(const Node& node, std::string_view file, std::string_view what) {
    std::int64_t value = 0;
    const std::string_view text = node.text();
    const auto digits = text.starts_with('-') ? text.substr(1) : text;
    const bool leading_zero =
        digits.size() > 1 && digits.front() == '0';  // octal for some, decimal for others
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
    if (!is_plain(node) || !whole || leading_zero) {
        return wrong(node, file, what, "an integer", "write plain digits, such as 8, without quotes or unit");
    }
    return value;
}

Result<bool> as_bool(const Node& node, std::string_view file, std::string_view what) {
    for (const bool value : {true, false}) {
        const auto words = value ? std::array{"true", "True", "TRUE"} : std::array{"false", "False", "FALSE"};
        if (is_plain(node) && std::ranges::find(words, node.text()) != words.end()) return value;
    }
    return wrong(node, file, what, "true or false", "write true or false, without quotes");
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates,
                    std::size_t max_edits) {
    std::size_t limit = std::min<std::size_t>(max_edits, word.size() <= 3 ? 1 : max_edits);

    std::string best;
    for (const auto& candidate : candidates) {
        const std::size_t distance = edits(word, candidate, limit);
        if (distance > limit) continue;
        best = candidate;
        if (distance == 0) return best;
        limit = distance - 1;
    }
    return best;
}

}  // namespace cleanslate::yaml
