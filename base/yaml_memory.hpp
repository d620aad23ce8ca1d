#pragma once
// Where the nodes and texts of one document are kept. Private to the YAML reader.

#include <array>
#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>

#include "base/yaml.hpp"

namespace cleanslate::yaml {

// Nothing is given back before the document ends. Contents of a node that were set before stay readable.
class Memory {
  public:
    void set_text(Node& node, std::string_view text);
    void set_tag(Node& node, std::string_view tag);
    void set_items(Node& node, std::span<const Node> items);
    // Keys and values by turns.
    void set_entries(Node& node, std::span<const Node> keys_and_values);
    void set_entries(Node& node, std::span<const Entry> entries);

    // Of the whole document. Afterwards there is no memory to set anything in.
    Document take(Node root) { return {std::move(arena_), root}; }

  private:
    template <class T>
    T* allocate(std::size_t count);
    std::string_view keep(std::string_view text);

    std::unique_ptr<std::pmr::monotonic_buffer_resource> arena_ =
        std::make_unique<std::pmr::monotonic_buffer_resource>();
    // Texts that were met lately, by their hash: most documents have few keys, again and again.
    std::array<std::string_view, 512> lately_{};
};

}  // namespace cleanslate::yaml
