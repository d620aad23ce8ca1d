// What builds the tree, seen through parse(): yaml-cpp stays within the library.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/yaml.hpp"

namespace cleanslate::yaml {
namespace {

std::string error_of(std::string_view text) {
    const auto read = parse(text, "f.yaml");
    return read ? "" : read.error().message;
}

TEST(Tree, OfManyKeysThatAreRepeatedTheFirstToBeIsNamed) {
    std::string text;
    for (int i = 1'000; i > 0; --i) text += fmt::format("host{}:\n", i);
    EXPECT_EQ(error_of(text), "");
    EXPECT_EQ(error_of(text + "host7:\nhost999:\nhost7:\n"),
              "f.yaml:1001:1: duplicate key \"host7\", first at 994:1");
    EXPECT_EQ(error_of(text + "host999:\nhost7:\nhost999:\n"),
              "f.yaml:1001:1: duplicate key \"host999\", first at 2:1");
}

TEST(Tree, AKeyIsRepeatedWhetherFewOrManyStandAround) {
    for (const int others : {0, 1, 13, 14, 15, 16, 17, 500}) {
        std::string text = "twice:\n";
        for (int i = 0; i < others; ++i) text += fmt::format("other{}:\n", i);
        EXPECT_EQ(error_of(text), "") << others;
        EXPECT_EQ(error_of(text + "twice:\n"),
                  fmt::format("f.yaml:{}:1: duplicate key \"twice\", first at 1:1", others + 2));
    }
}

TEST(Tree, KeysInOrderAreDifferentAndTwoOfOneNameAreNot) {
    std::string text;
    for (int i = 0; i < 1'000; ++i) text += fmt::format("host{:04}:\n", i);
    EXPECT_EQ(error_of(text), "");
    EXPECT_EQ(error_of(text + "host0999:\n"), "f.yaml:1001:1: duplicate key \"host0999\", first at 1000:1");
}

TEST(Tree, MergesThatBringInKeysWithoutEndAreStopped) {
    std::string inner;
    for (int i = 0; i < 30'000; ++i) inner += fmt::format("k{}: , ", i);
    std::string text = "{" + inner + "}";
    for (int i = 0; i < 60; ++i) text = fmt::format("{{<<: {}, own{}: }}", text, i);
    EXPECT_EQ(error_of("a: " + text).substr(0, 9), "f.yaml:1:");
    EXPECT_NE(error_of("a: " + text).find("`<<` brings in more than 1000000 keys"), std::string::npos);
}

}  // namespace
}  // namespace cleanslate::yaml
