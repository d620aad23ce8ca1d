#include "agentless/matcher.hpp"

#include <gtest/gtest.h>

#include "tests/support/match.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using playbooks::Match;
using namespace testing;

bool matches(const Match& match, Scene& scene, Pid pid = 812) {
    return Matcher(match, scene.evidence(), Lineage(scene.evidence())).matches(scene.get(pid));
}

TEST(Matcher, AMatchWithoutAKeyMeansNobody) {
    Scene scene(1);
    scene.holder(812, 0, 76107);
    EXPECT_FALSE(matches(Match{}, scene));
    EXPECT_FALSE(matches(tree(), scene));
}

TEST(Matcher, ThePatternIsSearchedInTheArgumentsJoinedByBlanks) {
    Scene scene(1);
    scene.process(812, 1, "python3");
    scene.get(812).argv = {"python3", "-m", "sglang.launch_server", "--tp", "8"};
    EXPECT_TRUE(matches(cmdline("sglang\\.launch_server --tp"), scene));
    EXPECT_TRUE(matches(cmdline("^python3 -m (sglang|vllm)"), scene));
    EXPECT_FALSE(matches(cmdline("sglang$"), scene));
}

TEST(Matcher, BytesThatAreNoTextAreSearchedAsTheyAre) {
    Scene scene(1);
    scene.process(812, 1, "python3");
    scene.get(812).argv = {"py\xff\xfe", "a\nb", std::string("x\0y", 3), "sglang"};
    EXPECT_TRUE(matches(cmdline("sglang"), scene));
    EXPECT_TRUE(matches(cmdline("^py.*sglang$"), scene));
}

TEST(Matcher, WithoutArgumentsNoCommandLineIsFound) {
    Scene scene(1);
    scene.process(812, 1, "python3");
    scene.get(812).argv.reset();
    EXPECT_FALSE(matches(cmdline("python"), scene));
    scene.get(812).argv.emplace();
    EXPECT_FALSE(matches(cmdline("python"), scene));
}

TEST(Matcher, ANameIsSearchedInCommAsPkillDoes) {
    Scene scene(1);
    scene.process(812, 1, "VLLM::Worker_TP");
    EXPECT_TRUE(matches(name("^VLLM::"), scene));
    EXPECT_FALSE(matches(name("VLLM::Worker_TP0"), scene));  // the kernel has cut it
    EXPECT_FALSE(matches(name("python"), scene));
}

TEST(Matcher, AnExecutableIsSearchedInItsPath) {
    Scene scene(1);
    scene.process(812, 1, "renamed");
    EXPECT_TRUE(matches(exe("/python3[^/]*$"), scene));
    scene.get(812).exe.reset();
    EXPECT_FALSE(matches(exe("python"), scene));
}

TEST(Matcher, AllKeysMustHold) {
    Scene scene(1);
    scene.holder(812, 0, 500).process(813, 1, "python3");
    const Match python_holders = exe("python") & holding_gpu();
    EXPECT_TRUE(matches(python_holders, scene, 812));
    EXPECT_FALSE(matches(python_holders, scene, 813));
    EXPECT_FALSE(matches(exe("/sleep$") & holding_gpu(), scene, 812));
    EXPECT_TRUE(matches(pid(813), scene, 813));
    EXPECT_FALSE(matches(pid(813), scene, 812));
    EXPECT_FALSE(matches(pid(813) & holding_gpu(), scene, 813));
}

TEST(Matcher, HoldersOpenersAndHeirsOfADeadProcessAreToldApart) {
    Scene scene(8);
    scene.holder(812, 2, 500).opener(813).ghost(4711, 3, 76107).process(814, 1, "tail");
    scene.get(813).open_minors = {0};
    scene.get(814).open_minors = {3};
    const Match match = holding_gpu();
    const Lineage lineage(scene.evidence());
    const Matcher matcher(match, scene.evidence(), lineage);
    EXPECT_EQ(matcher.rule(scene.get(812)), "holding gpu");
    EXPECT_EQ(matcher.rule(scene.get(813)), "device file open");
    EXPECT_EQ(matcher.rule(scene.get(814)), "holding gpu of dead pid 4711");
    for (const Pid pid : {812, 813, 814}) EXPECT_TRUE(matcher.matches(scene.get(pid)));
}

