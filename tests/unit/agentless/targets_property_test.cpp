// Random hosts, random matches: whatever a playbook asks for, some processes are never chosen, and who is
// chosen fits. The oracle is written anew, from docs/protected.md, docs/killing.md and the rules of the
// design, and not from the code under test.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "agentless/targets.hpp"
#include "tests/unit/agentless/naive_match.hpp"
#include "tests/unit/agentless/random_host.hpp"

namespace cleanslate::agentless {
namespace {

using playbooks::Match;
using testing::RandomHost;

std::string base(const Process& p) { return p.exe ? p.exe->substr(p.exe->rfind('/') + 1) : p.comm; }

const Process* by_key(const Evidence& evidence, ProcessKey key) {
    for (const auto& p : evidence.processes)
        if (p.key == key) return &p;
    return nullptr;
}

// Of two with one pid the younger lives.
const Process* by_pid(const Evidence& evidence, Pid pid) {
    const Process* youngest = nullptr;
    for (const auto& p : evidence.processes)
        if (p.key.pid == pid && (youngest == nullptr || p.key.start > youngest->key.start)) youngest = &p;
    return youngest;
}

bool stands_twice(const Evidence& evidence, Pid pid) {
    return std::ranges::count_if(evidence.processes, [&](const auto& p) { return p.key.pid == pid; }) > 1;
}

// A parent is older than its child: else its pid was given away.
std::set<Pid> ancestors(const Evidence& evidence, const Process& of) {
    std::set<Pid> above;
    auto start = of.key.start;
    for (const Process* p = by_pid(evidence, of.parent); p != nullptr && p->key.start <= start;
         start = p->key.start, p = by_pid(evidence, p->parent))
        if (p->key.pid == of.key.pid || !above.insert(p->key.pid).second) break;
    return above;
}

bool unprotected(const ChoicePolicy& policy, const std::string& name) {
    return std::ranges::find(policy.protection.unprotect, name) != policy.protection.unprotect.end();
}

// RandomHost makes these two and look-alikes.
bool has_scheduler(const Evidence& e) {
    return std::ranges::any_of(e.processes, [](const Process& p) {
        return (p.exe == "/usr/sbin/slurmd" || p.exe == "/usr/bin/kubelet") && p.uid == 0U;
    });
}

// Listed, a child of one that was, or of the same user in a listed one's unit or container, where it is
// started again.
bool agreed(const Consent& consent, const Evidence& e, const Process& p) {
    if (consent.listed.contains(p.key)) return true;
    for (const auto& [unit, uids] : consent.units)
        if (p.cgroup && p.uid && uids.contains(*p.uid) && p.cgroup->starts_with(unit)) return true;
    return std::ranges::any_of(ancestors(e, p),
                               [&](Pid pid) { return consent.listed.contains(by_pid(e, pid)->key); });
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
    const bool job = p.cgroup && (p.cgroup->starts_with("/slurm/") || p.cgroup->starts_with("/kubepods/"));
    const bool own =
        policy.own_job && p.cgroup && p.cgroup->find("/job_" + *policy.own_job + "/") != p.cgroup->npos;
    if (job && !own && !policy.include_jobs) return "scheduled work";
    if (stands_twice(e, p.key.pid)) return "its pid was given away";
    if (policy.needs_scheduler && !has_scheduler(e)) return "no scheduler";
    if (policy.consent != nullptr && !agreed(*policy.consent, e, p)) return "not agreed to";
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
        if (name == entry || (p.cgroup && p.cgroup->ends_with("/" + entry))) return "asked for";
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
            EXPECT_FALSE(naive::uses_another(match_, e_, *p) && !match_.gpus.empty()) << target.key.pid;
            if (target.rule.starts_with("launcher of "))
                check_launcher(target, *p);
            else if (target.rule.starts_with("descendant of "))
                check_descendant(target, *p);
            else
                check_match(*p);
        }
        check_order(above_targets);
        check_spared(seen);
        check_nobody_is_forgotten(seen);
    }

