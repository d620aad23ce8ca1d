#pragma once
// The strict YAML reader, and the only file pair that knows yaml-cpp (through its event interface: the
// library's own tree keeps duplicate keys silently, does not merge `<<` and takes several times the memory).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace cleanslate::yaml {

struct Mark {
    int line = 0;    // from 1; 0: no place
    int column = 0;  // from 1
};

enum class Kind { null, scalar, sequence, mapping };

struct Entry;

// A value with its place. Aliases are resolved and `<<` is merged (own keys win) when the document is read.
struct Node {
    Kind kind = Kind::null;
    Mark mark;
    std::string text;            // of a scalar
    std::string tag;             // an explicit tag such as "!vault"; empty where none or the bare "!"
    bool quoted = false;         // 'x' or "x": a quoted scalar is never null, a number or a boolean
    std::vector<Node> items;     // of a sequence
    std::vector<Entry> entries;  // of a mapping, in the order of the file; keys are scalars

    bool is_null() const { return kind == Kind::null; }
    bool is_scalar() const { return kind == Kind::scalar; }
    bool is_sequence() const { return kind == Kind::sequence; }
    bool is_mapping() const { return kind == Kind::mapping; }
    const Node* find(
        std::string_view key) const;  // of a mapping; null where absent; time grows with its size
};

// One key and its value. A pair cannot be a member of what it is made of.
struct Entry {
    Node first;
    Node second;
};

// Reads exactly one document of at most 64 MiB; an empty one is a null node. Errors have kind "yaml" and a
// message that begins with file:line:column: malformed text, invalid UTF-8, control bytes, duplicate keys
// (both places are named), keys that are no scalars, unknown anchors, a second document, nesting deeper than
// 64, and anchors and aliases that would expand to more than a million nodes. What `<<` brought in keeps the
// place of its definition.
Result<Node> parse(std::string_view text, std::string_view file);

// "file:line:column", for messages.
std::string place(std::string_view file, Mark mark);

// "mapping", "list", "text", "nothing", for messages.
std::string_view describe(const Node& node);

// A scalar as what it is meant to be; errors (kind "yaml") name the place, what was found and what would be
// right.
Result<std::string> as_text(const Node& node, std::string_view file, std::string_view what);
Result<std::int64_t> as_integer(const Node& node, std::string_view file, std::string_view what);
Result<bool> as_bool(const Node& node, std::string_view file,
                     std::string_view what);  // true, false (YAML 1.2)

// The candidate nearest to `word` within `max_edits` (insert, delete, replace, swap neighbours; only one for
// words of up to three letters), the first of several, or empty: "did you mean ...".
std::string nearest(std::string_view word, const std::vector<std::string>& candidates,
                    std::size_t max_edits = 2);

}  // namespace cleanslate::yaml
