#include "playbooks/pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cleanslate::playbooks {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

bool matches(std::string_view pattern, std::string_view subject) {
    const auto compiled = Pattern::compile(pattern);
    if (!compiled) {
        ADD_FAILURE() << compiled.error().message;
        return false;
    }
    return compiled->found_in(subject);
}

std::string refusal(std::string_view pattern) {
    const auto compiled = Pattern::compile(pattern);
    if (compiled) {
        ADD_FAILURE() << "accepted: " << pattern;
        return {};
    }
    EXPECT_EQ(compiled.error().kind, "playbook");
    EXPECT_FALSE(compiled.error().remedy.empty());
    return compiled.error().message;
}

TEST(Pattern, IsSearchedAnywhereAsPkillDoes) {
    EXPECT_TRUE(matches("sglang.launch_server", "python3 -m sglang.launch_server --tp 8"));
    EXPECT_FALSE(matches("sglang.launch_server", "python3 -m vllm serve"));
}

TEST(Pattern, IsPosixExtended) {
    EXPECT_TRUE(matches("^(vllm|sglang)( |$)", "vllm serve"));
    EXPECT_FALSE(matches("^(vllm|sglang)( |$)", "vllmx"));
    EXPECT_TRUE(matches("/python[0-9.]*$", "/usr/bin/python3.11"));
    EXPECT_FALSE(matches("/python[0-9.]*$", "/usr/bin/python3-config"));
    EXPECT_TRUE(matches("ray::[[:alnum:]_]{3,}", "ray::train_1"));
    EXPECT_TRUE(matches("a\\+b", "a+b"));
}

TEST(Pattern, KnowsTheCaseOfLetters) { EXPECT_FALSE(matches("vllm", "VLLM::EngineCore")); }

TEST(Pattern, SearchesBehindANulByteAndAmongInvalidUtf8) {
    EXPECT_TRUE(matches("leaky", "\0\xff\xfe leaky"s));
    EXPECT_TRUE(matches("a.b",
                        "a\xff"
                        "b"));
}

TEST(Pattern, DoesNotReadBeyondItsSubject) {
    EXPECT_FALSE(matches("abc", std::string_view("abc", 2)));
    EXPECT_TRUE(matches("ab$", std::string_view("abc", 2)));
    EXPECT_FALSE(matches("ab", std::string_view()));
}

TEST(Pattern, ThatWouldMatchEveryProcessIsRefused) {
    for (const char* pattern : {".",        ".*",  ".+", "x*",    "(x|)",         "^",       "$",
                                "^$",       "a?",  "()", "[a-z]", "[[:alpha:]]+", "[^/]",    "..",
                                "^.{2,8}$", "\\w", "/",  "^/",    "sglang|",      "|sglang", "x{0}"})
        EXPECT_THAT(refusal(pattern), HasSubstr("every process")) << pattern;
}

TEST(Pattern, ThatIsEmptyIsRefused) { EXPECT_EQ(refusal(""), "an empty pattern would match every process"); }

TEST(Pattern, ThatTheLibraryCanNotReadIsRefusedWithItsReason) {
    EXPECT_EQ(refusal("(sglang"), "'(sglang' is not a POSIX extended regular expression: Unmatched ( or \\(");
    EXPECT_THAT(refusal("[z-a]"), HasSubstr("Invalid range end"));
    EXPECT_THAT(refusal("[[:nothing:]]"), HasSubstr("Invalid character class name"));
}

TEST(Pattern, OutlivesTheTextItWasMadeOf) {
    auto text = std::make_unique<std::string>("leaky_worker");
    const auto compiled = Pattern::compile(*text);
    text.reset();
    ASSERT_TRUE(compiled);
    const Pattern copy = *compiled;
    EXPECT_TRUE(copy.found_in("python3 leaky_worker.py"));
}

}  // namespace
}  // namespace cleanslate::playbooks
