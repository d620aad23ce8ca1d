// Property of the YAML reader: whatever the bytes, it ends with a tree that keeps its promises (keys are
// texts, each once; bounded depth; no NUL in a text; every node has a place in the text) or with an error
// that names the file and can be shown on a terminal. The same bytes give the same answer.
#undef NDEBUG  // the asserts are the test
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <set>

#include "base/text.hpp"
#include "base/yaml.hpp"

namespace {

using cleanslate::yaml::Node;

void check(const Node& node, int depth) {
    assert(depth <= 65);
    assert(node.text().find('\0') == std::string::npos);
    assert(node.is_scalar() || node.text().empty());
    assert(node.is_sequence() || node.items().empty());
    assert(node.is_mapping() || node.entries().empty());
    for (const Node& item : node.items()) check(item, depth + 1);
    std::set<std::string_view> keys;
    for (const auto& [key, value] : node.entries()) {
        assert(key.is_scalar() && key.mark.line > 0 && key.mark.column > 0);
        assert(keys.insert(key.text()).second);
        assert(node.find(key.text()) == &value);
        check(value, depth + 1);
    }
}

void check_values(const Node& node) {
    using namespace cleanslate::yaml;
    if (const auto number = as_integer(node, "f", "n")) assert(std::to_string(*number) == node.text());
    if (as_bool(node, "f", "b")) assert(!node.quoted && as_text(node, "f", "t"));
}

void check_error(const cleanslate::Error& error) {
    assert(error.kind == "yaml");
    assert(error.message.starts_with("fuzz.yaml:"));
    assert(cleanslate::printable(error.message) == error.message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto read = cleanslate::yaml::parse(text, "fuzz.yaml");
    const auto again = cleanslate::yaml::parse(text, "fuzz.yaml");
    assert(read.has_value() == again.has_value());
    if (read) {
        check(read->root(), 1);
        check_values(read->root());
    } else {
        check_error(read.error());
        assert(read.error().message == again.error().message);
    }
    return 0;
}
