// Random hosts, random matches: whatever a playbook asks for, some processes are never chosen. The oracle
// below is written anew, from docs/protected.md and the rules of the design, and not from the code under
// test.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "agentless/targets.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using playbooks::Match;
using testing::Scene;

class RandomHost {
  public:
    explicit RandomHost(std::uint64_t seed) : random_(seed), scene_(4) {
        const Pid count = pick(5, 40);
        for (Pid i = 0; i < count; ++i) add(i);
        scene_.evidence().root = !chance(4);
        scene_.evidence().uid = scene_.evidence().root ? 0 : 1000;
        if (chance(2)) scene_.ghost(60000, pick(0, 3), 5000);
    }
    Evidence& evidence() { return scene_.evidence(); }

    Match match() {
        Match match;
        match.tree = chance(2);
        match.holding_gpu = chance(2);
        if (!match.holding_gpu || chance(4)) {
            if (chance(2))
                match.cmdline = {any({"/[a-z]", "serve", "python", "sh", " "})};
            else if (chance(2))
                match.name = {any({"s|h|o|i|e", "ssh", "bash", "python", "nvidia"})};
            else
                match.exe = {any({"/[a-z]", "/usr", "python|bash|sshd"})};
        }
        return match;
    }
    ChoicePolicy policy() {
        ChoicePolicy policy;
        policy.include_jobs = chance(3);
        if (chance(3)) policy.protection.unprotect = {"sshd", "systemd", "nvidia-smi", "*"};
        if (chance(4)) policy.protection.protect = {"trainer", "vllm.service"};
        return policy;
    }
    bool chance(int one_in) { return pick(1, one_in) == 1; }

