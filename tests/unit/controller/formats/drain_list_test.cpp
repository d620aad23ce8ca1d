#include "controller/formats/drain_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "../outcomes.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::set<Verdict> usual{Verdict::dirty, Verdict::sick};
const std::set<Verdict> all{Verdict::dirty, Verdict::sick, Verdict::unknown, Verdict::unreachable};

std::vector<std::string> lines(std::vector<HostOutcome> hosts, const std::set<Verdict>& verdicts = usual) {
    std::vector<std::string> commands;
    for (const DrainLine& line : drain_list(report_of(std::move(hosts)), verdicts).lines)
        commands.push_back(line.command());
    return commands;
}

HostOutcome with_gpus(std::string name, const std::vector<GpuVerdict>& gpus) {
    HostOutcome host = clean_host(std::move(name));
    host.last->gpus = gpus;
    host.verdict = Verdict::clean;
    for (const GpuVerdict& one : gpus) host.verdict = worse(host.verdict, one.verdict);
    host.last->verdict = host.verdict;
    return host;
}

GpuVerdict with_finding(GpuVerdict gpu, Severity severity, std::string code) {
    gpu.findings.push_back({severity, std::move(code), "text", ""});
    return gpu;
}

TEST(DrainList, NamesTheGpusAndWhy) {
    EXPECT_THAT(lines({with_gpus("gpu01", {gpu(0, Verdict::clean, 0),
                                           with_finding(gpu(3, Verdict::dirty, 9'000), Severity::dirty,
                                                        "memory-without-holder")})}),
                ElementsAre("scontrol update NodeName=gpu01 State=DRAIN Reason='cleanslate: GPU 3 dirty: "
                            "memory-without-holder'"));
}

// Slurm reads ALL, in any case, as every node there is.
TEST(DrainList, NeverNamesAllNodesByTheNameOfOne) {
    for (const char* name : {"ALL", "all", "aLL"}) {
        const auto list = drain_list(report_of({with_gpus(name, {gpu(0, Verdict::dirty, 9'000)})}), usual);
        EXPECT_THAT(list.lines, IsEmpty());
        EXPECT_THAT(list.left_out, ElementsAre(name));
    }
    EXPECT_EQ(lines({with_gpus("all1", {gpu(0, Verdict::dirty, 9'000)})}).size(), 1u);
}

TEST(DrainList, NamesWhoHoldsAGpu) {
    GpuVerdict held = gpu(1, Verdict::dirty, 9'000);
    held.holders = {holder(812, "alice", "python3"), holder(813, "alice", "python3"),
                    holder(814, "bob", "x")};
    held.findings.clear();
    EXPECT_EQ(drain_reason(with_gpus("a", {held})), "cleanslate: GPU 1 dirty: held by alice,bob");
    held.findings = {{Severity::dirty, "memory-in-use", "", ""}, {Severity::dirty, "held", "", ""}};
    EXPECT_EQ(drain_reason(with_gpus("a", {held})), "cleanslate: GPU 1 dirty: held by alice,bob");
    held.findings.push_back({Severity::dirty, "ghost", "", ""});
    EXPECT_EQ(drain_reason(with_gpus("a", {held})), "cleanslate: GPU 1 dirty: held by alice,bob; ghost");
    held.findings.clear();
    held.holders.clear();
    EXPECT_EQ(drain_reason(with_gpus("a", {held})), "cleanslate: GPU 1 dirty: 9000 MiB used");
}

TEST(DrainList, FoldsGpusAndNodesThatHaveOneReason) {
    std::vector<HostOutcome> hosts;
    for (const char* name : {"gpu01", "gpu02", "gpu03"}) {
        std::vector<GpuVerdict> gpus;
        for (int i = 0; i < 4; ++i)
            gpus.push_back(with_finding(gpu(i, Verdict::sick, 0), Severity::sick, "requires-reset"));
        hosts.push_back(with_gpus(name, gpus));
    }
    hosts.push_back(clean_host("gpu04"));
    EXPECT_THAT(lines(hosts), ElementsAre("scontrol update NodeName='gpu[01-03]' State=DRAIN "
                                          "Reason='cleanslate: GPU 0-3 sick: requires-reset'"));
}

TEST(DrainList, HasUnknownAndUnreachableHostsOnlyWhereTheyAreAskedFor) {
    HostOutcome unknown = clean_host("gpu02");
    unknown.verdict = unknown.last->verdict = Verdict::unknown;
    unknown.last->findings.push_back({Severity::unknown, "driver-hung", "", ""});
    const std::vector<HostOutcome> hosts{clean_host("gpu01"), unknown, unreachable_host("gpu03")};
    EXPECT_THAT(lines(hosts), IsEmpty());
    const auto more = lines(hosts, all);
    ASSERT_EQ(more.size(), 2u);
    EXPECT_THAT(more[0], HasSubstr("Reason='cleanslate: unknown: driver-hung'"));
    EXPECT_THAT(more[1], HasSubstr("NodeName=gpu03"));
    EXPECT_THAT(more[1], HasSubstr("cleanslate: unreachable"));
}

TEST(DrainList, NeverHasAHostThatIsClean) {
    EXPECT_THAT(lines({clean_host("gpu01")}, {Verdict::clean, Verdict::dirty}), IsEmpty());
}

TEST(DrainList, LetsNothingIntoALineThatAShellWouldRead) {
    GpuVerdict held = gpu(1, Verdict::dirty, 9'000);
    held.findings.clear();
    held.holders = {holder(812, "a'b\"c$(reboot)`x`\\\n;&|<>", "x")};
    const std::string reason = drain_reason(with_gpus("a", {held}));
    EXPECT_EQ(reason.find_first_of("'\"$`\\\n&|<>"), std::string::npos) << reason;
    held.holders = {holder(812, std::string(5'000, 'x'), "x")};
    EXPECT_EQ(drain_reason(with_gpus("a", {held})).size(), most_reason);
}

TEST(DrainList, LeavesOutNamesThatAreNoneForSlurm) {
    for (const char* name : {"-", "-x", "a b", "a;reboot", "a$(reboot)", "a'b", "a,b", "a[1-2]", "::1", "a/b",
                             "a\nb", "", "ALL=x"}) {
        HostOutcome host = dirty_host("x");
        host.name = name;
        const DrainList list = drain_list(report_of({host}), usual);
        EXPECT_TRUE(list.lines.empty()) << name;
        EXPECT_EQ(list.left_out.size(), 1u) << name;
    }
}

TEST(DrainList, HasAThousandNodesInALine) {
    std::vector<HostOutcome> hosts;
    for (int i = 0; i < 2'500; ++i) hosts.push_back(dirty_host(fmt::format("n{:05}x", i * 7)));
    const auto commands = lines(hosts);
    EXPECT_EQ(commands.size(), 3u);
    for (const std::string& command : commands) EXPECT_LT(command.size(), 100'000u);
}

}  // namespace
}  // namespace cleanslate::controller::testing
