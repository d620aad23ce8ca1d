#include "base/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"

namespace cleanslate::yaml {
namespace {

constexpr std::size_t max_bytes = 64U << 20;
constexpr std::size_t max_depth = 64;
constexpr std::size_t max_copies = 1'000'000;

// Leaves yaml-cpp's parser from inside an event; never leaves this file.
struct Refusal {
    Mark mark;
    std::string message;
    std::string remedy;
};

[[noreturn]] void refuse(Mark mark, std::string message, std::string remedy = {}) {
    throw Refusal{mark, std::move(message), std::move(remedy)};
}

Mark from(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

std::string at(Mark mark) { return fmt::format("{}:{}", mark.line, mark.column); }

std::string quote(std::string_view text) { return fmt::format("\"{}\"", ellipsize(printable(text), 60)); }

std::string a_kind(const Node& node) {
    return node.is_null() ? "nothing" : fmt::format("a {}", describe(node));
}

// A finished node and what its copies cost.
struct Subtree {
    Node node;
    std::size_t nodes = 1;
    std::size_t height = 1;
};

bool is_merge(const Node& key) { return !key.quoted && key.text == "<<"; }

[[noreturn]] void refuse_duplicate(const Node& key, Mark first) {
    refuse(
        key.mark, fmt::format("duplicate key {}, first at {}", quote(key.text), at(first)),
        is_merge(key) ? "name several mappings in one list: <<: [*a, *b]" : "remove or rename one of them");
}

void refuse_duplicates(const Node& mapping) {
    if (mapping.entries.size() < 2) return;
    std::unordered_map<std::string_view, Mark> keys;
    keys.reserve(mapping.entries.size());
    for (const auto& [key, value] : mapping.entries) {
        const auto [first, added] = keys.emplace(key.text, key.mark);
        if (!added) refuse_duplicate(key, first->second);
    }
}

// The mappings that a value under `<<` names.
std::vector<const Node*> merged_mappings(const Node& value) {
    std::vector<const Node*> sources;
    if (value.is_sequence()) {
        for (const Node& item : value.items) sources.push_back(&item);
    } else {
        sources.push_back(&value);
    }
    for (const Node* source : sources) {
        if (source->is_mapping()) continue;
        refuse(source->mark, fmt::format("found {} under `<<`", a_kind(*source)),
               "`<<` takes a mapping, or a list of mappings, such as <<: *common");
    }
    return sources;
}

// Puts what `<<` names in its place; own keys win, then the first mapping that has the key.
void merge(Node& mapping) {
    const auto has_merge =
        std::ranges::any_of(mapping.entries, [](const auto& e) { return is_merge(e.first); });
    if (!has_merge) return;
    std::vector<Entry> own = std::move(mapping.entries);
    mapping.entries.clear();
    std::unordered_set<std::string> keys;
    for (const auto& [key, value] : own) keys.insert(key.text);
    for (auto& entry : own) {
        if (!is_merge(entry.first)) {
            mapping.entries.push_back(std::move(entry));
            continue;
        }
        for (const Node* source : merged_mappings(entry.second)) {
            for (const auto& inherited : source->entries) {
                if (keys.insert(inherited.first.text).second) mapping.entries.push_back(inherited);
            }
        }
    }
}

// Builds the tree from yaml-cpp's events.
class Builder : public YAML::EventHandler {
  public:
    Node take() { return std::move(root_.node); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents_++ > 0) {
            refuse(from(mark), "a second document, or text that does not belong to the first one",
                   "keep one document in a file, and check the indentation");
        }
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        leaf(node(Kind::null, mark, {}), anchor);
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        if (value.find('\0') != std::string::npos) refuse(from(mark), "found a NUL byte in a text");
        leaf(node(Kind::scalar, mark, tag, value), anchor);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(node(Kind::sequence, mark, tag), anchor);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(node(Kind::mapping, mark, tag), anchor);
    }
    void OnMapEnd() override { close(); }

  private:
    struct Open {
        Subtree tree;
        YAML::anchor_t anchor = 0;
        std::optional<Node> key;  // read, its value not yet
    };

    // yaml-cpp says "?" for plain text without a tag and "!" for quoted text.
    static Node node(Kind kind, const YAML::Mark& mark, const std::string& tag,
                     const std::string& text = {}) {
        Node made;
        made.kind = kind;
        made.mark = from(mark);
        made.text = text;
        made.quoted = kind == Kind::scalar && (tag == "!" || tag == "tag:yaml.org,2002:str");
        if (tag != "?" && tag != "!") made.tag = tag;
        return made;
    }

    void leaf(Node made, YAML::anchor_t anchor) { finish({.node = std::move(made)}, anchor); }
    void open(Node made, YAML::anchor_t anchor);
    void close();
    void finish(Subtree tree, YAML::anchor_t anchor);
    void add(Subtree tree);
    void copy_of(const Subtree& tree, Mark mark);

    int documents_ = 0;
    std::size_t copies_ = 0;  // nodes held by anchors and made by aliases
    std::vector<Open> stack_;
    std::unordered_map<YAML::anchor_t, Subtree> anchors_;
    Subtree root_;
};

void Builder::open(Node made, YAML::anchor_t anchor) {
    if (stack_.size() >= max_depth) {
        refuse(made.mark, fmt::format("nested deeper than {} levels", max_depth));
    }
    const bool is_key = !stack_.empty() && stack_.back().tree.node.is_mapping() && !stack_.back().key;
    if (is_key) {
        refuse(made.mark, fmt::format("found {} as a key", a_kind(made)),
               "a key is a text; quote one that contains brackets or braces");
    }
    stack_.push_back({.tree = {.node = std::move(made)}, .anchor = anchor, .key = {}});
}

void Builder::close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    if (done.tree.node.is_mapping()) {
        refuse_duplicates(done.tree.node);
        merge(done.tree.node);
    }
    finish(std::move(done.tree), done.anchor);
}

void Builder::copy_of(const Subtree& tree, Mark mark) {
    copies_ += tree.nodes;
    if (copies_ > max_copies) {
        refuse(mark, fmt::format("anchors and aliases expand to more than {} nodes", max_copies));
    }
}

void Builder::finish(Subtree tree, YAML::anchor_t anchor) {
    if (anchor != 0) {
        copy_of(tree, tree.node.mark);
        anchors_[anchor] = tree;
    }
    add(std::move(tree));
}

void Builder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(from(mark), "an alias inside of what it stands for");
    copy_of(found->second, from(mark));
    if (stack_.size() + found->second.height > max_depth + 1) {
        refuse(from(mark), fmt::format("nested deeper than {} levels", max_depth));
    }
    add(found->second);
}

