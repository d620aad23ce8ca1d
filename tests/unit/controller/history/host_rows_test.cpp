#include "controller/history/host_rows.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "nights.hpp"

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

HostOutcome unknown(std::string name, std::string code) {
    HostOutcome host = clean(std::move(name));
    host.verdict = host.last->verdict = Verdict::unknown;
    host.last->findings.push_back({Severity::unknown, std::move(code), "for a reason", ""});
    return host;
}

TEST(GpuSetOf, AHostThatWasSeen) {
    const auto gpus = nlohmann::json::parse(gpu_set_of(clean("a")));
    ASSERT_EQ(gpus.size(), 8u);
    EXPECT_EQ(gpus[3], nlohmann::json::parse(R"([3,"GPU-a-3","00000000:03:00.0","NVIDIA H200"])"));
    EXPECT_EQ(gpu_set_of(clean("a")), gpu_set_of(clean("a")));
    EXPECT_EQ(gpu_set_of(dirty("a")), gpu_set_of(clean("a"))) << "what it holds is no matter";
}

TEST(GpuSetOf, AHostThatDidNotShowThemAllIsNone) {
    EXPECT_EQ(gpu_set_of(unreachable_host("a")), "");
    HostOutcome none = clean("a");
    none.last->gpus.clear();
    EXPECT_EQ(gpu_set_of(none), "");
    for (const char* code :
         {"nvidia-smi-cut", "driver-hung", "survey-incomplete", "row-malformed", "never-seen-yet"})
        EXPECT_EQ(gpu_set_of(unknown("a", code)), "") << code;
    for (const char* code : {"count-mismatch", "apps-unreadable", "not-settled"})
        EXPECT_NE(gpu_set_of(unknown("a", code)), "") << code;
}

TEST(GpuSetOf, KeepsHostileTextInItsPlace) {
    HostOutcome host = clean("a");
    host.last->gpus[0].name = "\"],[9,\"\x1b[2J\xff";
    const auto gpus = nlohmann::json::parse(gpu_set_of(host));
    ASSERT_THAT(gpus, SizeIs(8));
    EXPECT_THAT(gpus[0][3].get<std::string>(), HasSubstr("\\x1B[2J\\xFF"));
}

TEST(WhyOf, IsOneLine) {
    EXPECT_EQ(why_of(clean("a")), "");
    EXPECT_EQ(why_of(dirty("a")), "") << "its GPUs and holders say it";
    EXPECT_EQ(why_of(unreachable_host("a")), "connect: connection refused");
    EXPECT_EQ(why_of(sick("a")), "GPU 3: gpu-requires-reset: its row shows [GPU requires reset]");
    EXPECT_EQ(why_of(unknown("a", "driver-hung")), "driver-hung: for a reason");
    EXPECT_LT(why_of(unreachable_host("a", std::string(5000, 'x'))).size(), 400u);
    HostOutcome silent = clean("a");
    silent.verdict = Verdict::unknown;
    EXPECT_EQ(why_of(silent), "");
}

class HostRowsOf : public WithHistory {};

TEST_F(HostRowsOf, HostsThatComeBackGoOnWhereTheyWereAndNotElsewhere) {
    night({dirty("a")});
    night({dirty("a")}, {"/etc/fleet.yaml", "rack1"});
    EXPECT_EQ(integer_of("SELECT dirty_since FROM host_results WHERE sweep = 2"), first_night + day)
        << "another scope has runs of its own";
    night({clean("b")});
    night({dirty("a")});
    EXPECT_EQ(integer_of("SELECT dirty_since FROM host_results WHERE sweep = 4"), first_night + 3 * day)
        << "it was not there the time before";
}

TEST_F(HostRowsOf, AFindingIsOneRowWithItsWorstSeverity) {
    HostOutcome host = dirty("a");
    host.last->gpus[2].findings.push_back({Severity::dirty, "held", "", ""});
    host.last->gpus[3].findings.push_back({Severity::dirty, "held", "", ""});
    host.last->gpus[4].findings.push_back({Severity::note, "held", "", ""});
    host.findings.push_back({Severity::unknown, "held", "", ""});
    night({host});
    EXPECT_EQ(text_of("SELECT w.text || ' ' || severity || ' ' || gpus FROM findings f "
                      "JOIN words w ON w.id = f.code WHERE w.text = 'held'"),
              "held 3 2");
}

TEST_F(HostRowsOf, HostileNumbersAndNamesAreKept) {
    HostOutcome host = dirty("a\x1b[2J\xff");
    Holder& holder = host.last->gpus[2].holders.front();
    holder.key.start = ~std::uint64_t{0};
    holder.age_s = ~std::uint64_t{0};
    night({host});
    EXPECT_EQ(text_of("SELECT name FROM hosts"), "a\\x1B[2J\\xFF");
    EXPECT_EQ(integer_of("SELECT start FROM holders"), -1);
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
