#pragma once
// Command lines as words, read or refused.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/options.hpp"

namespace cleanslate::controller::testing {

using Words = std::vector<std::string>;

// The options of a command line that is right.
inline Options read(const Words& words, const Environment& environment = {}) {
    const auto options = read_command_line(words, environment);
    EXPECT_TRUE(options) << (options ? "" : options.error().err);
    return options.value_or(Options{});
}

// What is said about one that is wrong; it always ends with 2 and an empty stdout.
inline std::string refusal(const Words& words, const Environment& environment = {}) {
    const auto options = read_command_line(words, environment);
    EXPECT_FALSE(options);
    if (options) return "";
    EXPECT_EQ(options.error().exit_status, 2);
    EXPECT_EQ(options.error().out, "");
    return options.error().err;
}

inline std::string help_of(const Words& words) {
    const auto options = read_command_line(words, {});
    EXPECT_FALSE(options);
    if (options) return "";
    EXPECT_EQ(options.error().exit_status, 0);
    EXPECT_EQ(options.error().err, "");
    return options.error().out;
}

}  // namespace cleanslate::controller::testing
