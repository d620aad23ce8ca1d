// Random hosts: whatever a step asks for, no supervisor is stopped in which something must live, no GPU reset
// that anybody has open, and no file removed that somebody uses. The oracle is written anew, from the rules
// of docs/killing.md, and not from the code under test.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "agentless/resets.hpp"
#include "agentless/stops.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Scene;

const std::vector<std::string> places{"/system.slice/a.service",
                                      "/system.slice/a.service/inner",
                                      "/system.slice/ab.service",
                                      "/system.slice/cron.service",
                                      "/system.slice/docker-" + std::string(64, 'a') + ".scope",
                                      "/user.slice/user-1000.slice/user@1000.service/app.slice/lab.service",
                                      "/user.slice/user-1000.slice/session-3.scope",
                                      "/slurm/uid_1000/job_42/step_0",
                                      "/slurm/uid_1001/job_43/step_0",
                                      "/"};

class World {
  public:
    explicit World(std::uint64_t seed) : random_(seed), scene_(4) {
        auto& e = evidence();
        const int count = pick(1, 12);
        for (Pid pid = 1000; pid < 1000 + count; ++pid) add(pid);
        if (chance(3)) scene_.ghost(60000, pick(0, 3), 5000);
        if (chance(4)) e.gpus[static_cast<std::size_t>(pick(0, 3))].cells[5] = "[GPU requires reset]";
        if (chance(2)) e.nvswitches = pick(0, 1);
        e.root = !chance(5);
        e.uid = e.root ? 0 : 1000;
        e.holders_visible = !chance(8);
        e.proc_hides_others = chance(10);
        e.shm.emplace();
        for (std::uint64_t inode = 1; inode < 5; ++inode) add_file(inode);
        match.holding_gpu = chance(2);
        if (!match.holding_gpu) match.exe = {"/usr"};
        if (chance(4)) match.gpus = {std::to_string(pick(0, 3))};
        if (chance(4)) match.user = {"alice"};
        if (chance(4)) match.uid_at_least = 1001;
        policy.include_jobs = chance(4);
        if (chance(4)) policy.own_job = "42";
        if (chance(4)) policy.protection.protect = {"a.service"};
    }
    Evidence& evidence() { return scene_.evidence(); }
    int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
    bool chance(int one_in) { return pick(1, one_in) == 1; }

    playbooks::Match match;
    ChoicePolicy policy;

  private:
    void add(Pid pid) {
        switch (pick(0, 3)) {
            case 0:
                scene_.holder(pid, pick(0, 3), 500);
                break;
            case 1:
                scene_.daemon(pid, chance(2) ? "/usr/bin/nv-hostengine" : "/usr/bin/model-server");
                break;
            case 2:
                scene_.opener(pid);
                break;
            default:
                scene_.process(pid, 1, "sleep");
        }
        auto& process = scene_.get(pid);
        process.cgroup = places[static_cast<std::size_t>(pick(0, static_cast<int>(places.size()) - 1))];
        if (chance(12)) process.cgroup.reset();
        if (chance(4) && process.uid != 0U) {
            process.uid = 1001;
            process.user = "bob";
        }
        if (chance(2)) process.open_minors = process.mapped_minors = {pick(0, 3)};
        if (chance(2)) process.mapped_minors.clear();
        if (chance(10)) process.state = 'Z';
        if (chance(20)) process.uid.reset();
    }
    void add_file(std::uint64_t inode) {
        ShmFile file;
        file.name = chance(2) ? "nccl-1" : "data";
        file.inode = inode;
        file.uid = chance(4) ? 0 : 1000 + static_cast<std::uint32_t>(pick(0, 2));
        if (!chance(5)) file.age_s = static_cast<std::uint64_t>(pick(0, 7200));
        file.links = static_cast<std::uint64_t>(pick(1, 2));
        if (chance(3)) file.users = {1000};
        evidence().shm->push_back(file);
    }

    std::mt19937_64 random_;
    Scene scene_;
};

bool lives(const Process& p) { return p.state != 'Z'; }

bool below(const Process& p, const std::string& path) {
    return p.cgroup && (*p.cgroup + "/").starts_with(path + "/");
}

bool has(const std::vector<int>& minors, int minor) {
    return std::ranges::find(minors, minor) != minors.end();
}

