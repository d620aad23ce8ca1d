#include "base/yaml_memory.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace cleanslate::yaml {
namespace {

TEST(Memory, KeepsATextThatComesAgainOnce) {
    std::string text;
    for (int i = 0; i < 1'000; ++i) text += "- {gpus: 8, user: root}\n";
    const Document document = parse(text, "f.yaml").value();
    std::set<const void*> places;
    for (const Node& host : document.root().items()) {
        ASSERT_EQ(host.entries().size(), 2U);
        for (const auto& [key, value] : host.entries())
            places.insert({key.text().data(), value.text().data()});
    }
    EXPECT_EQ(places.size(), 4U) << "gpus, 8, user, root";
}

TEST(Memory, KeepsTheKeysOfManyHostsFewTimes) {
    constexpr std::size_t hosts = 20'000;
    std::string text;
    for (std::size_t i = 0; i < hosts; ++i)
        text += fmt::format("gpu{0}: {{ansible_host: 10.{1}.{2}.1, gpus: 8}}\n", i, i / 256, i % 256);
    const Document document = parse(text, "f.yaml").value();
    std::set<const void*> places;
    for (const auto& [name, host] : document.root().entries())
        for (const auto& [key, value] : host.entries()) places.insert(key.text().data());
    EXPECT_LT(places.size(), 2 * hosts / 50) << "of " << 2 * hosts;
}

TEST(Memory, AnAliasHoldsWhatItsAnchorHolds) {
    const Document document = parse("a: &x {list: [1, 2]}\nb: *x\nc: {<<: *x}\n", "f.yaml").value();
    const Node& root = document.root();
    EXPECT_EQ(root.find("b")->entries().data(), root.find("a")->entries().data());
    EXPECT_EQ(root.find("c")->find("list")->items().data(), root.find("a")->find("list")->items().data());
}

TEST(Memory, OutlivesTheTextThatWasRead) {
    auto text =
        std::make_unique<std::string>("host: a-name-that-is-longer-than-a-short-string\ntag: !own x\n");
    const Document document = parse(*text, "f.yaml").value();
    text->assign(text->size(), '#');
    text.reset();
    EXPECT_EQ(document.root().find("host")->text(), "a-name-that-is-longer-than-a-short-string");
    EXPECT_EQ(document.root().find("tag")->tag(), "!own");
}

TEST(Memory, GoesWithADocumentThatMoves) {
    Document first = parse("a: [x, 'y']\n", "f.yaml").value();
    const Document second = std::move(first);
    ASSERT_EQ(second.root().find("a")->items().size(), 2U);
    EXPECT_EQ(second.root().find("a")->items()[1].text(), "y");
}

TEST(Memory, WhatIsEmptyHoldsNothing) {
    const Document document = parse("a: ''\nb: []\nc: {}\nd:\n", "f.yaml").value();
    for (const auto& [key, value] : document.root().entries()) {
        EXPECT_EQ(value.text(), "") << key.text();
        EXPECT_TRUE(value.items().empty() && value.entries().empty()) << key.text();
        EXPECT_EQ(value.find("x"), nullptr) << key.text();
    }
}

}  // namespace
}  // namespace cleanslate::yaml
