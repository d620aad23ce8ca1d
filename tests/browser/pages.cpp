// pages FOLDER: the pages that the browser's tests open, one file a report.
#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "controller/formats/html_report.hpp"
#include "tests/unit/controller/golden_report.hpp"

namespace cleanslate::controller::testing {
namespace {

// Everything that has ended a text, an attribute, an element, a script or a line somewhere.
constexpr const char* hostile_names[] = {
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)>",
    "'><svg onload=alert(3)>",
    "<!--<script>",
    "]]><iframe srcdoc='<script>alert(4)</script>'></iframe>",
    "javascript:alert(5)",
    "&lt;b&gt; &amp;quot; &#60;",
    "${alert(6)} `alert(7)` {{alert(8)}}",
    "\xE2\x80\xAE"
    "gnp.exe \xE2\x80\xAB rtl \xE2\x80\xA8 \xE2\x80\xA9",
    "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D \xD8\xB3\xD9\x84\xD8\xA7\xD9\x85",
    "z\xCC\xB5\xCC\xB6\xCC\xB7\xCC\xB8\xCC\xA1\xCC\xA2\xCC\xA7\xCC\xA8\xCC\x9B\xCC\x96\xCC\x97\xCC\x98\xCC"
    "\x99\xCC\x9C\xCC\x9D\xCC\x9E\xCC\x9F\xCC\xA0\xCC\xA4\xCC\xA5\xCC\xA6",
    "__proto__",
    "constructor",
    "host=gpu01&gpu=2#show=dirty%00%",
};

HostOutcome hostile_host(const std::string& text) {
    HostOutcome host = dirty_host(text);
    host.address = text;
    GpuVerdict& gpu = host.last->gpus[2];
    gpu.uuid = gpu.name = gpu.bus_id = text;
    gpu.optional = {{text, text}};
    gpu.findings.push_back({Severity::dirty, text, text, text});
    Holder& worker = gpu.holders.front();
    worker.user = worker.protected_by = text;
    worker.command = worker.exe = worker.unit = text;
    MigInstance& instance = gpu.instances.emplace_back();
    instance.profile = instance.uuid = text;
    instance.holders = {worker.key};
    host.last->openers.push_back(worker);
    host.findings.push_back({Severity::note, text, text, text});
    host.signals.push_back(signal_action(1, text, worker, SignalResult::alive));
    host.signals.back().rule = text;
    CommandAction command = done(act(CommandAction::Kind::run, 2, text, text));
    command.out = command.err = text + "\n" + text;
    host.commands.push_back(command);
    host.spared.push_back({worker.key, text, text});
    host.spared_holders.push_back(worker);
    return host;
}

Report hostile_report() {
    Report report = report_of({}, "clear");
    report.inventory = report.limit = report.playbook = hostile_names[0];
    for (const char* const name : hostile_names) {
        report.result.hosts.push_back(hostile_host(name));
        report.result.notes.emplace_back(name);
    }
    report.result.hosts.push_back(hostile_host("long"));
    Holder& worker = report.result.hosts.back().last->gpus[2].holders.front();
    worker.command = std::string(5'000, 'x') + " </script>" + std::string(300, ' ') + "end";
    report.result.hosts.push_back(unreachable_host("hostile-error", hostile_names[1]));
    report.result.hosts.push_back(planned_host("hostile-plan"));
    report.result.hosts.back().plan_steps[0].name = hostile_names[1];
    report.result.hosts.back().plan_steps[0].notes = {hostile_names[0]};
    report.exit_status = 3;
    return report;
}

// Nine hosts of ten are clean.
HostOutcome host_of_fleet(std::size_t i) {
    const std::string name = fmt::format("gpu{:05}", i);
    switch (i % 50) {
        case 7:
        case 21:
        case 33: {
            HostOutcome host = dirty_host(name);
            Holder& worker = host.last->gpus[2].holders.front();
            worker.key.pid = static_cast<Pid>(4'000 + i);
            worker.user = i % 3 == 0 ? "alice" : "bob";
            worker.command =
                fmt::format("python3 -m vllm.entrypoints.openai.api_server --port {}", 8'000 + i);
            return host;
        }
        case 12:
            return unreachable_host(name);
        case 40: {
            HostOutcome host = clean_host(name);
            host.verdict = host.last->verdict = Verdict::sick;
            host.last->gpus[5] = gpu(5, Verdict::sick, 0);
            host.last->gpus[5].used.reset();
            host.last->gpus[5].findings.push_back({Severity::sick, "gpu-lost", "GPU is lost",
                                                   "reboot the host; if it comes back, have it repaired"});
            return host;
        }
        default:
            return clean_host(name);
    }
}

Report fleet_of(std::size_t hosts) {
    Report report = report_of({});
    report.inventory = "fleet.yaml";
    for (std::size_t i = 0; i < hosts; ++i) report.result.hosts.push_back(host_of_fleet(i));
    report.exit_status = 3;
    return report;
}

Report parsed_report() {
    Report report = report_of({dirty_host("-")}, "parse");
    report.result.hosts[0].last->gpus[2].repaired = true;
    report.exit_status = 1;
    return report;
}

// Cleared, and dirty still: what it killed came back, and what it may not kill is there.
Report left_report() {
    HostOutcome back = dirty_host("gpu01");
    const Holder& worker = back.last->gpus[2].holders.front();
    back.signals.push_back(signal_action(1, "TERM", holder(811, "alice", "sleep 1"), SignalResult::ended));
    back.findings.push_back({Severity::dirty, "respawned", "pid 812 came back after pid 811 was ended",
                             "`systemctl stop server.service`, then clear again"});
    HostOutcome job = dirty_host("gpu02");
    job.spared.push_back({worker.key, "scheduled-job", "in slurm job 4711 of alice"});
    job.spared_holders.push_back(worker);
    return report_of({back, job}, "clear");
}

Report clean_report() {
    Report report = report_of({clean_host("gpu01"), clean_host("gpu02"), clean_host("gpu03")});
    report.inventory = "fleet.yaml";
    return report;
}

bool write_page(const std::string& file, const Report& report) {
    std::ofstream out(file, std::ios::binary);
    write_html(report, false, [&](std::string_view text) { out << text; });
    return static_cast<bool>(out.flush());
}

bool write_pages(const std::string& folder) {
    Report dry = report_of({planned_host("gpu01"), clean_host("gpu02")}, "clear");
    dry.dry_run = true;
    dry.exit_status = 1;
    const auto write = [&](const char* name, const Report& report) {
        return write_page(folder + "/" + name + ".html", report);
    };
    return write("golden", golden_report()) && write("run", golden_run()) &&
           write("parse", parsed_report()) && write("dry_run", dry) && write("left", left_report()) &&
           write("clean", clean_report()) && write("empty", report_of({})) &&
           write("hostile", hostile_report()) && write("fleet", fleet_of(1'000)) &&
           write("large", fleet_of(10'000));
}

}  // namespace
}  // namespace cleanslate::controller::testing

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: pages FOLDER\n";
        return 2;
    }
    return cleanslate::controller::testing::write_pages(argv[1]) ? EXIT_SUCCESS : EXIT_FAILURE;
}
