#pragma once
// One report in which everything that a report can say is said once: every verdict, every kind of holder,
// signal and command with every result, a plan, errors, hostile text. The renderers' golden files and the
// reader's tests are made from it.

#include "golden_hosts.hpp"

namespace cleanslate::controller::testing {

inline Report golden_report() {
    Report report = report_of({}, "clear");
    report.inventory = "fleet.yaml";
    report.limit = "all,!gpu99";
    report.took = Milliseconds{93'400};
    report.result.notes = {"gpu99 stands twice in the inventory", "note: " + hostile_text};
    std::vector<HostOutcome>& hosts = report.result.hosts;
    hosts.push_back(golden_host(1, "gpu01", 8));
    hosts.push_back(golden_host(2, "gpu02", 8));
    hosts.push_back(golden_protected_host(3, "gpu03"));
    hosts.push_back(golden_dirty_host(4, "gpu04"));
    hosts.push_back(golden_mig_host(5, "gpu05"));
    hosts.push_back(golden_sick_host(6, "gpu06"));
    hosts.push_back(golden_unknown_host(7, "gpu07"));
    hosts.push_back(golden_cleared_host(8, "gpu08"));
    hosts.push_back(golden_planned_host(9, "gpu09"));
    hosts.push_back(golden_hostile_host(10, "gpu10"));
    hosts.push_back(golden_lost_host(11, long_host_name));
    hosts.push_back(unreachable_host("gpu12.example.org"));
    hosts.back().port = 2222;
    hosts.push_back(unreachable_host("gpu13", hostile_text));
    hosts.push_back(not_tried_host("gpu14"));
    report.exit_status = 3;
    return report;
}

// Of an ad-hoc command: every way in which it can end.
inline Report golden_run() {
    Report report = report_of({}, "run");
    report.inventory = "fleet.yaml";
    std::vector<HostOutcome>& hosts = report.result.hosts;
    hosts.push_back(asked_host("gpu01", 0, "6.1.0-28-amd64\n"));
    hosts.push_back(asked_host("gpu02", 0, "6.1.0-28-amd64\n"));
    hosts.push_back(asked_host("gpu03", 1, hostile_text));
    hosts.back().commands[0].err = hostile_text;
    hosts.push_back(asked_host("gpu04", 0, ""));
    hosts.back().commands[0].exit_status.reset();
    hosts.back().commands[0].exit_signal = "KILL";
    hosts.back().commands[0].ok = false;
    hosts.push_back(asked_host("gpu05", 0, "half an ans"));
    hosts.back().commands[0].ran_to_end = hosts.back().commands[0].ok = false;
    hosts.back().commands[0].exit_status.reset();
    hosts.back().error = Error{"timeout", "run", "the command did not end within 60 s", "give --timeout"};
    hosts.push_back(unreachable_host("gpu06"));
    hosts.push_back(not_tried_host("gpu07"));
    for (HostOutcome& host : hosts)
        for (CommandAction& command : host.commands) command.command = "uname -r; echo --token=geheim-4711";
    report.exit_status = 3;
    return report;
}

}  // namespace cleanslate::controller::testing
