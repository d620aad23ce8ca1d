#include "agentless/selectors.hpp"

#include <gtest/gtest.h>

#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using playbooks::Match;
using testing::Scene;

const std::string id = "4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a";
const std::string uid = "3f2a9c01-b7de-4f2a-9c01-b7de4f2a9c01";

class Owner : public ::testing::Test {
  protected:
    Owner() : scene_(1) { scene_.process(812, 1, "python3"); }
    bool fits(const std::vector<std::string>& user, const std::vector<std::string>& not_user = {},
              std::optional<std::uint32_t> at_least = {}) {
        Match match;
        match.user = user;
        match.not_user = not_user;
        match.uid_at_least = at_least;
        return fits_owner(match, scene_.get(812));
    }
    Scene scene_;
};

TEST_F(Owner, IsNamedByNameOrUid) {
    EXPECT_TRUE(fits({"alice"}));
    EXPECT_TRUE(fits({"bob", "1000"}));
    EXPECT_FALSE(fits({"bob", "100", "10000", "99999999999999999999999"}));
    EXPECT_FALSE(fits({}, {"alice"}));
    EXPECT_FALSE(fits({}, {"bob", "1000"}));
    EXPECT_TRUE(fits({}, {"bob"}));
    EXPECT_TRUE(fits({}, {}, 1000));
    EXPECT_FALSE(fits({}, {}, 1001));
}

TEST_F(Owner, ThatWasNotReadFitsNothing) {
    scene_.get(812).uid.reset();
    EXPECT_TRUE(fits({}));
    EXPECT_FALSE(fits({"alice"}));
    EXPECT_FALSE(fits({}, {"bob"}));
    EXPECT_FALSE(fits({}, {}, 0));
}

TEST_F(Owner, WithoutANameIsNotKnownToBeSomebodyElse) {
    scene_.get(812).user.clear();
    EXPECT_FALSE(fits({}, {"bob"}));
    EXPECT_FALSE(fits({""}));
    EXPECT_TRUE(fits({"1000"}, {"1001"}));
}

class By : public ::testing::Test {
  protected:
    By() : scene_(1) { scene_.process(812, 1, "python3"); }
    bool fits(std::vector<std::string> Match::*key, const std::vector<std::string>& entries,
              const std::string& cgroup) {
        Match match;
        match.*key = entries;
        scene_.in_cgroup(812, cgroup);
        const auto& p = scene_.get(812);
        return fits_supervisor(match, p, supervisor_of(p, Lineage(scene_.evidence())));
    }
    Scene scene_;
};

TEST_F(By, SlurmJob) {
    const std::string job = "/slurm/uid_1000/job_42/step_0";
    EXPECT_TRUE(fits(&Match::slurm_job, {"any"}, job));
    EXPECT_TRUE(fits(&Match::slurm_job, {"41", "42"}, job));
    EXPECT_FALSE(fits(&Match::slurm_job, {"4", "421"}, job));
    EXPECT_FALSE(fits(&Match::slurm_job, {"none"}, job));
    EXPECT_TRUE(fits(&Match::slurm_job, {"none"}, "/"));
    EXPECT_FALSE(
        fits(&Match::slurm_job, {"any"}, "/user.slice/user-1000.slice/user@1000.service/slurm/job_42"));
}

TEST_F(By, Pod) {
    EXPECT_TRUE(fits(&Match::pod, {uid}, "/kubepods/burstable/pod" + uid + "/" + id));
    EXPECT_TRUE(fits(&Match::pod, {"any"}, "/kubepods/pod1"));
    EXPECT_FALSE(fits(&Match::pod, {uid, "none"}, "/kubepods/pod1"));
}

TEST_F(By, ContainerByTheBeginningOfItsId) {
    const std::string docker = "/system.slice/docker-" + id + ".scope";
    EXPECT_TRUE(fits(&Match::container, {id.substr(0, 12)}, docker));
    EXPECT_TRUE(fits(&Match::container, {id}, docker));
    EXPECT_FALSE(fits(&Match::container, {id.substr(0, 11), "", id + "0", id.substr(1, 12)}, docker));
    EXPECT_TRUE(fits(&Match::container, {"any"}, "/lxc.payload.web"));
    EXPECT_TRUE(fits(&Match::container, {"web"}, "/lxc.payload.web"));
    EXPECT_FALSE(fits(&Match::container, {"we"}, "/lxc.payload.web"));
    EXPECT_FALSE(fits(&Match::unit, {"any"}, docker));
}

TEST_F(By, AContainerInsideAJobIsTheJobs) {
    const std::string inside = "/slurm/uid_1000/job_42/docker/" + id;
    EXPECT_FALSE(fits(&Match::container, {"any"}, inside));
    EXPECT_FALSE(fits(&Match::container, {"none"}, inside));
    EXPECT_TRUE(fits(&Match::slurm_job, {"42"}, inside));
    EXPECT_FALSE(fits(&Match::container, {"none"}, "/kubepods/pod1"));
}

TEST_F(By, UnitsOfTheSystemAndOfUsersButNoLogins) {
    EXPECT_TRUE(fits(&Match::unit, {"vllm*"}, "/system.slice/vllm@70b.service"));
    EXPECT_TRUE(fits(&Match::unit, {"own.service"},
                     "/user.slice/user-1000.slice/user@1000.service/app.slice/own.service"));
    EXPECT_FALSE(fits(&Match::unit, {"vllm", "vllm.service2"}, "/system.slice/vllm.service"));
    EXPECT_FALSE(fits(&Match::unit, {"any"}, "/user.slice/user-1000.slice/session-3.scope"));
    EXPECT_TRUE(fits(&Match::unit, {"none"}, "/user.slice/user-1000.slice/session-3.scope"));
}

TEST_F(By, WhoseCgroupWasNotReadIsNotKnownToBeInNone) {
    Process p = scene_.get(812);
    p.cgroup.reset();
    for (const auto key : {&Match::slurm_job, &Match::pod, &Match::container, &Match::unit})
        for (const auto* entry : {"none", "any"}) {
            Match match;
            match.*key = {entry};
            EXPECT_FALSE(fits_supervisor(match, p, supervisor_of(p, Lineage(scene_.evidence())))) << entry;
        }
}

}  // namespace
}  // namespace cleanslate::agentless