TEST(Matcher, OneControlFileIsEnoughToBeAnOpener) {
    Scene scene(1);
    scene.process(812, 1, "python3");
    EXPECT_FALSE(matches(holding_gpu(), scene));
    scene.get(812).maps_control = true;
    EXPECT_TRUE(matches(holding_gpu(), scene));
}

TEST(Matcher, AListedPidThatWasSeenToHoldNothingIsAnothersPid) {
    Scene scene(1);
    scene.process(812, 1, "python3");
    scene.evidence().apps.push_back({812, uuid_of(0), Mebibytes{70000}, "python3"});
    EXPECT_FALSE(matches(holding_gpu(), scene));
    scene.get(812).fds_readable = false;
    const Match match = holding_gpu();
    const Lineage lineage(scene.evidence());
    const Matcher matcher(match, scene.evidence(), lineage);
    EXPECT_TRUE(matcher.matches(scene.get(812)));
    EXPECT_TRUE(matcher.unconfirmed(scene.get(812)));
}

TEST(Matcher, APatternThatDoesNotCompileMeansNobody) {
    Scene scene(1);
    scene.process(812, 1, "python3");
    EXPECT_FALSE(matches(cmdline("("), scene));
    EXPECT_FALSE(matches(cmdline(std::string("python\0", 7)), scene));
}

TEST(Matcher, TheRuleNamesEveryKeyAndIsPrintable) {
    Scene scene(1);
    scene.holder(812, 0, 500);
    const Match match = holding_gpu() & cmdline("serve\x1b[31m") & name("python") & exe("bin") & pid(812);
    EXPECT_EQ(Matcher(match, scene.evidence(), Lineage(scene.evidence())).rule(scene.get(812)),
              "holding gpu and cmdline 'serve\\x1B[31m' and name 'python' and exe 'bin' and pid 812");
}

TEST(Matcher, AnyEntryOfAListIsEnoughAndTheRuleNamesTheOneThatWasFound) {
    Scene scene(1);
    scene.process(812, 1, "python3");
    Match match;
    match.name = {"^sleep$", "^python"};
    EXPECT_TRUE(matches(match, scene));
    const Lineage lineage(scene.evidence());
    EXPECT_EQ(Matcher(match, scene.evidence(), lineage).rule(scene.get(812)), "name '^python'");
}

TEST(Matcher, APatternThatIsRefusedWidensNoMatch) {
    Scene scene(1);
    scene.process(812, 1, "python3");
    Match match = name("python");
    match.not_cgroup = {"("};
    EXPECT_FALSE(matches(match, scene));
    match.not_cgroup = {"nowhere"};
    EXPECT_TRUE(matches(match, scene));
    match.not_cgroup = {"session"};
    EXPECT_FALSE(matches(match, scene));
    match.not_cgroup = {"nowhere"};
    scene.get(812).cgroup.reset();
    EXPECT_FALSE(matches(match, scene));
}

TEST(Matcher, AgeIsCountedInWholeSecondsAndMustBeKnown) {
    Scene scene(1);
    scene.process(812, 1, "python3");
    scene.get(812).age_s = 60;
    Match match = name("python");
    match.older_than = Milliseconds{60'000};
    EXPECT_TRUE(matches(match, scene));
    match.older_than = Milliseconds{60'001};
    EXPECT_FALSE(matches(match, scene));
    scene.get(812).age_s = UINT64_MAX;
    EXPECT_TRUE(matches(match, scene));
    scene.get(812).age_s.reset();
    match.older_than = Milliseconds{0};
    EXPECT_FALSE(matches(match, scene));
}

TEST(Matcher, UsedMemoryIsTheSumOfWhatTheDriverListsForIt) {
    Scene scene(2);
    scene.holder(812, 0, 600).listed(812, 1, 424).opener(813);
    Match match;
    match.used_at_least = Mebibytes{1024};
    EXPECT_TRUE(matches(match, scene));
    EXPECT_FALSE(matches(match, scene, 813));
    scene.evidence().apps.back().used.reset();
    EXPECT_FALSE(matches(match, scene));
}

TEST(Matcher, WithControlFilesOnlyNoGpuIsUsed) {
    Scene scene(1);
    scene.process(812, 1, "python3");
    scene.get(812).opens_control = true;
    EXPECT_TRUE(matches(holding_gpu(), scene));
    EXPECT_FALSE(matches(on_gpus({"0"}), scene));
}

}  // namespace
}  // namespace cleanslate::agentless
