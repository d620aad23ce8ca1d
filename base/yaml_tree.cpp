#include "base/yaml_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_set>

#include "base/text.hpp"

namespace cleanslate::yaml {
namespace {

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_copies = 1'000'000;
constexpr std::size_t max_merged = 1'000'000;

std::string at(Mark mark) { return fmt::format("{}:{}", mark.line, mark.column); }

std::string quote(std::string_view text) { return fmt::format("\"{}\"", ellipsize(printable(text), 60)); }

std::string a_kind(const Node& node) {
    return node.is_null() ? "nothing" : fmt::format("a {}", describe(node));
}

bool is_merge(const Node& key) { return !key.quoted && key.text() == "<<"; }

[[noreturn]] void refuse_duplicate(const Node& key, const Node& first) {
    refuse(
        key.mark, fmt::format("duplicate key {}, first at {}", quote(key.text()), at(first.mark)),
        is_merge(key) ? "name several mappings in one list: <<: [*a, *b]" : "remove or rename one of them");
}

void refuse_duplicates_of_few(std::span<const Entry> entries) {
    for (std::size_t i = 1; i < entries.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (entries[i].first.text() == entries[j].first.text())
                refuse_duplicate(entries[i].first, entries[j].first);
        }
    }
}

// By sorting: no choice of keys makes it slow.
void refuse_duplicates_of_many(std::span<const Entry> entries) {
    const auto text = [&](std::size_t i) { return entries[i].first.text(); };
    std::vector<std::uint32_t> order(entries.size());
    std::iota(order.begin(), order.end(), 0U);
    // Most inventories name their hosts in ascending order.
    if (std::ranges::adjacent_find(order, std::greater_equal(), text) == order.end()) return;
    std::ranges::stable_sort(order, {}, text);
    std::size_t first = entries.size(), again = entries.size();  // of all that are repeated, the first to be
    for (std::size_t i = 1, run = 0; i < order.size(); ++i) {
        if (text(order[i]) != text(order[run])) {
            run = i;
        } else if (order[i] < again) {
            first = order[run];
            again = order[i];
        }
    }
    if (again < entries.size()) refuse_duplicate(entries[again].first, entries[first].first);
}

void refuse_duplicates(std::span<const Entry> entries) {
    constexpr std::size_t few = 16;
    entries.size() <= few ? refuse_duplicates_of_few(entries) : refuse_duplicates_of_many(entries);
}

// The mappings that a value under `<<` names.
std::span<const Node> merged_mappings(const Node& value) {
    const auto sources = value.is_sequence() ? value.items() : std::span(&value, 1);
    for (const Node& source : sources) {
        if (source.is_mapping()) continue;
        refuse(source.mark, fmt::format("found {} under `<<`", a_kind(source)),
               "`<<` takes a mapping, or a list of mappings, such as <<: *common");
    }
    return sources;
}

}  // namespace

void refuse(Mark mark, std::string message, std::string remedy) {
    throw Refusal{mark, std::move(message), std::move(remedy)};
}

Mark mark_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

void TreeBuilder::OnDocumentStart(const YAML::Mark& mark) {
    if (documents_++ > 0) {
        refuse(mark_of(mark), "a second document, or text that does not belong to the first one",
               "keep one document in a file, and check the indentation");
    }
}

void TreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
    finish({.node = make(Kind::null, mark, {})}, anchor);
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
    if (value.find('\0') != std::string::npos) refuse(mark_of(mark), "found a NUL byte in a text");
    Node node = make(Kind::scalar, mark, tag);
    node.quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    memory_.set_text(node, value);
    finish({.node = node}, anchor);
}

void TreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                                  YAML::EmitterStyle::value) {
    open(make(Kind::sequence, mark, tag), anchor);
}

void TreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value) {
    open(make(Kind::mapping, mark, tag), anchor);
}

