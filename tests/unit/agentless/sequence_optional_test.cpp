// Which surveys of a sequence ask for optional evidence, and what holds while they do not.

#include "agentless/sequence.hpp"
#include "transcript.hpp"

namespace cleanslate::agentless {
namespace {

using testing::ended;
using testing::Scene;
using testing::Transcript;
using namespace std::chrono_literals;

TEST_F(Transcript, OptionalEvidenceIsAskedForFirstAndByTheSurveyThatConfirmsAndNotInBetween) {
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 76107));
    EXPECT_TRUE(asked_.optional_evidence);
    EXPECT_FALSE(asked_.optional_fields) << "nothing is known of this host's nvidia-smi yet";
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(Scene(8).used(2, 76107));
    EXPECT_FALSE(asked_.optional_evidence) << "it follows a signal";
    expect_survey(Scene(8), 140ms);
    EXPECT_FALSE(asked_.optional_evidence) << "it waits for memory";
    expect_survey(Scene(8), 2070ms);
    EXPECT_TRUE(asked_.optional_evidence) << "it confirms";
    EXPECT_EQ(asked_.optional_fields, std::vector<std::string>{"remapped_rows.pending"})
        << "what its nvidia-smi knows was found out once";
    expect_finish(Verdict::clean);
    ASSERT_EQ(outcome_.last->gpus[5].optional.size(), 1u);
}

TEST_F(Transcript, ACheckAndADryRunAlwaysAskForOptionalEvidence) {
    for (const bool dry_run : {false, true}) {
        outcome_ = {};
        job_.dry_run = dry_run;
        begin(dry_run ? Job::Kind::clear : Job::Kind::check);
        remap_pending_ = "Yes";
        expect_survey(Scene(8).holder(812, 2, 76107));
        EXPECT_TRUE(asked_.optional_evidence);
        expect_finish(Verdict::sick);
    }
}

TEST_F(Transcript, AGpuStaysSickThroughSurveysThatDoNotAsk) {
    begin(Job::Kind::clear);
    remap_pending_ = "Yes";
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(Scene(8));
    EXPECT_FALSE(asked_.optional_evidence);
    expect_finish(Verdict::sick);
    EXPECT_EQ(outcome_.last->gpus[5].verdict, Verdict::sick);
    EXPECT_EQ(outcome_.last->gpus[2].verdict, Verdict::clean);
}

TEST_F(Transcript, AGpuWhoseRowWasMissingForASurveyIsSickAgainWithIt) {
    begin(Job::Kind::clear);
    remap_pending_ = "Yes";
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("TERM", {812}, ended, 20ms);
    Scene without(8);
    without.used(2, 76107);
    auto& gpus = without.evidence().gpus;
    gpus.erase(gpus.begin() + 5);
    expect_survey(without);
    EXPECT_EQ(outcome_.last->gpus.size(), 8u);
    expect_survey(Scene(8), 140ms);
    EXPECT_FALSE(asked_.optional_evidence);
    EXPECT_EQ(outcome_.last->gpus[5].verdict, Verdict::sick);
    expect_finish(Verdict::sick);
}

TEST_F(Transcript, AGpuThatTurnsSickWhileItSettlesIsNotClean) {
    begin(Job::Kind::clear);
    expect_survey(Scene(8).holder(812, 2, 76107));
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(Scene(8));
    remap_pending_ = "Yes";
    expect_survey(Scene(8), 2070ms);
    expect_finish(Verdict::sick);
}

TEST_F(Transcript, ACommandMayCureAGpuSoTheSurveyAfterItAsks) {
    begin(Job::Kind::clear);
    job_.playbook =
        playbooks::parse_playbook("steps:\n  - run: nvidia-smi --gpu-reset -i 5\n", "p.yaml").value();
    start_over();
    remap_pending_ = "Yes";
    expect_survey(Scene(8));
    EXPECT_EQ(outcome_.last->gpus[5].verdict, Verdict::sick);
    expect_command("nvidia-smi --gpu-reset -i 5", CommandAction::Kind::run);
    remap_pending_ = "No";
    expect_survey(Scene(8));
    EXPECT_TRUE(asked_.optional_evidence);
    expect_survey(Scene(8), 2060ms);
    expect_finish(Verdict::clean);
}

}  // namespace
}  // namespace cleanslate::agentless
