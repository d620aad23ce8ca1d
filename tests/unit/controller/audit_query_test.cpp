#include "controller/audit_query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t noon = 1'796'040'000;  // 2026-11-30T12:00:00Z

TEST(Time, IsRfc3339) {
    EXPECT_EQ(parse_time("1970-01-01T00:00:00Z"), 0);
    EXPECT_EQ(parse_time("2026-11-30T12:00:00Z"), noon);
    EXPECT_EQ(parse_time("2026-11-30t12:00:00z"), noon);
    EXPECT_EQ(parse_time("2026-11-30 12:00:00.75Z"), noon);
    EXPECT_EQ(parse_time("2026-11-30T13:30:00+01:30"), noon);
    EXPECT_EQ(parse_time("2026-11-30T04:00:00-08:00"), noon);
    EXPECT_EQ(parse_time("2028-02-29T00:00:00Z").has_value(), true);
}

TEST(Time, OfADateAloneIsItsBeginningInUtc) { EXPECT_EQ(parse_time("2026-11-30"), noon - 12 * 3600); }

TEST(Time, IsRefusedWhereItIsNone) {
    for (const char* wrong :
         {"", "2026", "2026-11", "2026-13-01", "2026-02-29", "2026-11-30T", "2026-11-30T12:00",
          "2026-11-30T12:00:00", "2026-11-30T24:00:00Z", "2026-11-30T12:00:00.Z", "2026-11-30T12:00:00Zx",
          "2026-11-30T12:00:00+1:00", " 2026-11-30", "-026-11-30", "2026-11-30\n", "yesterday"})
        EXPECT_EQ(parse_time(wrong), std::nullopt) << wrong;
}

TEST(Since, IsATimeOrHowLongAgo) {
    EXPECT_EQ(parse_since("2026-11-30", noon), noon - 12 * 3600);
    EXPECT_EQ(parse_since("2h", noon), noon - 7200);
    EXPECT_EQ(parse_since("7d", noon), noon - 7 * 86'400);
    for (const char* wrong : {"", "2", "last week", "-2h"}) {
        const auto since = parse_since(wrong, noon);
        ASSERT_FALSE(since) << wrong;
        EXPECT_EQ(since.error().kind, "usage");
    }
}

TEST(HostFilter, TakesNamesGlobsAndNodeSets) {
    const auto filter = HostFilter::read({"gpu[01-03],login", "rack?-*"}).value();
    for (const char* host : {"gpu01", "gpu03", "login", "rack1-", "rack2-gpu9"})
        EXPECT_TRUE(filter.has(host)) << host;
    for (const char* host : {"gpu04", "gpu1", "login2", "rack12-x", ""})
        EXPECT_FALSE(filter.has(host)) << host;
    const auto both = HostFilter::read({"n[1-2]-*"}).value();
    EXPECT_TRUE(both.has("n2-a"));
    EXPECT_FALSE(both.has("n3-a"));
}

TEST(HostFilter, WithoutAnyIsEveryHost) {
    EXPECT_TRUE(HostFilter::read({}).value().has("anything"));
    EXPECT_TRUE(HostFilter::read({}).value().everything());
    EXPECT_FALSE(HostFilter::read({"a"}).value().everything());
}

TEST(HostFilter, RefusesWhatIsNoName) {
    for (const char* wrong : {"", "a,", "!gpu01", "&gpu01", "@file"}) {
        const auto filter = HostFilter::read({wrong});
        ASSERT_FALSE(filter) << wrong;
        EXPECT_THAT(filter.error().message, HasSubstr("--host")) << wrong;
    }
    EXPECT_FALSE(HostFilter::read({"gpu[3-1]"}));
    EXPECT_FALSE(HostFilter::read({"gpu[1-"}));
}

}  // namespace
}  // namespace cleanslate::controller::testing
