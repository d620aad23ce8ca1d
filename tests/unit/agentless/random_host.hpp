#pragma once
// Random hosts, matches and policies, for properties of target choice.

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "agentless/targets.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless::testing {

class RandomHost {
  public:
    explicit RandomHost(std::uint64_t seed) : random_(seed), scene_(4) {
        auto& e = evidence();
        // Minors are no indexes.
        std::vector<int> minors{0, 1, 2, 3};
        std::ranges::shuffle(minors, random_);
        for (std::size_t i = 0; i < minors.size(); ++i) (*e.driver_gpus)[i].minor = minors[i];
        if (chance(12)) (*e.driver_gpus)[0].minor.reset();
        if (chance(30)) e.driver_gpus.reset();
        const Pid count = pick(5, 40);
        for (Pid i = 0; i < count; ++i) add(i);
        if (chance(4)) add_scheduler();
        e.root = !chance(4);
        e.uid = e.root ? 0 : 1000;
        if (chance(2)) scene_.ghost(60000, pick(0, 3), 5000);
        if (chance(12)) e.apps.push_back({std::nullopt, uuid_of(pick(0, 3)), Mebibytes{100}, "[N/A]"});
        if (chance(12)) e.app_query.exit_status = 255;
        e.proc_hides_others = chance(12);
        if (chance(2)) {
            e.sessions.emplace();
            if (chance(2)) e.sessions->push_back({"3", 1000U, std::nullopt, chance(2)});
            if (chance(3)) e.sessions->push_back({"4", 1001U, std::nullopt, chance(2)});
        }
    }
    Evidence& evidence() { return scene_.evidence(); }

    playbooks::Match match() {
        playbooks::Match match;
        match.tree = chance(2);
        match.descendants = chance(3);
        match.holding_gpu = chance(2);
        if (chance(4)) match.gpus = some({"0", "1", "2", "3", uuid_of(2), "9"});
        if (chance(8)) match.cmdline = some({"/[a-z]", "serve", "python", "sh", "[ -]"});
        if (chance(8)) match.name = some({"s|h|o|i|e", "ssh", "bash", "python", "nvidia"});
        if (chance(8)) match.exe = some({"/[a-z]", "/usr", "python|bash|sshd"});
        if (chance(12)) match.pid = {1000 + pick(0, 20), 1000 + pick(0, 20), 2};
        if (chance(6)) match.user = some({"alice", "bob", "0", "1000", "root"});
        if (chance(8)) match.not_user = some({"alice", "1001", "root"});
        if (chance(8)) match.uid_at_least = 1000U + static_cast<std::uint32_t>(pick(0, 1));
        if (chance(8)) match.older_than = Milliseconds{1000 * pick(0, 200) + pick(0, 999)};
        if (chance(10)) match.used_at_least = Mebibytes{pick(1, 1200)};
        if (chance(10)) match.cgroup = some({"slice", "slurm", "scope$", "vllm"});
        if (chance(10)) match.not_cgroup = some({"slurm", "session", "vllm"});
        if (chance(10)) match.slurm_job = some({"none", "any", "42", "43"});
        if (chance(10)) match.pod = some({"none", "any", pod_uid});
        if (chance(10)) match.container = some({"none", "any", container_id.substr(0, 12), "deadbeef0123"});
        if (chance(10)) match.unit = some({"none", "any", "vllm.service", "vl*", "own.service"});
        match.orphaned = chance(8);
        return match;
    }
    ChoicePolicy policy() {
        ChoicePolicy policy;
        policy.include_jobs = chance(3);
        if (chance(4)) policy.own_job = "42";
        if (chance(3)) policy.protection.unprotect = {"sshd", "systemd", "nvidia-smi", "*"};
        if (chance(4)) policy.protection.protect = {"trainer", "vllm.service"};
        policy.needs_scheduler = chance(5);
        return policy;
    }
    bool chance(int one_in) { return pick(1, one_in) == 1; }
    std::mt19937_64& random() { return random_; }

    inline static const std::string pod_uid = "3f2a9c01-b7de-4f2a-9c01-b7de4f2a9c01";
    inline static const std::string container_id =
        "4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a9c01b7de4f2a";

