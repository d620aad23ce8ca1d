#pragma once
// The strict YAML reader. It keeps a tree of its own, built from yaml-cpp's events: the library's own tree
// keeps duplicate keys silently, does not merge `<<` and takes several times the memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
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

enum class Kind : std::uint8_t { null, scalar, sequence, mapping };

struct Entry;

// A value with its place. Aliases are resolved and `<<` is merged (own keys win) when the document is read.
// Small, and cheap to copy: what it holds lives in its Document, which must outlive it.
class Node {
  public:
    Kind kind = Kind::null;
    bool quoted = false;  // 'x' or "x": a quoted scalar is never null, a number or a boolean
    Mark mark;

    bool is_null() const { return kind == Kind::null; }
    bool is_scalar() const { return kind == Kind::scalar; }
    bool is_sequence() const { return kind == Kind::sequence; }
    bool is_mapping() const { return kind == Kind::mapping; }

    std::string_view text() const;           // of a scalar; empty of anything else
    std::string_view tag() const;            // an explicit one such as "!vault"; empty: none or the bare "!"
    std::span<const Node> items() const;     // of a sequence
    std::span<const Entry> entries() const;  // of a mapping, in the order of the file; keys are scalars
    const Node* find(
        std::string_view key) const;  // of a mapping; null where absent; time grows with its size

  private:
    friend class Memory;

    std::uint32_t size_ = 0;         // of the content: how many
    const void* content_ = nullptr;  // what `kind` says: characters, nodes or entries
    const std::string_view* tag_ = nullptr;
};

// One key and its value. A pair cannot be a member of what it is made of.
struct Entry {
    Node first;
    Node second;
};

static_assert(sizeof(Entry) == 64, "an inventory of 100,000 hosts has a few hundred thousand of them");

// One document that was read, with all its nodes: move only.
class Document {
  public:
    Document(std::unique_ptr<std::pmr::monotonic_buffer_resource> memory, Node root)
        : memory_(std::move(memory)), root_(root) {}
    const Node& root() const { return root_; }

  private:
    std::unique_ptr<std::pmr::monotonic_buffer_resource> memory_;
    Node root_;
};

// Reads exactly one document of at most 64 MiB; an empty one is a null node. Errors have kind "yaml" and a
// message that begins with file:line:column: malformed text, invalid UTF-8, control bytes, duplicate keys
// (both places are named), keys that are no scalars, unknown anchors, a second document, nesting deeper than
// 64, anchors and aliases that would expand to more than a million nodes, and more than a million keys
// brought in by `<<`. What `<<` brought in keeps the place of its definition. Memory: 64 bytes a key with its
// value, 32 an item of a list, and the texts, of which those that come again and again are kept once.
Result<Document> parse(std::string_view text, std::string_view file);

// A document of one scalar: `scalar` with another text.
Document with_text(const Node& scalar, std::string_view text);

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
