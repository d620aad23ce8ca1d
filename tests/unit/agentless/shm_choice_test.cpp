// Which files of /dev/shm a `clean_shm:` step removes.

#include <gtest/gtest.h>

#include "agentless/resets.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;

using Lines = std::vector<std::string>;

ShmFile file_of(const std::string& name, std::uint64_t inode = 7) {
    ShmFile file;
    file.name = name;
    file.device = 25;
    file.inode = inode;
    file.uid = 1000;
    file.user = "alice";
    file.bytes = 4096;
    file.age_s = 7200;
    return file;
}

class Shm : public ::testing::Test {
  protected:
    Shm() : scene_(8) {
        step_.names = {"nccl-*", "sem.loky-???"};
        scene_.evidence().shm = {file_of("nccl-abc")};
    }
    ShmFile& file() { return scene_.evidence().shm->front(); }
    // "NAME" of each that is removed, "WHAT: why" of each that is kept.
    Lines chosen() {
        Lines lines;
        const auto choice = choose_shm(step_, scene_.evidence(), policy_);
        for (const auto& one : choice.files) lines.push_back(one.name);
        for (const auto& one : choice.kept) lines.push_back(one.what + ": " + one.why);
        return lines;
    }
    Lines kept(const std::string& why) { return {"/dev/shm/nccl-abc: " + why}; }

    Scene scene_;
    playbooks::CleanShmStep step_;
    ChoicePolicy policy_;
};

TEST_F(Shm, RemovesWhatADeadJobLeft) { EXPECT_EQ(chosen(), Lines{"nccl-abc"}); }

TEST_F(Shm, MeansWholeNamesOnly) {
    scene_.evidence().shm = {file_of("nccl-"),        file_of("my-nccl-abc"),
                             file_of("sem.loky-123"), file_of("sem.loky-1234"),
                             file_of("sem.loky-12"),  file_of("SEM.LOKY-123"),
                             file_of("nccl-a\nb"),    file_of("../nccl-x"),
                             file_of("nccl-a/b"),     file_of("")};
    EXPECT_EQ(chosen(), (Lines{"nccl-", "sem.loky-123", "nccl-a\nb"}));
    step_.names = {"*a*b*c"};
    scene_.evidence().shm = {file_of("xaxbxbxc"), file_of("xaxbxcx"), file_of(".abc"), file_of("abc")};
    EXPECT_EQ(chosen(), (Lines{"xaxbxbxc", "abc"}));
}

TEST_F(Shm, IsNotHeldUpByAPatternOfManyStars) {
    step_.names = {std::string(40, '*') + "a*a*a*a*a*a*a*a*a*a*b"};
    scene_.evidence().shm = {file_of(std::string(255, 'a'))};
    EXPECT_EQ(chosen(), Lines{});
}

TEST_F(Shm, KeepsWhatSomebodyHasOpenOrMapped) {
    scene_.process(900, 1, "python3");
    file().users = {900, 901};
    EXPECT_EQ(chosen(), kept("open or mapped in pid 900 (python3.11)"));
    file().users = {901};
    EXPECT_EQ(chosen(), kept("open or mapped in pid 901"));
}

TEST_F(Shm, KeepsWhatIsYoungOrOfUnknownAge) {
    file().age_s = 3599;
    EXPECT_EQ(chosen(), kept("changed 59 min ago, the step wants 1 h"));
    file().age_s = 3600;
    EXPECT_EQ(chosen(), Lines{"nccl-abc"});
    file().age_s.reset();
    EXPECT_EQ(chosen(), kept("its last change is in the future"));
}

TEST_F(Shm, KeepsWhatHasAnotherName) {
    file().links = 2;
    EXPECT_EQ(chosen(), kept("it has 2 names"));
}