  private:
    void check_match(const Process& p) const {
        EXPECT_TRUE(naive::fits(match_, e_, p)) << "does not fit: " << p.key.pid;
        EXPECT_EQ(match_.orphaned ? naive::owned(e_, p) : "", "") << "no orphan: " << p.key.pid;
    }
    void check_nothing_below_uses_another(const Process& p) const {
        if (match_.gpus.empty()) return;
        for (const auto& other : e_.processes)
            EXPECT_FALSE(ancestors(e_, other).contains(p.key.pid) && naive::uses_another(match_, e_, other))
                << other.key.pid << " below " << p.key.pid << " uses another GPU";
    }
    void check_descendant(const Target& target, const Process& p) const {
        EXPECT_TRUE(match_.descendants);
        const Process* of = by_pid(e_, static_cast<Pid>(std::stoi(target.rule.substr(14))));
        ASSERT_NE(of, nullptr);
        check_match(*of);
        EXPECT_TRUE(ancestors(e_, p).contains(of->key.pid)) << "no descendant";
        EXPECT_TRUE(naive::identity_fits(match_, p)) << "another's descendant";
        check_nothing_below_uses_another(p);
    }
    // Who fits dies, or is named with the rule that spares it.
    void check_nobody_is_forgotten(const std::set<Pid>& targets) const {
        if (!match_.picks() || match_.orphaned) return;
        for (const auto& p : e_.processes) {
            if (naive::ended(p) || !naive::fits(match_, e_, p)) continue;
            const bool spared =
                std::ranges::any_of(choice_.spared, [&](const Spared& one) { return one.key == p.key; });
            EXPECT_TRUE(spared || targets.contains(p.key.pid)) << "forgotten: " << p.key.pid;
        }
    }
    void check_launcher(const Target& target, const Process& p) const {
        EXPECT_TRUE(match_.tree);
        const Process* of = by_pid(e_, static_cast<Pid>(std::stoi(target.rule.substr(12))));
        ASSERT_NE(of, nullptr);
        check_match(*of);
        check_nothing_below_uses_another(p);
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

// All that a choice says, in its order.
std::vector<std::string> text_of(const Choice& choice) {
    std::vector<std::string> text;
    for (const auto& one : choice.targets)
        text.push_back(fmt::format("{} {} {}", one.key.pid, one.key.start, one.rule));
    for (const auto& one : choice.spared)
        text.push_back(fmt::format("{} {} {} {}", one.key.pid, one.key.start, one.code, one.why));
    return text;
}

struct Counts {
    std::map<std::string, std::size_t> spared, targets;
    void add(const Match& match, const Choice& choice) {
        for (const auto& one : choice.spared) ++spared[one.code];
        for (const auto& one : choice.targets) {
            ++targets["all"];
            if (one.rule.starts_with("launcher of ")) ++targets["launchers"];
            if (one.rule.starts_with("descendant of ")) ++targets["descendants"];
            if (match.orphaned) ++targets["of orphaned"];
            if (!match.gpus.empty()) ++targets["of gpus"];
        }
    }
};

TEST(TargetsProperty, NobodyWhoMustLiveIsEverChosen) {
    Counts counts;
    for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
        SCOPED_TRACE(seed);
        RandomHost host(seed);
        const Match match = host.match();
        ChoicePolicy policy = host.policy();
        // Sometimes under a consent to what somebody chose with another match.
        const auto consent = consent_for(choose(host.match(), host.evidence(), policy), host.evidence());
        if (host.chance(4)) policy.consent = &consent;
        const Choice choice = choose(match, host.evidence(), policy);
        Oracle(match, host.evidence(), policy, choice).check();
        if (::testing::Test::HasFailure()) FAIL() << "first at seed " << seed;
        counts.add(match, choice);
    }
    // The property would hold for a choice that never chooses.
    for (const auto& [what, count] : counts.targets) std::cout << "targets " << what << ": " << count << "\n";
    for (const auto& [code, count] : counts.spared) std::cout << "spared " << code << ": " << count << "\n";
    EXPECT_GT(counts.targets["all"], 2000U);
    for (const auto* kind : {"launchers", "descendants", "of orphaned", "of gpus"})
        EXPECT_GT(counts.targets[kind], 50U) << kind;
    for (const auto* code : {"protected", "scheduled-job", "other-gpu", "no-scheduler", "new-since-plan",
                             "not-permitted", "not-confirmed"})
        EXPECT_GT(counts.spared[code], 50U) << code;
}

TEST(TargetsProperty, TheOrderInWhichASurveyNamesProcessesNeverCounts) {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        SCOPED_TRACE(seed);
        RandomHost host(seed);
        const Match match = host.match();
        const ChoicePolicy policy = host.policy();
        const auto first = text_of(choose(match, host.evidence(), policy));
        ASSERT_EQ(text_of(choose(match, host.evidence(), policy)), first);
        std::ranges::shuffle(host.evidence().processes, host.random());
        ASSERT_EQ(text_of(choose(match, host.evidence(), policy)), first);
    }
}

TEST(TargetsProperty, AMatchThatPicksNobodyChoosesNobody) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        RandomHost host(seed);
        Match match;
        match.not_user = {"carol"};
        match.not_cgroup = {"nowhere"};
        match.uid_at_least = 0U;
        match.older_than = Milliseconds{0};
        match.tree = match.descendants = true;
        const auto choice = choose(match, host.evidence(), host.policy());
        ASSERT_TRUE(choice.targets.empty() && choice.spared.empty()) << seed;
    }
}

TEST(TargetsProperty, WhatWasAgreedToIsExactlyWhatIsChosenAgain) {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
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
