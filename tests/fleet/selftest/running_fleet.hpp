#pragma once
// A fleet that lives as long as a test, and the shell commands that tests speak to it with.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace cleanslate::simulated {

struct Output {
    int status = 0;
    std::string out;  // standard output and error
};

// Runs a program to its end.
Output run(const std::vector<std::string>& argv);

// Descriptions that a test writes itself, in a folder that goes with it.
class Descriptions {
  public:
    Descriptions();
    ~Descriptions();
    Descriptions(const Descriptions&) = delete;
    void add(const std::string& host, const std::string& text) const;
    const std::string& folder() const { return folder_; }

  private:
    std::string folder_;
};

struct ProcessLine {
    std::string host, name;
    int pid = 0, outer = 0;
    unsigned long long start = 0;
    char state = '?';
    std::string user, command;
};

class RunningFleet {
  public:
    // Descriptions are files or folders below tests/fleet, or anywhere with an absolute path. `companion` is
    // what the fleet ends with. `many` hosts of each, where it is given, are called NAME-01...
    explicit RunningFleet(const std::vector<std::string>& descriptions, const std::string& companion = "",
                          int many = 0);
    ~RunningFleet();
    RunningFleet(const RunningFleet&) = delete;

    const std::string& folder() const { return folder_; }
    Output started() const { return started_; }
    Output down();
    // /bin/sh -c on a host, without its sshd.
    Output on(const std::string& host, const std::string& script) const;
    // nvidia-smi there.
    std::string smi(const std::string& host, const std::string& options) const;
    // Through sshd, as a user would type it.
    Output ssh(const std::string& host, const std::string& command, const std::string& user = "root") const;
    std::vector<ProcessLine> processes() const;
    // The one process of that name; a failed test and zeros where there is none.
    ProcessLine find(const std::string& host, const std::string& name) const;

  private:
    std::string folder_;
    Output started_;
};

std::string simhost();                            // the program
std::string fleet_file(const std::string& path);  // below tests/fleet
std::string corpus(const std::string& name);      // contents of a file of tests/corpus/h200

// True once `condition` holds, looked at every few milliseconds for at most 20 s.
template <class Condition>
bool comes_true(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

// True if the process with this machine-wide pid and start time is alive (no zombie).
bool lives(int outer, unsigned long long start);

bool has_fuse();
bool has_freezer();  // of cgroup v1

bool can_simulate();  // root, sshd, ssh
#define NEEDS_ROOT() \
    if (!::cleanslate::simulated::can_simulate()) GTEST_SKIP() << "simulated hosts need root, sshd and ssh"

}  // namespace cleanslate::simulated
