#include <gtest/gtest.h>

#include "base/yaml.hpp"

namespace cleanslate::yaml {
namespace {

Document read(std::string_view text) { return parse(text, "f.yaml").value(); }

std::string text_error(std::string_view text) {
    return as_text(read(text).root(), "f.yaml", "user").error().message;
}

TEST(Text, IsAnyScalar) {
    EXPECT_EQ(as_text(read("root").root(), "f.yaml", "user").value(), "root");
    EXPECT_EQ(as_text(read("007").root(), "f.yaml", "user").value(), "007");
    EXPECT_EQ(as_text(read("!!str 5").root(), "f.yaml", "user").value(), "5");
    EXPECT_EQ(as_text(read("''").root(), "f.yaml", "user").value(), "");
}

TEST(Text, IsNothingElse) {
    EXPECT_EQ(text_error("~"), "f.yaml:1:1: user: found nothing where a text belongs");
    EXPECT_EQ(text_error("[a]"), "f.yaml:1:1: user: found a list where a text belongs");
    EXPECT_EQ(text_error("{a: 1}"), "f.yaml:1:1: user: found a mapping where a text belongs");
    EXPECT_EQ(text_error("!vault x"), "f.yaml:1:1: user: found the tag !vault where a text belongs");
}

TEST(Integer, IsPlainDigits) {
    EXPECT_EQ(as_integer(read("8").root(), "f.yaml", "gpus").value(), 8);
    EXPECT_EQ(as_integer(read("-1").root(), "f.yaml", "gpus").value(), -1);
    EXPECT_EQ(as_integer(read("0").root(), "f.yaml", "gpus").value(), 0);
    EXPECT_EQ(as_integer(read("9223372036854775807").root(), "f.yaml", "gpus").value(), INT64_MAX);
}

TEST(Integer, RefusesWhatReadersDisagreeOn) {
    for (const auto* text : {"'8'", "010", "0x10", "0o10", "1_000", "1.0", "1e3", "+8", "8 MiB", "100MiB",
                             "true", "~", "[8]", "''", "-", "--1", "9223372036854775808", "!!int 8", "8x"}) {
        const auto integer = as_integer(read(text).root(), "f.yaml", "gpus");
        ASSERT_FALSE(integer) << text;
        EXPECT_EQ(integer.error().kind, "yaml");
    }
    EXPECT_EQ(as_integer(read("'8'").root(), "f.yaml", "gpus").error().message,
              "f.yaml:1:1: gpus: found the quoted text \"8\" where an integer belongs");
}

TEST(Bool, IsTrueOrFalse) {
    EXPECT_TRUE(as_bool(read("true").root(), "f.yaml", "tree").value());
    EXPECT_FALSE(as_bool(read("False").root(), "f.yaml", "tree").value());
}

TEST(Bool, RefusesYesAndNo) {
    for (const auto* text : {"yes", "no", "on", "off", "1", "'true'", "~", "tRUE", "!!bool true"}) {
        EXPECT_FALSE(as_bool(read(text).root(), "f.yaml", "tree")) << text;
    }
    EXPECT_EQ(as_bool(read("yes").root(), "f.yaml", "tree").error().message,
              "f.yaml:1:1: tree: found \"yes\" where true or false belongs");
}

TEST(Nearest, FindsSlips) {
    const std::vector<std::string> words = {"protect", "unprotect", "port", "gpus"};
    EXPECT_EQ(nearest("protcet", words), "protect");
    EXPECT_EQ(nearest("potect", words), "protect");
    EXPECT_EQ(nearest("unprotekt", words), "unprotect");
    EXPECT_EQ(nearest("prto", words), "port");
    EXPECT_EQ(nearest("port", words), "port");
}

TEST(Nearest, DoesNotGuessFarOff) {
    const std::vector<std::string> words = {"protect", "port", "gpus"};
    EXPECT_EQ(nearest("rack", words), "");
    EXPECT_EQ(nearest("ab", words), "");
    EXPECT_EQ(nearest("", words), "");
    EXPECT_EQ(nearest("a", {}), "");
    EXPECT_EQ(nearest(std::string(100'000, 'p'), words), "");
}

TEST(Nearest, TakesTheNearestAndThenTheFirst) {
    EXPECT_EQ(nearest("gpu1", {"gpu22", "gpu11", "gpu12"}), "gpu11");
}

TEST(WithText, IsTheSameScalarWithAnotherText) {
    const Document from = read("a: 'old'");
    const Document to = with_text(*from.root().find("a"), "new");
    EXPECT_EQ(to.root().text(), "new");
    EXPECT_TRUE(to.root().quoted);
    EXPECT_EQ(place("f", to.root().mark), "f:1:4");
    EXPECT_EQ(from.root().find("a")->text(), "old");
    EXPECT_EQ(with_text(read("!t x").root(), "").root().tag(), "!t");
}

}  // namespace
}  // namespace cleanslate::yaml