void check_stop(World& world, const StopTarget& stop) {
    const auto& e = world.evidence();
    ASSERT_FALSE(stop.supervisor.path.empty());
    EXPECT_FALSE(stop.command.empty());
    EXPECT_EQ(stop.command.find_first_of(";&|$`<>\n\"()"), std::string::npos) << stop.command;
    EXPECT_NE(stop.supervisor.path, "/system.slice/cron.service");
    const bool system = stop.supervisor.path.starts_with("/system.slice/");
    EXPECT_TRUE(e.root || !system || stop.supervisor.kind == SupervisorKind::container);
    for (const auto& p : e.processes) {
        if (!lives(p) || !below(p, stop.supervisor.path)) continue;
        EXPECT_EQ(protected_by(p, e, world.policy.protection), std::nullopt) << p.key.pid;
        EXPECT_TRUE(p.uid) << p.key.pid;
        EXPECT_TRUE(e.root || p.uid == e.uid) << p.key.pid;
        EXPECT_TRUE(world.match.user.empty() || p.user == "alice") << p.key.pid;
        EXPECT_TRUE(!world.match.uid_at_least || p.uid >= world.match.uid_at_least) << p.key.pid;
        const bool own =
            world.policy.own_job && p.cgroup->find("/job_" + *world.policy.own_job + "/") != p.cgroup->npos;
        EXPECT_TRUE(!p.cgroup->starts_with("/slurm/") || own || world.policy.include_jobs) << p.key.pid;
        for (const auto& app : e.apps)
            if (app.pid == p.key.pid && !world.match.gpus.empty()) {
                EXPECT_EQ(app.uuid, testing::uuid_of(std::stoi(world.match.gpus[0]))) << p.key.pid;
            }
    }
    const auto chosen = choose(world.match, e, world.policy);
    for (const auto& key : stop.processes)
        EXPECT_TRUE(std::ranges::any_of(chosen.targets, [&](const Target& t) { return t.key == key; }));
}

TEST(Acts, StopNoSupervisorInWhichSomethingMustLive) {
    int stopped = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        World world(seed);
        playbooks::StopStep step;
        step.units = step.containers = step.slurm_jobs = step.mps = true;
        step.match = world.match;
        const auto choice = choose_stops(step, world.evidence(), world.policy);
        for (const auto& stop : choice.stops) check_stop(world, stop);
        stopped += static_cast<int>(choice.stops.size());
        for (const auto& left : choice.left) EXPECT_FALSE(left.why.empty());
        if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
    }
    EXPECT_GT(stopped, 150);  // else nothing was shown
}

TEST(Acts, ResetNoGpuThatAnybodyHasOpen) {
    int reset = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        World world(seed);
        const auto& e = world.evidence();
        const auto choice = choose_resets({}, e, judge(e, {}), world.policy);
        reset += static_cast<int>(choice.gpus.size());
        for (const auto& gpu : choice.gpus) {
            EXPECT_TRUE(e.root && e.holders_visible && !e.proc_hides_others);
            const auto row = std::ranges::find(e.gpus, gpu.bus_id, &GpuRow::bus_id);
            ASSERT_NE(row, e.gpus.end());
            EXPECT_TRUE(row->cells[5] == "[GPU requires reset]" || row->used->count > 100);
            for (const auto& p : e.processes) {
                if (!lives(p)) continue;
                EXPECT_FALSE(has(p.open_minors, *row->index) || has(p.mapped_minors, *row->index))
                    << p.key.pid;
                if (e.nvswitches == 0) continue;
                for (const auto& app : e.apps) EXPECT_NE(app.pid, p.key.pid) << "a peer is held";
            }
        }
        if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
    }
    EXPECT_GT(reset, 30);
}

TEST(Acts, RemoveNoFileThatSomebodyUses) {
    int removed = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        World world(seed);
        const auto& e = world.evidence();
        playbooks::CleanShmStep step;
        step.names = {"nccl-?"};
        const auto choice = choose_shm(step, e, world.policy);
        removed += static_cast<int>(choice.files.size());
        for (const auto& file : choice.files) {
            EXPECT_TRUE(e.root && e.holders_visible && !e.proc_hides_others);
            EXPECT_TRUE(file.name == "nccl-1" && file.users.empty() && file.links == 1 && file.uid >= 1000);
            EXPECT_TRUE(file.age_s && *file.age_s >= 3600);
            for (const auto& p : e.processes)
                if (lives(p) && p.uid == file.uid) {
                    EXPECT_FALSE(p.opens_device()) << p.key.pid;
                    EXPECT_FALSE(p.cgroup && p.cgroup->starts_with("/slurm/")) << p.key.pid;
                }
        }
        if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
    }
    EXPECT_GT(removed, 30);
}

}  // namespace
}  // namespace cleanslate::agentless