// An alias is its anchor's node once more: what it holds is not copied. It counts as if it were.
void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark_of(mark), "an alias inside of what it stands for");
    count_copy(found->second, mark_of(mark));
    if (stack_.size() + found->second.height > max_depth + 1) {
        refuse(mark_of(mark), fmt::format("nested deeper than {} levels", max_depth));
    }
    add(found->second);
}

// yaml-cpp says "?" for plain text without a tag and "!" for quoted text.
Node TreeBuilder::make(Kind kind, const YAML::Mark& mark, const std::string& tag) {
    Node node;
    node.kind = kind;
    node.mark = mark_of(mark);
    if (tag != "?" && tag != "!") memory_.set_tag(node, tag);
    return node;
}

bool TreeBuilder::awaits_key() const {
    if (stack_.empty() || !stack_.back().tree.node.is_mapping()) return false;
    return (finished_.size() - stack_.back().first) % 2 == 0;
}

void TreeBuilder::open(Node node, YAML::anchor_t anchor) {
    if (stack_.size() >= max_depth) {
        refuse(node.mark, fmt::format("nested deeper than {} levels", max_depth));
    }
    if (awaits_key()) {
        refuse(node.mark, fmt::format("found {} as a key", a_kind(node)),
               "a key is a text; quote one that contains brackets or braces");
    }
    stack_.push_back({.tree = {.node = node}, .anchor = anchor, .first = finished_.size()});
}

void TreeBuilder::close() {
    Open done = stack_.back();
    stack_.pop_back();
    Node& node = done.tree.node;
    const auto children = std::span<const Node>(finished_).subspan(done.first);
    if (node.is_mapping()) {
        memory_.set_entries(node, children);
        refuse_duplicates(node.entries());
        merge(node);
    } else {
        memory_.set_items(node, children);
    }
    finished_.resize(done.first);
    finish(done.tree, done.anchor);
}

void TreeBuilder::finish(const Subtree& tree, YAML::anchor_t anchor) {
    if (anchor != 0) {
        count_copy(tree, tree.node.mark);
        anchors_[anchor] = tree;
    }
    add(tree);
}

void TreeBuilder::add(const Subtree& tree) {
    if (stack_.empty()) {
        root_ = tree.node;
        return;
    }
    if (awaits_key() && !tree.node.is_scalar()) {
        refuse(tree.node.mark, fmt::format("found {} as a key", a_kind(tree.node)),
               "a key is a text; write \"null\" in quotes if that is meant");
    }
    Subtree& parent = stack_.back().tree;
    parent.nodes += tree.nodes;
    parent.height = std::max(parent.height, tree.height + 1);
    finished_.push_back(tree.node);
}

void TreeBuilder::count_copy(const Subtree& tree, Mark mark) {
    copies_ += tree.nodes;
    if (copies_ > max_copies) {
        refuse(mark, fmt::format("anchors and aliases expand to more than {} nodes", max_copies));
    }
}

// Puts what `<<` names in its place; own keys win, then the first mapping that has the key.
void TreeBuilder::merge(Node& mapping) {
    const auto own = mapping.entries();
    if (std::ranges::none_of(own, is_merge, &Entry::first)) return;
    std::vector<Entry> merged;
    std::unordered_set<std::string_view> keys;
    for (const auto& [key, value] : own) keys.insert(key.text());
    for (const Entry& entry : own) {
        if (!is_merge(entry.first)) {
            merged.push_back(entry);
            continue;
        }
        for (const Node& source : merged_mappings(entry.second)) {
            merged_ += source.entries().size();
            if (merged_ > max_merged)
                refuse(entry.first.mark, fmt::format("`<<` brings in more than {} keys", max_merged));
            for (const Entry& inherited : source.entries())
                if (keys.insert(inherited.first.text()).second) merged.push_back(inherited);
        }
    }
    memory_.set_entries(mapping, std::span<const Entry>(merged));
}

}  // namespace cleanslate::yaml
