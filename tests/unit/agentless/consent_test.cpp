#include <gtest/gtest.h>

#include "agentless/targets.hpp"
#include "tests/support/match.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;

const playbooks::Match holders = testing::holding_gpu();
const std::string unit = "/system.slice/vllm.service";

Consent yes_to(Scene scene) { return consent_for(choose(holders, scene.evidence(), {}), scene.evidence()); }

bool covered(const Consent& consent, Scene& scene, Pid pid) {
    return covers(consent, scene.get(pid), scene.evidence(), Lineage(scene.evidence()));
}

TEST(Consent, CoversWhatWasListed) {
    const auto consent = yes_to(Scene(8).holder(812, 2, 500));
    Scene later(8);
    later.holder(812, 2, 500).holder(900, 3, 500);
    EXPECT_TRUE(covered(consent, later, 812));
    EXPECT_FALSE(covered(consent, later, 900));
}

TEST(Consent, DoesNotCoverAPidThatWasGivenAwayAgain) {
    const auto consent = yes_to(Scene(8).holder(812, 2, 500));
    Scene later(8);
    later.holder(812, 2, 500);
    later.get(812).key.start += 1;
    EXPECT_FALSE(covered(consent, later, 812));
}

TEST(Consent, CoversLaterChildrenOfWhatWasListed) {
    const auto consent = yes_to(Scene(8).holder(812, 2, 500));
    Scene later(8);
    later.holder(812, 2, 500).process(900, 812, "sh").holder(901, 3, 500, 900);
    EXPECT_TRUE(covered(consent, later, 901));
}

TEST(Consent, DoesNotCoverChildrenOfALaterProcessWithAListedPid) {
    const auto consent = yes_to(Scene(8).holder(812, 2, 500));
    Scene later(8);
    later.process(812, 1, "python3").holder(901, 3, 500, 812);
    later.get(812).key.start += 1;
    EXPECT_FALSE(covered(consent, later, 901));
}

TEST(Consent, CoversRespawnsInTheSameUnit) {
    const auto consent = yes_to(Scene(8).holder(812, 2, 500).in_cgroup(812, unit));
    Scene later(8);
    later.holder(900, 2, 500).in_cgroup(900, unit);
    later.holder(901, 2, 500).in_cgroup(901, unit + "/worker");
    later.holder(902, 2, 500).in_cgroup(902, "/system.slice/vllm.service2");
    EXPECT_TRUE(covered(consent, later, 900));
    EXPECT_TRUE(covered(consent, later, 901));
    EXPECT_FALSE(covered(consent, later, 902));
}

TEST(Consent, DoesNotCoverSomebodyElsesWorkInTheSameUnit) {
    const auto consent = yes_to(Scene(8).holder(812, 2, 500).in_cgroup(812, unit));
    Scene later(8);
    later.holder(900, 2, 500).in_cgroup(900, unit);
    later.get(900).uid = *later.get(900).uid + 1;
    EXPECT_FALSE(covered(consent, later, 900));
    later.get(900).uid.reset();
    EXPECT_FALSE(covered(consent, later, 900));
}

TEST(Consent, DoesNotCoverWhatElseALoginOrCronStarts) {
    for (const auto* shared : {"/user.slice/user-1000.slice/session-3.scope", "/system.slice/ssh.service",
                               "/system.slice/cron.service", "/"}) {
        const auto consent = yes_to(Scene(8).holder(812, 2, 500).in_cgroup(812, shared));
        Scene later(8);
        later.holder(900, 2, 500).in_cgroup(900, shared);
        EXPECT_FALSE(covered(consent, later, 900)) << shared;
    }
}

TEST(Consent, EndsWhenTheHostBoots) {
    const auto consent = yes_to(Scene(8).holder(812, 2, 500));
    Scene later(8);
    later.holder(812, 2, 500);
    later.evidence().boot_id = "another";
    EXPECT_FALSE(covered(consent, later, 812));
}

TEST(Consent, WithoutABootIdCoversNothing) {
    Scene scene(8);
    scene.holder(812, 2, 500).evidence().boot_id.clear();
    EXPECT_FALSE(covered(yes_to(scene), scene, 812));
}

TEST(Consent, GrowsWithEachStepOfAPlan) {
    Scene scene(8);
    scene.holder(812, 2, 500).process(813, 1, "sglang");
    std::optional<Consent> plan;
    extend_consent(plan, {}, scene.evidence());
    ASSERT_TRUE(plan);
    EXPECT_FALSE(covered(*plan, scene, 812));
    extend_consent(plan, choose(holders, scene.evidence(), {}), scene.evidence());
    extend_consent(plan, choose(testing::name("sglang"), scene.evidence(), {}), scene.evidence());
    EXPECT_TRUE(covered(*plan, scene, 812));
    EXPECT_TRUE(covered(*plan, scene, 813));
}

}  // namespace
}  // namespace cleanslate::agentless