  private:
    int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
    std::string any(const std::vector<std::string>& some) {
        return some[static_cast<std::size_t>(pick(0, static_cast<int>(some.size()) - 1))];
    }
    void add(Pid i) {
        // Mostly sorted by age, with pids that were given away, parents that are missing, and kthreadd.
        const Pid pid = chance(20) ? (chance(2) ? 2 : 1000 + pick(0, 40)) : 1000 + i;
        scene_.process(pid, chance(6) ? pick(0, 3) : i > 0 ? 1000 + pick(0, i - 1) : 501, "x");
        Process& p = evidence().processes.back();
        p.exe = any({"/usr/bin/python3.11", "/srv/server", "/srv/ray", "/usr/bin/bash", "/usr/sbin/sshd",
                     "/usr/bin/sleep", "/usr/bin/nvidia-smi", "/usr/bin/nvidia-persistenced",
                     "/home/alice/nvidia-persistenced", "/usr/bin/tmux", "/usr/sbin/dropbear", "/srv/trainer",
                     "/usr/lib/systemd/systemd"});
        p.comm = p.exe->substr(p.exe->rfind('/') + 1, 15);
        p.exe_owner = p.exe->starts_with("/home") || chance(6) ? 1000 : 0;
        if (chance(8)) p.exe_owner.reset();
        if (chance(8)) p.exe.reset();
        p.exe_writable_by_others = chance(10);
        p.host_mount_ns = !chance(5);
        p.uid = static_cast<std::uint32_t>(
            any({"0", "0", "1000", "1000", "1001"})[0] == '0' ? 0 : 1000 + pick(0, 1));
        p.user = *p.uid == 0 ? "root" : *p.uid == 1000 ? "alice" : "bob";
        if (chance(15)) p.uid.reset();
        p.kernel_thread = chance(15);
        p.key.start = static_cast<std::uint64_t>(10'000 + i / 2);
        p.session = chance(2) ? pid : 1000;
        p.state = any({"S", "S", "S", "R", "D", "Z"})[0];
        p.argv = chance(2) ? std::vector<std::string>{any({"-bash", "bash", "python3"})}
                           : std::vector<std::string>{"python3", any({"serve.py", "-c", "-l", "nvitop"})};
        p.cgroup =
            any({"/system.slice/vllm.service", "/slurm/uid_1000/job_42/step_0", "/system.slice/ssh.service",
                 "/user.slice/user-1000.slice/session-3.scope", "/kubepods/pod1"});
        if (const Process* parent = evidence().find(p.parent); parent != nullptr && !chance(3))
            inherit(p, *parent);
        if (chance(2)) {
            p.open_minors = {pick(0, 3)};
            p.opens_control = true;
        }
        if (chance(3))
            evidence().apps.push_back({pid, testing::uuid_of(pick(0, 3)), Mebibytes{500}, "python3"});
        p.fds_readable = p.maps_readable = !chance(8);
        if (chance(20)) evidence().session_ancestors.push_back(pid);
    }

    static void inherit(Process& child, const Process& parent) {
        child.uid = parent.uid;
        child.user = parent.user;
        child.cgroup = parent.cgroup;
        child.session = parent.session;
    }

    std::mt19937_64 random_;
    Scene scene_;
};

std::string base(const Process& p) { return p.exe ? p.exe->substr(p.exe->rfind('/') + 1) : p.comm; }

const Process* by_key(const Evidence& evidence, ProcessKey key) {
    for (const auto& p : evidence.processes)
        if (p.key == key) return &p;
    return nullptr;
}

// A parent is older than its child: else its pid was given away.
std::set<Pid> ancestors(const Evidence& evidence, const Process& of) {
    std::set<Pid> above;
    auto start = of.key.start;
    for (const Process* p = evidence.find(of.parent); p != nullptr && p->key.start <= start;
         start = p->key.start, p = evidence.find(p->parent))
        if (p->key.pid == of.key.pid || !above.insert(p->key.pid).second) break;
    return above;
}

bool unprotected(const ChoicePolicy& policy, const std::string& name) {
    return std::ranges::find(policy.protection.unprotect, name) != policy.protection.unprotect.end();
}

// Reasons for which a single process must never be chosen; empty: none.
std::string forbidden(const Process& p, const Evidence& e, const ChoicePolicy& policy) {
    if (p.key.pid <= 1) return "pid 1 or a group";
    if (p.kernel_thread || (p.key.pid == 2 && p.parent == 0)) return "kernel thread";
    if (p.state == 'Z') return "zombie";
    if (std::ranges::find(e.session_ancestors, p.key.pid) != e.session_ancestors.end())
        return "session ancestor";
    if (!p.uid) return "owner unknown";
    if (!e.root && *p.uid != e.uid) return "another user's";
    const bool job = p.cgroup->starts_with("/slurm/") || p.cgroup->starts_with("/kubepods/");
    if (job && !policy.include_jobs) return "scheduled work";
    const auto name = base(p);
    const bool system_file = p.exe_owner == 0U && !p.exe_writable_by_others;
    const bool proven = p.exe && system_file && p.host_mount_ns;
    // A user's own library makes the system's program compute.
    const bool turned = p.uid != 0U && p.opens_device() &&
                        std::ranges::any_of(e.apps, [&](const auto& app) { return app.pid == p.key.pid; });
    for (const auto* any_owner : {"sshd", "dropbear", "systemd", "nvidia-smi"})
        if (name == any_owner && !unprotected(policy, any_owner) &&
            ((proven && !turned) || !p.exe || !p.exe_owner))
            return "built-in of any owner";
    if (name == "nvidia-persistenced" && p.uid == 0U && (proven || !p.exe || !p.exe_owner))
        return "built-in of root";
    for (const auto& entry : policy.protection.protect)
        if (name == entry || p.cgroup->ends_with("/" + entry)) return "asked for";
    return {};
}

bool is_way_in_for_sure(const Process& p) {
    const auto name = base(p);
    if (p.exe && p.exe_owner == 0U && (name == "sshd" || name == "dropbear")) return true;
    return name == "bash" && p.argv->front() == "-bash" && p.argv->size() == 1;
}

class Oracle {
  public:
    Oracle(const Match& match, const Evidence& evidence, const ChoicePolicy& policy, const Choice& choice)
        : match_(match), e_(evidence), policy_(policy), choice_(choice) {}

