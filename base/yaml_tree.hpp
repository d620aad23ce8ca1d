#pragma once
// From yaml-cpp's events to our tree. Private to the YAML reader.

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/yaml.hpp"
#include "base/yaml_memory.hpp"

namespace cleanslate::yaml {

// Leaves yaml-cpp's parser from inside an event; never leaves the reader.
struct Refusal {
    Mark mark;
    std::string message;
    std::string remedy;
};

[[noreturn]] void refuse(Mark mark, std::string message, std::string remedy = {});

Mark mark_of(const YAML::Mark& mark);

// Builds one document. Throws Refusal where the text breaks one of the promises of parse().
class TreeBuilder : public YAML::EventHandler {
  public:
    // Once, after the last event.
    Document take() { return memory_.take(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override;
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override;
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value style) override;
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value style) override;
    void OnMapEnd() override { close(); }

  private:
    // A node and what it would be if its aliases were written out.
    struct Subtree {
        Node node;
        std::size_t nodes = 1;
        std::size_t height = 1;
    };
    // A list or mapping whose end was not met yet.
    struct Open {
        Subtree tree;
        YAML::anchor_t anchor = 0;
        std::size_t first = 0;  // of its children in `finished_`
    };

    Node make(Kind kind, const YAML::Mark& mark, const std::string& tag);
    void open(Node node, YAML::anchor_t anchor);
    void close();
    void finish(const Subtree& tree, YAML::anchor_t anchor);
    void add(const Subtree& tree);
    void count_copy(const Subtree& tree, Mark mark);
    void merge(Node& mapping);
    bool awaits_key() const;  // the mapping that is open, if it is one

    int documents_ = 0;
    std::size_t copies_ = 0;  // nodes held by anchors and made by aliases
    std::size_t merged_ = 0;  // keys brought in by `<<`
    Memory memory_;
    std::vector<Open> stack_;
    std::vector<Node> finished_;  // children of what is open, from the outermost to the innermost
    std::unordered_map<YAML::anchor_t, Subtree> anchors_;
    Node root_;
};

}  // namespace cleanslate::yaml
