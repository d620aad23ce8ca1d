#pragma once
// JSON of any origin read into a tree, within bounds: what it nests, repeats or is made of costs no more than
// its size allows for.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace cleanslate::controller {

struct JsonMember;

struct JsonValue {
    using List = std::vector<JsonValue>;
    using Object = std::vector<JsonMember>;  // in the order of the text, each name once
    // The signed one is of negative numbers alone; what is no whole number of 64 bits is a double.
    std::variant<std::monostate, bool, std::uint64_t, std::int64_t, double, std::string, List, Object> value;

    bool is_null() const { return std::holds_alternative<std::monostate>(value); }
    // "a list", "a number": for errors.
    std::string_view kind() const;
};

struct JsonMember {
    std::string name;
    JsonValue value;
};

struct JsonBounds {
    std::size_t depth = 32;
    std::size_t values_at_once = 1'000'000;  // of the object but for its streamed list, and of each element
    std::size_t values = 64'000'000;         // in all
    // One text or number, as it is written: a command's output, each byte of which may have become `\\xNN`.
    std::size_t token_bytes = std::size_t{96} << 20;
};

// `text` is one object. The elements of the list that is its member `streamed` are handed to `use` as they
// end, and are not kept: in the tree that list is empty. An error of `use` ends it and is returned. Errors of
// its own have kind "json" and say where: no JSON, a cut text, bounds, no object, a name that stands twice.
Result<JsonValue> read_json_object(std::string_view text, std::string_view streamed,
                                   const std::function<Status(JsonValue&)>& use, const JsonBounds& bounds);

}  // namespace cleanslate::controller
