// When a `stop:` step quits MPS.

#include "agentless/mps_stop.hpp"

#include <gtest/gtest.h>

#include "tests/support/match.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;

class Mps : public ::testing::Test {
  protected:
    // Root's control daemon 600 with its server 601, which holds GPU 2.
    Mps() : scene_(8) {
        scene_.daemon(600, "/usr/bin/nvidia-cuda-mps-control").daemon(601, "/usr/bin/nvidia-cuda-mps-server");
        scene_.get(600).open_minors.clear();
        scene_.get(600).mapped_minors.clear();
        scene_.get(600).opens_control = scene_.get(600).maps_control = false;
        scene_.get(601).parent = 600;
        scene_.listed(601, 2, 530, "nvidia-cuda-mps-server");
        step_.mps = true;
        step_.match = testing::holding_gpu();
    }
    StopChoice choice() { return choose_stops(step_, scene_.evidence(), policy_); }
    std::string why_left() {
        const auto made = choice();
        EXPECT_TRUE(made.stops.empty());
        return made.left.empty() ? "" : made.left[0].name + ": " + made.left[0].why;
    }
    Scene scene_;
    playbooks::StopStep step_;
    ChoicePolicy policy_;
};

TEST_F(Mps, IsQuitByItsOwnCommand) {
    const auto made = choice();
    EXPECT_TRUE(made.left.empty());
    ASSERT_EQ(made.stops.size(), 1U);
    EXPECT_EQ(made.stops[0].supervisor.kind, SupervisorKind::none);
    EXPECT_EQ(made.stops[0].supervisor.name, "MPS");
    EXPECT_EQ(made.stops[0].command, "echo quit | nvidia-cuda-mps-control");
    EXPECT_EQ(
        made.stops[0].rule,
        "pid 601 (nvidia-cuda-mps-server) is at a GPU; asked in the usual directory, since its own is not "
        "to be seen");
    EXPECT_EQ(made.stops[0].processes, (std::vector<ProcessKey>{{600, 6000}, {601, 6010}}));
}

TEST_F(Mps, IsLeftAloneWhereTheStepDoesNotName) {
    step_.mps = false;
    EXPECT_TRUE(choice().stops.empty());
    EXPECT_TRUE(choice().left.empty());
}

TEST_F(Mps, IsNotAskedWhereNoneOfItIsAtAGpu) {
    scene_.evidence().apps.clear();
    auto& server = scene_.get(601);
    server.open_minors.clear();
    server.mapped_minors.clear();
    server.opens_control = server.maps_control = false;
    EXPECT_TRUE(choice().stops.empty());
    EXPECT_TRUE(choice().left.empty());
}

// comm is cut to 15 bytes: for who cannot read others' executables, control and server are called alike.
TEST_F(Mps, OfRootIsLeftByAnOrdinaryLoginForThatReason) {
    scene_.evidence().root = false;
    scene_.evidence().uid = 1000;
    for (const Pid pid : {600, 601}) {
        scene_.get(pid).exe.reset();
        scene_.get(pid).exe_owner.reset();
        scene_.get(pid).comm = "nvidia-cuda-mps";
    }
    EXPECT_EQ(why_left(), "MPS: it belongs to root, and the login is not root");
}

TEST_F(Mps, IsQuitWithClientsThatAreAllChosen) {
    scene_.holder(812, 2, 500).holder(813, 2, 500);
    EXPECT_EQ(choice().stops.size(), 1U);
    step_.match = testing::pid(812);
    EXPECT_EQ(why_left(), "MPS: pid 813 (python3.11) may be its client, and is not chosen");
}

TEST_F(Mps, IsLeftWhereAnOpenerThatIsNotChosenMayBeItsClient) {
    scene_.opener(812);
    step_.match = testing::pid(4);
    EXPECT_EQ(why_left(), "MPS: pid 812 (python3.11) may be its client, and is not chosen");
}

TEST_F(Mps, IsLeftWhereItsClientsAreNotKnown) {
    scene_.evidence().holders_visible = false;
    EXPECT_EQ(why_left(), "MPS: its clients are not known: not every process could be looked at");
    scene_.evidence().holders_visible = true;
    scene_.evidence().app_query.exit_status.reset();
    EXPECT_EQ(why_left(), "MPS: its clients are not known: the driver's list of holders could not be read");
    scene_.evidence().app_query.exit_status = 0;
    scene_.evidence().apps.push_back({std::nullopt, testing::uuid_of(2), std::nullopt, ""});
    EXPECT_EQ(why_left(), "MPS: the driver lists a holder without its pid, which may be its client");
}

TEST_F(Mps, IsLeftWhereItCannotBeToldWhichOneAnswers) {
    scene_.daemon(602, "/usr/bin/nvidia-cuda-mps-control");
    EXPECT_TRUE(why_left().starts_with("MPS: several control daemons run"));
    scene_.state(600, 'Z').state(602, 'Z');
    EXPECT_TRUE(why_left().starts_with("MPS: its control daemon, which could quit it, does not run"));
}

TEST_F(Mps, OfAnotherUserIsLeft) {
    step_.match.user = {"alice"};
    EXPECT_EQ(why_left(), "MPS: it belongs to root, whom the match does not mean");
    step_.match.user.clear();
    step_.match.uid_at_least = 1000;
    EXPECT_EQ(why_left(), "MPS: it belongs to root, whom the match does not mean");
    step_.match.uid_at_least.reset();
    scene_.evidence().root = false;
    scene_.evidence().uid = 1000;
    EXPECT_EQ(why_left(), "MPS: it belongs to root, and the login is not root");
}

TEST_F(Mps, OfSomeonesJobIsLeft) {
    for (const Pid pid : {600, 601}) scene_.in_cgroup(pid, "/slurm/uid_1000/job_42/step_0");
    EXPECT_EQ(why_left(), "MPS: it runs in slurm job 42 of root; --include-jobs would include it");
    policy_.own_job = "42";
    EXPECT_EQ(choice().stops.size(), 1U);
}

TEST_F(Mps, ThatIsAskedToBeProtectedIsLeft) {
    policy_.protection.protect = {"nvidia-cuda-mps-control"};
    EXPECT_EQ(why_left(),
              "MPS: pid 600 (nvidia-cuda-mps-control) is protected (asked for by protect: "
              "nvidia-cuda-mps-control)");
}

TEST_F(Mps, IsLeftWhereOnlySomeGpusAreMeant) {
    step_.match.gpus = {"2"};
    EXPECT_EQ(why_left(), "MPS: it is asked to quit as a whole, and only some GPUs of the host are meant");
}

TEST_F(Mps, ThatWasNotInThePlanIsLeft) {
    Consent consent;
    consent.boot_id = scene_.evidence().boot_id;
    policy_.consent = &consent;
    EXPECT_EQ(why_left(), "MPS: not in the plan that was agreed to");
    consent.listed.insert({600, 6000});
    EXPECT_EQ(choice().stops.size(), 1U);
}

TEST_F(Mps, ThatMerelyCallsItselfSoIsAProcessLikeAnyOther) {
    for (const Pid pid : {600, 601}) {
        scene_.get(pid).exe_owner = 1000;
        scene_.get(pid).uid = 1000;
        scene_.get(pid).user = "alice";
    }
    EXPECT_TRUE(choice().stops.empty());
    EXPECT_TRUE(choice().left.empty());
}

}  // namespace
}  // namespace cleanslate::agentless
