#pragma once
// Lines of an audit log, as AuditLog writes them.

#include <nlohmann/json.hpp>
#include <string>

namespace cleanslate::controller::testing {

using Line = nlohmann::ordered_json;

inline Line record(const std::string& event, const std::string& sweep = "s1",
                   const std::string& time = "2026-11-30T12:00:00Z") {
    return {{"time", time}, {"event", event},   {"sweep", sweep},
            {"by", "root"}, {"from", "laptop"}, {"by_pid", 4711}};
}

inline Line begin(const std::string& sweep = "s1", const std::string& time = "2026-11-30T12:00:00Z") {
    Line line = record("begin", sweep, time);
    line["login"] = "alice";
    line["command_line"] = "cleanslate clear -H gpu01 --yes";
    return line;
}

inline Line end(const std::string& sweep = "s1", const std::string& time = "2026-11-30T12:00:30Z") {
    Line line = record("end", sweep, time);
    line["why"] = "done";
    line["exit_status"] = 0;
    return line;
}

inline Line signal_line(const std::string& event, int pid, const std::string& host = "gpu01",
                        const std::string& sweep = "s1", const std::string& time = "2026-11-30T12:00:10Z") {
    Line line = record(event, sweep, time);
    line.update({{"host", host},
                 {"boot_id", "b00t"},
                 {"step", 1},
                 {"signal", "TERM"},
                 {"pid", pid},
                 {"start", std::to_string(5000 + pid)},
                 {"owner", "alice"},
                 {"exe", "/usr/bin/python3"},
                 {"command", "python serve.py"},
                 {"rule", "holding gpu"}});
    if (event == "result") line.update({{"result", "ended"}, {"seconds", 0.13}});
    return line;
}

inline Line command_line(const std::string& event, const std::string& host, const std::string& command) {
    Line line = record(event);
    line.update({{"host", host},
                 {"step", 2},
                 {"kind", "stop"},
                 {"command", command},
                 {"about", "supervisor of 812"}});
    if (event == "result") line.update({{"result", "failed"}, {"exit_status", 5}, {"seconds", 1.2}});
    return line;
}

inline std::string log_of(const std::vector<Line>& lines) {
    std::string log;
    for (const Line& line : lines) log += line.dump() + "\n";
    return log;
}

}  // namespace cleanslate::controller::testing