  private:
    int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
    std::string any(const std::vector<std::string>& some) {
        return some[static_cast<std::size_t>(pick(0, static_cast<int>(some.size()) - 1))];
    }
    std::vector<std::string> some(const std::vector<std::string>& all) {
        std::vector<std::string> chosen{any(all)};
        while (chance(3)) chosen.push_back(any(all));
        return chosen;
    }
    void add_scheduler() {
        scene_.daemon(700, any({"/usr/sbin/slurmd", "/usr/bin/kubelet", "/home/alice/slurmd"}));
        Process& p = evidence().processes.back();
        p.open_minors.clear();
        p.mapped_minors.clear();
        p.opens_control = p.maps_control = false;
        if (p.exe->starts_with("/home")) p.exe_owner = 1000;
        if (chance(3)) p.uid = 1000, p.user = "alice";
        if (chance(5)) p.exe.reset();
    }
    void add(Pid i) {
        // Mostly sorted by age, with pids that were given away, parents that are missing, and kthreadd.
        const Pid pid = chance(20) ? (chance(2) ? 2 : 1000 + pick(0, 40)) : 1000 + i;
        scene_.process(pid, chance(6) ? pick(0, 3) : i > 0 && !chance(4) ? 1000 + pick(0, i - 1) : 1, "x");
        Process& p = evidence().processes.back();
        p.exe = any({"/usr/bin/python3.11", "/srv/server", "/srv/ray", "/usr/bin/bash", "/usr/sbin/sshd",
                     "/usr/bin/sleep", "/usr/bin/nvidia-smi", "/usr/bin/nvidia-persistenced",
                     "/home/alice/nvidia-persistenced", "/usr/bin/tmux", "/usr/sbin/dropbear", "/srv/trainer",
                     "/usr/lib/systemd/systemd", "/srv/server", "/usr/bin/python3.11"});
        p.comm = p.exe->substr(p.exe->rfind('/') + 1, 15);
        p.exe_owner = p.exe->starts_with("/home") || chance(6) ? 1000 : 0;
        if (chance(8)) p.exe_owner.reset();
        if (chance(8)) p.exe.reset();
        p.exe_writable_by_others = chance(10);
        p.host_mount_ns = !chance(5);
        p.uid = static_cast<std::uint32_t>(chance(3) ? 0 : 1000 + pick(0, 1));
        p.user = *p.uid == 0 ? "root" : *p.uid == 1000 ? "alice" : "bob";
        if (chance(20)) p.user.clear();
        p.kernel_thread = chance(15);
        p.key.start = static_cast<std::uint64_t>(10'000 + i / 2);
        p.session = chance(2) ? pid : 1000;
        p.tty = chance(5) ? 34816 : 0;
        p.ignores_hangup = chance(5);
        p.state = any({"S", "S", "S", "R", "D", "Z"})[0];
        p.argv = chance(2) ? std::vector<std::string>{any({"-bash", "bash", "python3"})}
                           : std::vector<std::string>{"python3", any({"serve.py", "-c", "-l", "nvitop"})};
        p.cgroup = any(cgroups());
        p.age_s = static_cast<std::uint64_t>(pick(0, 200));
        if (chance(15)) p.age_s.reset();
        if (const Process* parent = evidence().find(p.parent);
            parent != nullptr && parent->key.pid != 1 && !chance(3))
            inherit(p, *parent);
        if (chance(15)) p.uid.reset();
        if (chance(15)) p.cgroup.reset();
        open_devices(p);
        if (chance(20)) evidence().session_ancestors.push_back(pid);
    }
    void open_devices(Process& p) {
        if (chance(2)) {
            p.opens_control = true;
            while (p.open_minors.empty() || chance(3)) p.open_minors.push_back(pick(0, 4));
            if (chance(3)) p.mapped_minors = p.open_minors;
        } else if (chance(6)) {
            chance(2) ? p.maps_control = true : (p.mapped_minors = {pick(0, 3)}, true);
        }
        while (chance(3))
            evidence().apps.push_back(
                {p.key.pid, uuid_of(pick(0, 3)), Mebibytes{500}, chance(8) ? "[Not Found]" : "python3"});
        if (chance(10) && !evidence().apps.empty()) evidence().apps.back().used.reset();
        p.fds_readable = !chance(10);
        p.maps_readable = !chance(10);
    }
    static std::vector<std::string> cgroups() {
        const std::string own = "/user.slice/user-1000.slice/user@1000.service";
        return {"/",
                "/",
                "/system.slice/vllm.service",
                "/slurm/uid_1000/job_42/step_0",
                "/slurm/uid_1000/job_43/step_0/docker/" + container_id,
                "/system.slice/ssh.service",
                "/user.slice/user-1000.slice/session-3.scope",
                "/user.slice/user-1000.slice/session-4.scope",
                "/kubepods/pod1",
                "/kubepods/burstable/pod" + pod_uid + "/" + container_id,
                "/system.slice/docker-" + container_id + ".scope",
                own + "/app.slice/own.service",
                own + "/slurm/job_42/kubepods/pod" + pod_uid};
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

}  // namespace cleanslate::agentless::testing