TEST_F(Shm, KeepsWhatBelongsToTheSystemOrToOthersThanTheStepNames) {
    file().uid = 999;
    file().user = "postgres";
    EXPECT_EQ(chosen(), kept("it belongs to postgres"));
    step_.user = {"postgres"};
    EXPECT_EQ(chosen(), Lines{"nccl-abc"});
    step_.user = {"999"};
    EXPECT_EQ(chosen(), Lines{"nccl-abc"});
    step_.user = {"alice"};
    EXPECT_EQ(chosen(), kept("it belongs to postgres"));
    file().user.clear();
    EXPECT_EQ(chosen(), kept("it belongs to uid 999"));
}

TEST_F(Shm, KeepsWhatBelongsToSomebodyStillAtWork) {
    scene_.holder(812, 2, 500);
    EXPECT_EQ(chosen(), kept("alice still has pid 812 at GPU 2"));
    scene_.state(812, 'Z');
    EXPECT_EQ(chosen(), Lines{"nccl-abc"});
    scene_.opener(813);
    EXPECT_EQ(chosen(), kept("alice still has pid 813 with a GPU's device file open"));
    scene_.get(813).uid = 1001;
    EXPECT_EQ(chosen(), Lines{"nccl-abc"});
    scene_.get(813).uid.reset();
    EXPECT_EQ(chosen(),
              kept("it may be alice's: pid 813 with a GPU's device file open, whose owner could not "
                   "be read"));
}

TEST_F(Shm, KeepsWhatBelongsToSomebodyWithALiveJob) {
    scene_.process(812, 1, "python3").in_cgroup(812, "/slurm/uid_1000/job_42/step_0");
    EXPECT_EQ(chosen(), kept("alice still has pid 812 in slurm job 42"));
}

TEST_F(Shm, KeepsEverythingWhereNotEveryProcessCouldBeLookedAt) {
    const auto why = kept("not every process could be looked at, so who uses it is not known");
    scene_.evidence().holders_visible = false;
    EXPECT_EQ(chosen(), why);
    scene_.evidence().holders_visible = true;
    scene_.evidence().proc_hides_others = true;
    EXPECT_EQ(chosen(), why);
    scene_.evidence().root = false;
    scene_.evidence().uid = 1000;
    EXPECT_EQ(chosen(), kept("others' processes cannot be read: log in as root"));
}

TEST_F(Shm, RemovesNothingThatWasNotLookedAt) {
    scene_.evidence().shm.reset();
    EXPECT_EQ(chosen(), Lines{"/dev/shm: it could not be read"});
    scene_.evidence().complete = false;
    EXPECT_EQ(chosen(), Lines{});
}

TEST_F(Shm, KeepsWhatWasNotInThePlan) {
    Consent consent;
    consent.boot_id = scene_.evidence().boot_id;
    policy_.consent = &consent;
    EXPECT_EQ(chosen(), kept("not in the plan that was agreed to"));
    consent.files.insert({25, 7});
    EXPECT_EQ(chosen(), Lines{"nccl-abc"});
    file().inode = 8;
    EXPECT_EQ(chosen(), kept("not in the plan that was agreed to"));
    file().inode = 7;
    consent.boot_id = "another";
    EXPECT_EQ(chosen(), kept("the host has booted since the plan"));
}

TEST_F(Shm, RemovesAThousandAtOnceAndNamesAsManyThatItKeeps) {
    scene_.evidence().shm->clear();
    for (std::uint64_t i = 0; i < 2500; ++i)
        scene_.evidence().shm->push_back(file_of("nccl-" + std::to_string(i), i));
    const auto choice = choose_shm(step_, scene_.evidence(), policy_);
    EXPECT_EQ(choice.files.size(), 1000U);
    ASSERT_EQ(choice.kept.size(), 1001U);
    EXPECT_EQ(choice.kept[0].what + ": " + choice.kept[0].why,
              "/dev/shm/nccl-1000: 1000 files are enough at once: clear again");
    EXPECT_EQ(choice.kept[1000].what, "500 more files");
}

}  // namespace
}  // namespace cleanslate::agentless
