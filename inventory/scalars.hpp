#pragma once
// What a scalar means to Ansible, which reads YAML 1.1: 022 is 18, `no` is a boolean, 1:30 is 90.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/yaml.hpp"

namespace cleanslate::inventory {

enum class Scalar { null, text, boolean, integer, real, date };

// Of a null or scalar node. What is quoted or tagged as a text is one; other tags are not looked at.
Scalar kind_of(const yaml::Node& node);

// "a boolean", "a number", ...: for messages.
std::string_view describe(Scalar kind);

// The value of one that kind_of() calls an integer; nothing where it does not fit into 64 bits.
std::optional<std::int64_t> integer_of(std::string_view text);

// What Ansible takes as a number where it wants one: an integer, or a text of decimal digits (" -5 ").
std::optional<std::int64_t> number_in(const yaml::Node& node);

// What Ansible takes as a boolean: true, yes, on, y, t and 1, false, no, off, n, f and 0, in any case, quoted
// or not.
std::optional<bool> truth_in(const yaml::Node& node);

}  // namespace cleanslate::inventory
