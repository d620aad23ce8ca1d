#pragma once
// A simulated host as its small file describes it; README.md has the format.

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace cleanslate::simulated {

// Where a host keeps what its init, workers and nvidia-smi share.
inline constexpr const char* host_folder = "/run/simhost";

struct Gpu {
    int index = 0;  // nvidia-smi's
    int minor = 0;  // the N of /dev/nvidiaN
    std::string uuid;
    std::string bus_id;        // as nvidia-smi prints it: 00000000:18:00.0
    std::string state = "ok";  // ok, requires-reset, lost, unknown-error, inforom, remap-pending
    long idle_mib = 0;         // used without any process, counted as nobody's
};

enum class Devices { none, control, monitor, cuda };

struct ProcessSpec {
    std::string name;
    std::string exe;  // below /opt, /usr/local/bin or /home: a copy of simworker; else a program of
                      // the machine; empty: the parent forks and does not exec
    std::vector<std::string> argv;  // empty: exe
    std::string user = "root";
    std::string cgroup;                        // empty: the parent's, a login session's for a child of init
    std::string parent;                        // name of another process; empty: the host's init
    std::vector<std::pair<int, long>> memory;  // GPU index, MiB as the driver lists it
    Devices devices = Devices::none;
    bool ignores_term = false;
    long term_ms = 0;       // ends so long after SIGTERM
    std::string rename;     // overwrites comm and argv
    long restart_ms = -1;   // its parent starts it again so long after its end; -1: never
    bool inherits = false;  // gets the parent's device files
    bool own_session = true;
    bool reaps = true;
    bool wedged = false;  // once set up it is in state D for ever, whatever the signal
    std::string ends;     // "killed" or "exit": right after its children were started; empty: stays
    std::string expect;   // after a clear: ended, same, returns; empty: nothing is expected
    // Runs simworker, which can do all of the above and says when it is set up.
    bool plays_a_part() const;
};

struct Host {
    std::string name;
    std::string about;
    std::string expect;   // verdict after a clear
    std::string mention;  // words that the report on this host must have
    std::string model = "NVIDIA H200";
    long total_mib = 143771;
    std::string driver = "ok";        // ok, hang, wedged, not-loaded, mismatch, nvml-unknown, no-devices,
                                      // no-library, missing (no nvidia-smi)
    long slow_ms = 0;                 // every nvidia-smi takes so long
    long release_ms = 150;            // from a process's end until its memory is free
    std::string shell = "/bin/bash";  // root's; a relative path names a file next to the description
    std::string bashrc;               // root's .bashrc: a file next to the description
    bool container = false;           // without kthreadd, as in a container's own /proc
    bool unreachable = false;         // has an address, and nothing listens there
    std::vector<Gpu> gpus;
    std::vector<ProcessSpec> processes;
    std::string text;    // the description itself
    std::string folder;  // where relative paths begin

    const ProcessSpec* find(std::string_view process) const;
    bool needs_wedge() const;
};

// Reads a description. `file` is for messages ("file:line: ..."), kind "simhost".
Result<Host> parse_host(std::string_view text, const std::string& file, const std::string& name);

// The host that this program runs on, from host_folder; dies where there is none.
Host this_host();

struct User {
    const char* name;
    uid_t uid;
};
// The accounts of every simulated host, whatever the machine has.
const std::vector<User>& users();
const User* find_user(std::string_view name);

}  // namespace cleanslate::simulated
