#pragma once
// The hosts of golden_report.hpp.

#include <utility>

#include "outcomes.hpp"

namespace cleanslate::controller::testing {

// UTF-8 of several scripts, what would break out of HTML, XML, CSV, shells and labels, and bytes that steer
// terminals or are no UTF-8.
inline const std::string hostile_text =
    "</script><script>alert(\"1\")</script> 'a',\"b\";c\\d {e=\"f\"} & ]]> --> "
    "n\xc3\xb6\x64 \xe6\xa9\x9f\xe6\xa2\xb0 \xf0\x9f\x94\xa5 \x1b[2J\x07\xff\xe2\x80\xae\r\nnext\tline";

// 63 characters, the longest label that DNS knows.
inline const std::string long_host_name = "gpu-node-with-a-name-as-long-as-a-label-in-dns-may-be-rack42u17";

// A uuid of its own for each GPU of each host.
inline GpuVerdict gpu_of(int host, int index, Verdict verdict, std::int64_t used) {
    GpuVerdict one = gpu(index, verdict, used);
    const auto two = [](int number) { return (number < 10 ? "0" : "") + std::to_string(number); };
    one.uuid = "GPU-000000" + two(host) + "-0000-4000-8000-0000000000" + two(index);
    one.bus_id = "00000000:" + two(index + 10) + ":00.0";
    one.limit = Mebibytes{100};
    one.optional = {{"driver_version", "570.86.15"}, {"mig.mode.current", "Disabled"}};
    return one;
}

inline HostOutcome golden_host(int number, std::string name, int gpus) {
    HostOutcome host;
    host.name = std::move(name);
    host.address = "192.0.2." + std::to_string(number);
    host.verdict = Verdict::clean;
    host.last.emplace();
    host.last->verdict = Verdict::clean;
    for (int i = 0; i < gpus; ++i)
        host.last->gpus.push_back(gpu_of(number, i, Verdict::clean, i == 4 ? 51 : 0));
    host.boot_id = "00000000-0000-4000-8000-0000000000" + std::to_string(10 + number);
    host.driver_version = "570.86.15";
    host.started = host.finished = true;
    host.took = Milliseconds{1000 + 37 * number};
    host.surveys = 1;
    return host;
}

inline void judge_golden(HostOutcome& host, Verdict verdict) { host.verdict = host.last->verdict = verdict; }

// Clean, with a holder that is left alone and something to note.
inline HostOutcome golden_protected_host(int number, std::string name) {
    HostOutcome host = golden_host(number, std::move(name), 8);
    Holder monitor = holder(1201, "root", "/usr/bin/nv-hostengine -n --service-account nvidia-dcgm");
    monitor.exe = "/usr/bin/nv-hostengine";
    monitor.used = Mebibytes{18};
    monitor.is_protected = true;
    monitor.protected_by = "nv-hostengine of root";
    monitor.unit = "nvidia-dcgm.service";
    host.last->gpus[0].used = Mebibytes{18};
    host.last->gpus[0].holders.push_back(monitor);
    host.last->gpus[0].findings.push_back(
        {Severity::note, "protected-memory", "18 MiB are a protected process's", ""});
    host.last->findings.push_back({Severity::note, "driver-slow", "nvidia-smi took 4.2 s",
                                   "turn on persistence mode: nvidia-smi -pm 1"});
    return host;
}

// One GPU for each kind of holder.
inline HostOutcome golden_dirty_host(int number, std::string name) {
    HostOutcome host = golden_host(number, std::move(name), 8);
    judge_golden(host, Verdict::dirty);
    const auto hold = [&](std::size_t place, std::int64_t mib, Holder who) {
        GpuVerdict& gpu = host.last->gpus[place];
        gpu.verdict = Verdict::dirty;
        gpu.used = Mebibytes{mib};
        who.used = gpu.used;
        gpu.holders.push_back(std::move(who));
        gpu.findings.push_back({Severity::dirty, "memory-in-use",
                                std::to_string(mib) + " MiB used, the limit is 100 MiB", "clear the host"});
    };
    Holder ghost;
    ghost.key.pid = 811;
    ghost.ghost = true;
    hold(0, 76'107, ghost);
    host.last->gpus[0].findings.push_back({Severity::dirty, "ghost",
                                           "the driver lists pid 811, which no longer lives",
                                           "end the processes that hold its descriptors"});
    Holder heir = holder(812, "alice", "sleep 100000");
    heir.exe = "/usr/bin/sleep";
    heir.inherited = true;
    host.last->gpus[0].holders.push_back(heir);
    Holder elsewhere;
    elsewhere.key.pid = 77;
    elsewhere.foreign_pid = true;
    hold(1, 512, elsewhere);
    Holder torn_down = holder(813, "bob", "python3 train.py --epochs 3");
    torn_down.state = 'D';
    torn_down.without_device = true;
    hold(2, 40'960, torn_down);
    Holder job = holder(814, "carol", "python3 -m torch.distributed.run --nproc-per-node 8 train.py");
    job.unit = "Slurm job 4711";
    hold(3, 79'000, job);
    Holder contained = holder(815, "uid 1000", "vllm serve --api-key *** --model llama");
    contained.unit = "container 0123456789ab";
    contained.exe.reset();
    hold(5, 65'536, contained);
    Holder nobody;
    hold(6, 146, nobody);
    Holder opener = holder(816, "dave", "tail -f /dev/nvidia3");
    opener.age_s.reset();
    host.last->openers.push_back(opener);
    host.last->findings.push_back({Severity::dirty, "opener", "pid 816 has a device file open",
                                   "end it, or put it on the protect list"});
    host.spared.push_back({job.key, "scheduled-job", "it belongs to Slurm job 4711, which is not yours"});
    host.spared_holders.push_back(job);
    return host;
}

inline HostOutcome golden_mig_host(int number, std::string name) {
    HostOutcome host = golden_host(number, std::move(name), 4);
    judge_golden(host, Verdict::dirty);
    GpuVerdict& gpu = host.last->gpus[1];
    gpu.verdict = Verdict::dirty;
    gpu.used = Mebibytes{9'000};
    gpu.limit = Mebibytes{120};
    gpu.optional[1].cell = "Enabled";
    Holder worker = holder(900, "erin", "python3 notebook.py");
    worker.unit = "jupyterhub.service";
    gpu.holders.push_back(worker);
    gpu.findings.push_back({Severity::dirty, "held", "pid 900 of erin holds it", "clear the host"});
    gpu.findings.push_back({Severity::note, "mig-mode", "MIG is on", ""});
    gpu.instances = {{0, 7, 0, "1g.18gb", "MIG-00000000-0000-4000-8000-000000000001", {worker.key}},
                     {1, 8, 0, "1g.18gb", "MIG-00000000-0000-4000-8000-000000000002", {}},
                     {2, {}, {}, "2g.35gb", "MIG-00000000-0000-4000-8000-000000000003", {}},
                     {{}, 9, {}, "", "", {}}};
    host.last->gpus[3].judged = false;
    host.last->findings.push_back({Severity::note, "gpus-not-judged", "GPU 3 is not judged", ""});
    return host;
}

// Sixteen GPUs, some of them broken.
inline HostOutcome golden_sick_host(int number, std::string name) {
    HostOutcome host = golden_host(number, std::move(name), 16);
    judge_golden(host, Verdict::sick);
    const auto ail = [&](std::size_t place, Finding finding) {
        host.last->gpus[place].verdict = Verdict::sick;
        host.last->gpus[place].findings.push_back(std::move(finding));
    };
    ail(11, {Severity::sick, "row-remap-pending", "a row remap is pending", "reset the GPU"});
    ail(12, {Severity::sick, "gpu-requires-reset", "the driver says: GPU requires reset",
             "clear its holders, then nvidia-smi --gpu-reset -i 12, else reboot"});
    GpuVerdict lost;
    lost.bus_id = "00000000:26:00.0";
    lost.verdict = Verdict::sick;
    lost.findings.push_back({Severity::sick, "gpu-lost", "the driver says: GPU is lost",
                             "reboot the host; if it comes back, have it repaired"});
    host.last->gpus.back() = lost;
    host.commands.push_back(act(CommandAction::Kind::reset, 3, "nvidia-smi --gpu-reset -i 00000000:22:00.0",
                                "GPU 12: no --allow-reset"));
    host.commands.back().withheld = true;
    host.findings.push_back(
        {Severity::note, "reset-withheld", "GPU 12 would be reset", "give --allow-reset"});
    return host;
}

inline HostOutcome golden_unknown_host(int number, std::string name) {
    HostOutcome host = golden_host(number, std::move(name), 2);
    judge_golden(host, Verdict::unknown);
    GpuVerdict& gpu = host.last->gpus[1];
    gpu.verdict = Verdict::unknown;
    gpu.used.reset();
    gpu.limit.reset();
    gpu.optional.clear();
    gpu.findings.push_back({Severity::unknown, "memory-unreadable", "used memory is [N/A]", ""});
    host.last->findings.push_back(
        {Severity::unknown, "holders-unreadable", "3 processes could not be looked into", "log in as root"});
    return host;
}

// Cleared: every result of a signal, every kind and result of a command.
inline HostOutcome golden_cleared_host(int number, std::string name) {
    using Kind = CommandAction::Kind;
    HostOutcome host = golden_host(number, std::move(name), 8);
    const Holder worker = holder(2001, "frank", "python3 -m sglang.launch_server --tp 8");
    const auto signal = [&](int step, std::string which, Pid pid, SignalResult result) {
        Holder who = worker;
        who.key = {pid, 90'000u + static_cast<std::uint64_t>(pid)};
        host.signals.push_back(signal_action(step, std::move(which), who, result));
    };
    signal(2, "TERM", 2001, SignalResult::ended);
    signal(2, "TERM", 2002, SignalResult::alive);
    host.signals.back().state = 'D';
    signal(2, "TERM", 2003, SignalResult::zombie);
    signal(2, "TERM", 2004, SignalResult::changed);
    signal(2, "TERM", 2005, SignalResult::not_permitted);
    signal(3, "KILL", 2002, SignalResult::ended);
    signal(3, "KILL", 2006, SignalResult::not_sent);
    signal(3, "KILL", 2007, SignalResult::sent);
    host.commands.push_back(done(act(Kind::before, 1, "drain --token geheim-4711 --reason 'clean up'")));
    host.commands.back().out = "drained\r\nnode is idle\n";
    host.commands.push_back(done(act(Kind::stop, 4, "systemctl stop sglang.service", "supervisor of 2001")));
    host.commands.push_back(done(act(Kind::reset, 5, "nvidia-smi --gpu-reset -i 00000000:12:00.0", "GPU 2")));
    host.commands.push_back(done(act(Kind::clean_shm, 6, "sglang_kv_0", "3 MiB of frank, 2 h old")));
    host.commands.back().bytes = 3'145'728;
    host.commands.push_back(act(Kind::clean_shm, 6, "sglang_kv_1", "it has users"));
    host.commands.back().withheld = true;
    host.commands.back().bytes = 4096;
    host.commands.push_back(act(Kind::run, 7, "nvidia-smi -pm 1"));
    host.commands.back().not_sent = true;
    host.commands.push_back(act(Kind::reboot, 8, "reboot"));
    host.commands.push_back(done(act(Kind::after, 9, "resume")));
    host.commands.back().ok = false;
    host.commands.back().exit_status = 7;
    host.commands.back().err = "no such node\n";
    host.commands.push_back(done(act(Kind::after, 10, "notify")));
    host.commands.back().ok = false;
    host.commands.back().exit_status.reset();
    host.commands.back().exit_signal = "TERM";
    host.findings.push_back({Severity::note, "command-failed", "step 9: resume ended with 7", ""});
    host.first_signal_to_clean = Milliseconds{4210};
    host.took = Milliseconds{17'532};
    host.surveys = 4;
    return host;
}

// What a dry run would do there.
inline HostOutcome golden_planned_host(int number, std::string name) {
    using Kind = CommandAction::Kind;
    HostOutcome host = golden_host(number, std::move(name), 8);
    const HostOutcome planned = planned_host(host.name);
    judge_golden(host, Verdict::dirty);
    host.last->gpus[2] = planned.last->gpus[2];
    host.last->gpus[2].uuid = gpu_of(number, 2, Verdict::dirty, 0).uuid;
    host.signals = planned.signals;
    host.plan_steps = planned.plan_steps;
    host.plan = planned.plan;
    Holder launcher = holder(810, "alice", "bash run.sh");
    Holder shell = holder(700, "alice", "-bash");
    host.plan_steps[0].targets.insert(host.plan_steps[0].targets.begin(), launcher.key);
    host.plan_steps[0].target_holders = {launcher, host.last->gpus[2].holders.front()};
    host.plan_steps[0].spared.push_back({shell.key, "protected", "a login shell above a target"});
    host.spared.push_back(host.plan_steps[0].spared.front());
    host.spared_holders.push_back(shell);
    plan_act(host, act(Kind::run, 4, "curl -H 'Authorization: Bearer geheim-4711' https://example.org/done"));
    plan_act(host, act(Kind::reset, 5, "nvidia-smi --gpu-reset -i 00000000:12:00.0", "GPU 2")).conditional =
        true;
    host.plan_steps.back().notes.push_back("not reached where the host is clean by then");
    return host;
}

// Nothing of what such a host says may steer a reader's terminal, page or parser.
inline HostOutcome golden_hostile_host(int number, std::string name) {
    HostOutcome host = golden_host(number, std::move(name), 1);
    judge_golden(host, Verdict::dirty);
    host.driver_version = hostile_text;
    GpuVerdict& gpu = host.last->gpus[0];
    gpu.verdict = Verdict::dirty;
    gpu.name = hostile_text;
    gpu.used = Mebibytes{70'000};
    gpu.optional.push_back({hostile_text, hostile_text});
    Holder worker = holder(666, hostile_text, hostile_text);
    worker.exe = worker.unit = hostile_text;
    worker.used = gpu.used;
    gpu.holders.push_back(worker);
    gpu.findings.push_back({Severity::dirty, "memory-in-use", hostile_text, hostile_text});
    host.signals.push_back(signal_action(1, "TERM", worker, SignalResult::alive));
    host.signals.back().rule = "cmdline '" + hostile_text + "'";
    host.commands.push_back(done(act(CommandAction::Kind::run, 2, "echo " + hostile_text, hostile_text)));
    host.commands.back().out = hostile_text + "\n" + hostile_text;
    host.commands.back().ok = false;
    host.commands.back().exit_status = 1;
    host.spared.push_back({{667, 5667}, "protected", hostile_text});
    host.spared_holders.push_back(holder(667, hostile_text, hostile_text));
    return host;
}

// It broke off between two surveys.
inline HostOutcome golden_lost_host(int number, std::string name) {
    HostOutcome host = golden_dirty_host(number, std::move(name));
    host.verdict = Verdict::unknown;
    host.signals.push_back(signal_action(1, "TERM", host.last->gpus[2].holders[0], SignalResult::sent));
    host.error = Error{"connection_lost", "step 1: TERM holders", "connection reset by peer: " + hostile_text,
                       "see that the host is up"};
    host.findings.push_back({Severity::unknown, "not-settled", "no survey after the last signal", ""});
    return host;
}

}  // namespace cleanslate::controller::testing