void Builder::add(Subtree tree) {
    if (stack_.empty()) {
        root_ = std::move(tree);
        return;
    }
    Open& parent = stack_.back();
    parent.tree.nodes += tree.nodes;
    parent.tree.height = std::max(parent.tree.height, tree.height + 1);
    if (parent.tree.node.is_sequence()) {
        parent.tree.node.items.push_back(std::move(tree.node));
    } else if (parent.key) {
        parent.tree.node.entries.emplace_back(std::move(*parent.key), std::move(tree.node));
        parent.key.reset();
    } else if (tree.node.is_scalar()) {
        parent.key = std::move(tree.node);
    } else {
        refuse(tree.node.mark, fmt::format("found {} as a key", a_kind(tree.node)),
               "a key is a text; write \"null\" in quotes if that is meant");
    }
}

Mark mark_of(std::string_view text, std::size_t offset) {
    const auto before = text.substr(0, offset);
    const auto line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return {static_cast<int>(std::ranges::count(before, '\n')) + 1,
            static_cast<int>(offset - line_start) + 1};
}

// What yaml-cpp would replace, guess at or read past in silence.
void refuse_bad_bytes(std::string_view text) {
    if (text.size() > max_bytes) refuse({}, fmt::format("larger than {} MiB", max_bytes >> 20));
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
        refuse({1, 1}, "found UTF-16", "save the file as UTF-8");
    }
    const auto control = std::ranges::find_if(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
    });
    if (control != text.end()) {
        const auto offset = static_cast<std::size_t>(control - text.begin());
        refuse(mark_of(text, offset),
               fmt::format("found a control byte ({})", printable(text.substr(offset, 1))),
               "save the file as plain UTF-8 text");
    }
    if (const auto offset = invalid_utf8(text)) {
        refuse(mark_of(text, *offset),
               fmt::format("found invalid UTF-8 ({})", printable(text.substr(*offset, 1))),
               "save the file as UTF-8");
    }
}

Node read(std::string_view text) {
    refuse_bad_bytes(text);
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder;
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take();
}

}  // namespace

Result<Node> parse(std::string_view text, std::string_view file) {
    const auto error = [&](Mark mark, std::string_view message, std::string remedy = {}) {
        return fail("yaml", fmt::format("{}: {}", place(file, mark), message), std::move(remedy));
    };
    try {
        return read(text);
    } catch (const Refusal& refusal) {
        return error(refusal.mark, refusal.message, refusal.remedy);
    } catch (const YAML::Exception& e) {
        return error(e.mark.is_null() ? Mark{} : from(e.mark),
                     fmt::format("malformed YAML: {}", printable(e.msg)),
                     "look at the indentation, quotes and brackets there and just before");
    } catch (const std::exception& e) {
        return error({}, fmt::format("can not be read: {}", e.what()));
    }
}

}  // namespace cleanslate::yaml
