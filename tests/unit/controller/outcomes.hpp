#pragma once
// Hand-made outcomes: what a sweep would have left behind, for the renderers and the exit status.

#include <algorithm>
#include <string>
#include <vector>

#include "controller/report.hpp"

namespace cleanslate::controller::testing {

using namespace agentless;

inline GpuVerdict gpu(int index, Verdict verdict, std::int64_t used) {
    GpuVerdict gpu;
    gpu.index = index;
    gpu.uuid = "GPU-" + std::to_string(index);
    gpu.bus_id = "00000000:0" + std::to_string(index) + ":00.0";
    gpu.name = "NVIDIA H200";
    gpu.used = Mebibytes{used};
    gpu.total = Mebibytes{143'771};
    gpu.verdict = verdict;
    return gpu;
}

inline Holder holder(Pid pid, std::string user, std::string command) {
    Holder holder;
    holder.key = {pid, 5000u + static_cast<std::uint64_t>(pid)};
    holder.user = std::move(user);
    holder.exe = "/usr/bin/python3.11";
    holder.command = std::move(command);
    holder.state = 'S';
    holder.age_s = 11'400;
    return holder;
}

// Eight clean GPUs.
inline HostOutcome clean_host(std::string name) {
    HostOutcome host;
    host.name = std::move(name);
    host.address = "127.0.1.1";
    host.verdict = Verdict::clean;
    host.last.emplace();
    host.last->verdict = Verdict::clean;
    for (int i = 0; i < 8; ++i) host.last->gpus.push_back(gpu(i, Verdict::clean, i == 4 ? 51 : 0));
    host.boot_id = "b00t";
    host.started = host.finished = true;
    host.took = Milliseconds{1200};
    host.surveys = 1;
    return host;
}

// GPU 2 of eight at 76107 MiB, held by pid 812.
inline HostOutcome dirty_host(std::string name) {
    HostOutcome host = clean_host(std::move(name));
    host.verdict = host.last->verdict = Verdict::dirty;
    host.last->gpus[2] = gpu(2, Verdict::dirty, 76'107);
    Holder worker = holder(812, "alice", "sleep 100000");
    worker.used = Mebibytes{76'107};
    worker.inherited = true;
    host.last->gpus[2].holders.push_back(worker);
    host.last->gpus[2].findings.push_back(
        {Severity::dirty, "memory-in-use", "76107 MiB used, the limit is 100 MiB", "clear the host"});
    return host;
}

inline HostOutcome unreachable_host(std::string name, std::string message = "connection refused") {
    HostOutcome host;
    host.name = std::move(name);
    host.address = "127.0.1.9";
    host.verdict = Verdict::unreachable;
    host.started = host.finished = true;
    host.took = Milliseconds{30};
    host.error = Error{"connect_refused", "connect", std::move(message), "see that sshd runs there"};
    return host;
}

inline HostOutcome not_tried_host(std::string name) {
    HostOutcome host;
    host.name = std::move(name);
    host.address = "127.0.1.8";
    host.error = Error{"not_tried", "", "the sweep ended before this host was begun", ""};
    return host;
}

inline SignalAction signal_action(int step, std::string signal, const Holder& process, SignalResult result) {
    SignalAction action;
    action.step = step;
    action.signal = std::move(signal);
    action.process = process;
    action.rule = "holding gpu";
    action.result = result;
    if (result == SignalResult::ended) action.took = Milliseconds{130};
    return action;
}

// The dirty host in a dry run: both steps would signal pid 812.
inline HostOutcome planned_host(std::string name) {
    HostOutcome host = dirty_host(std::move(name));
    const Holder worker = host.last->gpus[2].holders.front();
    host.signals.push_back(signal_action(1, "TERM", worker, SignalResult::planned));
    host.signals.push_back(signal_action(2, "KILL", worker, SignalResult::planned));
    Consent consent;
    consent.listed = {worker.key};
    consent.boot_id = host.boot_id;
    host.plan = consent;
    host.plan_steps = {{1, "TERM holders", {worker.key}, {}, {}, {}},
                       {2, "KILL holders", {worker.key}, {}, {}, {}},
                       {3, "verify", {}, {}, {}, {}}};
    return host;
}

inline CommandAction act(CommandAction::Kind kind, int step, std::string command, std::string about = {}) {
    CommandAction action;
    action.kind = kind;
    action.step = step;
    action.command = std::move(command);
    action.about = std::move(about);
    return action;
}

// One that came to its end with 0 after 1.2 s.
inline CommandAction done(CommandAction action) {
    action.ran_to_end = action.ok = true;
    action.exit_status = 0;
    action.took = Milliseconds{1200};
    return action;
}

// One of a dry run, in a step of its own.
inline CommandAction& plan_act(HostOutcome& host, CommandAction action) {
    action.planned = true;
    const int step = action.step;
    host.commands.push_back(std::move(action));
    const auto same = [&](const PlannedStep& planned) { return planned.step == step; };
    auto found = std::find_if(host.plan_steps.begin(), host.plan_steps.end(), same);
    if (found == host.plan_steps.end())
        found = host.plan_steps.insert(
            found, {step, std::string(to_string(host.commands.back().kind)), {}, {}, {}, {}});
    found->commands.push_back(host.commands.size() - 1);
    return host.commands.back();
}

inline HostOutcome asked_host(std::string name, int exit_status, std::string out) {
    HostOutcome host;
    host.name = std::move(name);
    host.address = "127.0.1.1";
    host.started = host.finished = true;
    host.took = Milliseconds{200};
    CommandAction& command = host.commands.emplace_back();
    command.command = "uname -r";
    command.ran_to_end = true;
    command.exit_status = exit_status;
    command.ok = exit_status == 0;
    command.out = std::move(out);
    command.took = Milliseconds{20};
    return host;
}

inline Report report_of(std::vector<HostOutcome> hosts, std::string command = "check") {
    Report report;
    report.command = std::move(command);
    if (report.command == "clear") report.playbook = "clear";
    report.started = "2026-11-29T12:00:00Z";
    report.took = Milliseconds{1900};
    report.result.hosts = std::move(hosts);
    return report;
}

}  // namespace cleanslate::controller::testing
