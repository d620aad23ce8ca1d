#include "base/yaml_memory.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace cleanslate::yaml {

template <class T>
T* Memory::allocate(std::size_t count) {
    return static_cast<T*>(arena_->allocate(count * sizeof(T), alignof(T)));
}

std::string_view Memory::keep(std::string_view text) {
    if (text.empty()) return {};
    std::string_view& met = lately_[std::hash<std::string_view>()(text) % lately_.size()];
    if (met == text) return met;
    char* const copy = allocate<char>(text.size());
    std::ranges::copy(text, copy);
    return met = {copy, text.size()};
}

void Memory::set_text(Node& node, std::string_view text) {
    const std::string_view kept = keep(text);
    node.content_ = kept.data();
    node.size_ = static_cast<std::uint32_t>(kept.size());
}

void Memory::set_tag(Node& node, std::string_view tag) {
    node.tag_ = tag.empty() ? nullptr : std::construct_at(allocate<std::string_view>(1), keep(tag));
}

void Memory::set_items(Node& node, std::span<const Node> items) {
    Node* const copy = allocate<Node>(items.size());
    std::uninitialized_copy(items.begin(), items.end(), copy);
    node.content_ = copy;
    node.size_ = static_cast<std::uint32_t>(items.size());
}

void Memory::set_entries(Node& node, std::span<const Node> keys_and_values) {
    const std::size_t count = keys_and_values.size() / 2;
    Entry* const copy = allocate<Entry>(count);
    for (std::size_t i = 0; i < count; ++i)
        std::construct_at(copy + i, keys_and_values[2 * i], keys_and_values[2 * i + 1]);
    node.content_ = copy;
    node.size_ = static_cast<std::uint32_t>(count);
}

void Memory::set_entries(Node& node, std::span<const Entry> entries) {
    Entry* const copy = allocate<Entry>(entries.size());
    std::uninitialized_copy(entries.begin(), entries.end(), copy);
    node.content_ = copy;
    node.size_ = static_cast<std::uint32_t>(entries.size());
}

Document with_text(const Node& scalar, std::string_view text) {
    Memory memory;
    Node node = scalar;
    memory.set_text(node, text);
    memory.set_tag(node, scalar.tag());
    return memory.take(node);
}

}  // namespace cleanslate::yaml
