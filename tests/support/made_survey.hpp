#pragma once
// What the survey script would print on a host, from what nvidia-smi printed there: for tests that judge one
// text both as `parse` and as `check` do.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/records.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::testing {

// A process that has every device file open.
struct MadeProcess {
    int pid = 0;
    std::string exe = "/usr/bin/python3.11";
    char state = 'S';
    bool opens = true;
};

// One query: what it printed, and how it ended ("0", "timeout"; empty: not asked).
struct MadeQuery {
    std::string text;
    std::string status;
};

struct MadeSurvey {
    std::vector<std::string> bus_ids;  // of the kernel's driver, by minor
    std::vector<std::string> uuids;
    MadeQuery gpu, app, opt, list;
    std::string optional_fields;  // asked with opt
    std::string driver_version = "580.159.04";
    std::vector<MadeProcess> processes;
    unsigned uid = 0;
    bool hidden = false;  // a container's own /proc

    std::string text() const {
        std::string out = fmt::format(
            "begin n 1\nmeta boot 1-2\nmeta uid {}\nmeta ticks 100\nmeta uptime 5000.00\nmeta shell 20\n{}",
            uid, hidden ? "meta hidden\n" : "");
        add_kernel_nodes(out);
        add_query(out, "gpu", gpu);
        add_query(out, "app", app);
        if (!optional_fields.empty()) out += "fields " + optional_fields + "\n";
        add_query(out, "opt", opt);
        add_query(out, "list", list);
        out += "done queries\n" + proc({1, "", 'S', false}) + "mount 1 m\n" + proc({20, "", 'S', false}) +
               "mount 20 m\n";
        for (const auto& process : processes) add_process(out, process);
        out +=
            uid == 0 ? "done files\ndone maps\ndone argv\n" : "done files\nblind 9\ndone maps\ndone argv\n";
        add_driver(out);
        return out + "done driver\ndone exe\nend n\n";
    }

  private:
    static std::string proc(const MadeProcess& process) {
        return fmt::format("proc {} {} {}\n", process.pid, process.pid < 100 ? 0 : 1000,
                           escape(fmt::format("{0} (x) {1} {2} {0} {0} 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {0}00",
                                              process.pid, process.state, process.pid == 1 ? 0 : 1)));
    }
    void add_kernel_nodes(std::string& out) const {
        out += "nodes\n";
        for (std::size_t i = 0; i < bus_ids.size(); ++i) out += fmt::format("node {}\n", i);
        if (!bus_ids.empty()) out += "drivers\n";
    }
    // A record for each line; a text that does not end in a newline is ended by the script's own.
    static void add_query(std::string& out, std::string_view word, const MadeQuery& query) {
        auto lines = split(query.text, '\n');
        if (lines.back().empty()) lines.pop_back();
        for (const auto line : lines) out += fmt::format("{} {}\n", word, escape(line));
        if (!query.status.empty()) out += fmt::format("tool {} {}\n", word, query.status);
    }
    void add_process(std::string& out, const MadeProcess& process) const {
        out += proc(process);
        const auto pid = process.pid;
        if (process.state == 'Z') return;
        if (uid != 0) {
            out += fmt::format("unreadable {}\n", pid);
            return;
        }
        out += fmt::format("exe {0} {1}\nexefile {0} 0 -rwxr-xr-x\nmount {0} m\nargv {0} {1}\n", pid,
                           process.exe);
        if (!process.opens) return;
        std::string files;
        for (std::size_t i = 0; i < bus_ids.size(); ++i) files += fmt::format("{},", i);
        out += fmt::format("open {0} {1}c\nmapped {0} {1}c\n", pid, files);
    }
    void add_driver(std::string& out) const {
        out += "driver version\ninfo " +
               escape("NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + driver_version) + "\n";
        for (std::size_t i = 0; i < bus_ids.size(); ++i)
            out +=
                fmt::format("driver {}\ninfo {}\ninfo {}\n", bus_ids[i], escape("GPU UUID: \t " + uuids[i]),
                            escape(fmt::format("Device Minor: \t {}", i)));
    }
};

}  // namespace cleanslate::agentless::testing