    void check() const {
        std::set<Pid> seen, above_targets;
        for (const auto& target : choice_.targets) {
            const Process* p = by_key(e_, target.key);
            ASSERT_NE(p, nullptr) << "not in the evidence";
            EXPECT_TRUE(seen.insert(target.key.pid).second) << "twice: " << target.key.pid;
            EXPECT_EQ(forbidden(*p, e_, policy_), "") << target.key.pid << " " << target.rule;
            EXPECT_FALSE(target.rule.empty());
            const auto above = ancestors(e_, *p);
            above_targets.insert(above.begin(), above.end());
            check_launcher(target, *p);
        }
        check_order(above_targets);
        check_spared(seen);
    }

  private:
    void check_launcher(const Target& target, const Process& p) const {
        if (!target.rule.starts_with("launcher of ")) return;
        EXPECT_TRUE(match_.tree);
        const Process* of = e_.find(static_cast<Pid>(std::stoi(target.rule.substr(12))));
        ASSERT_NE(of, nullptr);
        EXPECT_EQ(p.uid, of->uid) << "another user's launcher";
        EXPECT_EQ(p.cgroup, of->cgroup) << "a launcher of another cgroup";
        EXPECT_TRUE(ancestors(e_, *of).contains(p.key.pid)) << "no ancestor";
        for (const auto* never : {"bash", "tmux", "sshd", "dropbear", "systemd"}) EXPECT_NE(base(p), never);
    }
    void check_order(const std::set<Pid>& above_targets) const {
        bool launchers_over = false;
        std::set<Pid> before;
        for (const auto& target : choice_.targets) {
            const Process& p = *by_key(e_, target.key);
            const bool launcher = above_targets.contains(target.key.pid);
            EXPECT_FALSE(launcher && is_way_in_for_sure(p)) << "a login above a target: " << target.key.pid;
            EXPECT_FALSE(launcher && launchers_over) << "a launcher after the others: " << target.key.pid;
            launchers_over = launchers_over || !launcher;
            const auto above = ancestors(e_, p);
            for (const auto& other : choice_.targets)
                if (above.contains(other.key.pid) && !before.contains(other.key.pid))
                    ADD_FAILURE() << "a child before its parent: " << target.key.pid;
            before.insert(target.key.pid);
        }
    }
    void check_spared(const std::set<Pid>& targets) const {
        for (const auto& one : choice_.spared) {
            EXPECT_FALSE(targets.contains(one.key.pid)) << "spared and chosen: " << one.key.pid;
            EXPECT_FALSE(one.code.empty() || one.why.empty());
        }
    }

    const Match& match_;
    const Evidence& e_;
    const ChoicePolicy& policy_;
    const Choice& choice_;
};

TEST(TargetsProperty, NobodyWhoMustLiveIsEverChosen) {
    std::size_t chosen = 0, launchers = 0, spared = 0;
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
        SCOPED_TRACE(seed);
        RandomHost host(seed);
        const Match match = host.match();
        const ChoicePolicy policy = host.policy();
        const Choice choice = choose(match, host.evidence(), policy);
        Oracle(match, host.evidence(), policy, choice).check();
        if (::testing::Test::HasFailure()) FAIL() << "first at seed " << seed;
        chosen += choice.targets.size();
        spared += choice.spared.size();
        for (const auto& target : choice.targets) launchers += target.rule.starts_with("launcher of ");
    }
    // The property would hold for a choice that never chooses.
    EXPECT_GT(chosen, 2000U);
    EXPECT_GT(launchers, 100U);
    EXPECT_GT(spared, 2000U);
}

TEST(TargetsProperty, WhatWasAgreedToIsExactlyWhatIsChosenAgain) {
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        SCOPED_TRACE(seed);
        RandomHost host(seed);
        const Match match = host.match();
        ChoicePolicy policy = host.policy();
        const Choice plan = choose(match, host.evidence(), policy);
        const Consent consent = consent_for(plan, host.evidence());
        policy.consent = &consent;
        const Choice again = choose(match, host.evidence(), policy);
        ASSERT_EQ(again.targets.size(), plan.targets.size());
        for (std::size_t i = 0; i < plan.targets.size(); ++i)
            ASSERT_EQ(again.targets[i].key, plan.targets[i].key);

        const Consent none{{}, {}, host.evidence().boot_id};
        policy.consent = &none;
        ASSERT_TRUE(choose(match, host.evidence(), policy).targets.empty());
    }
}

}  // namespace
}  // namespace cleanslate::agentless
