#include "playbooks/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cleanslate::playbooks {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

// One YAML value, read with the params `who: ann` and `count: 3`.
class ReaderTest : public testing::Test {
  protected:
    const yaml::Node& node(std::string_view yaml) {
        document_ = yaml::parse(yaml, "f").value_or(yaml::Document({}, {}));
        return document_.root();
    }
    const std::vector<Declared> params_{{{"who", "ann", {}}, {}}, {{"count", "3", {}}, {}}};
    const Values values_ = Values::make(params_, {}, "f").value();
    const Reader in_{"f", values_};
    yaml::Document document_{{}, {}};
};

TEST_F(ReaderTest, FillsParamsIntoTextsNumbersAndTruths) {
    EXPECT_EQ(in_.text(node("hello ${who}"), "x"), "hello ann");
    EXPECT_EQ(in_.integer(node("${count}1"), "x", 0, 100), 31);
    EXPECT_EQ(in_.integer(node("'${count}'"), "x", 0, 100), 3);
    EXPECT_EQ(in_.duration(node("${count}s"), "x", 0s, 1h), Milliseconds(3000));
    EXPECT_EQ(in_.size(node("${count}GiB"), "x"), Mebibytes{3072});
}

TEST_F(ReaderTest, AQuotedNumberIsNone) {
    const auto number = in_.integer(node("'3'"), "count", 0, 100);
    ASSERT_FALSE(number);
    EXPECT_EQ(number.error().kind, "playbook");
    EXPECT_THAT(number.error().message, StartsWith("f:1:1: count: found the quoted text"));
}

TEST_F(ReaderTest, NamesTheRangeInTheUnitsThatAPlaybookWrites) {
    EXPECT_EQ(in_.duration(node("1ms"), "x", 500ms, 90s).error().remedy, "write 500ms to 90s");
    EXPECT_EQ(in_.duration(node("2d"), "x", 0s, 2min).error().remedy, "write 0s to 2m");
    EXPECT_EQ(in_.integer(node("7"), "x", 8, 9).error().remedy, "write a number from 8 to 9");
}

TEST_F(ReaderTest, AListIsNotATextHoweverLargeItIs) {
    EXPECT_THAT(in_.text(node("[a, b]"), "x").error().message,
                HasSubstr("found a list where a text belongs"));
    EXPECT_FALSE(in_.text(node("[a, b]"), "x").error().remedy.empty());
}

TEST_F(ReaderTest, TagsAreRefused) {
    EXPECT_THAT(in_.text(node("!!str x"), "x").error().message, HasSubstr("tags are not used here"));
}

TEST_F(ReaderTest, RemembersWhichParamsWereAskedFor) {
    EXPECT_EQ(values_.unused(params_)->param.name, "who");
    ASSERT_TRUE(in_.text(node("${who} ${count}"), "x"));
    EXPECT_EQ(values_.unused(params_), nullptr);
}

TEST(AnyOf, ReadsAsASentence) {
    EXPECT_EQ(any_of({}), "");
    EXPECT_EQ(any_of({"a"}), "a");
    EXPECT_EQ(any_of({"a", "b", "c"}), "a, b or c");
}

TEST(RefuseAt, PutsThePlaceFirst) {
    const auto error = refuse_at("f.yaml", {3, 7}, "a slip", "mend it").error();
    EXPECT_EQ(error.message, "f.yaml:3:7: a slip");
    EXPECT_EQ(error.remedy, "mend it");
}

}  // namespace
}  // namespace cleanslate::playbooks
