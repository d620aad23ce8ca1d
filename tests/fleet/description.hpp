#pragma once
// A simulated host as its small file describes it; README.md has the format.

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace cleanslate::simulated {

// Where a host keeps what its init, workers and nvidia-smi share.
inline constexpr const char* host_folder = "/run/simhost";

struct MigInstance {
    std::string profile;  // "1g.18gb"
    std::string uuid;
    int gpu_instance = 0;
    int compute_instance = 0;
};

struct Gpu {
    int index = 0;  // nvidia-smi's
    int minor = 0;  // the N of /dev/nvidiaN
    std::string uuid;
    std::string bus_id;        // as nvidia-smi prints it: 00000000:18:00.0
    std::string state = "ok";  // ok, requires-reset, lost, unknown-error, inforom, remap-pending
    long idle_mib = 0;         // used without any process, counted as nobody's
    std::string reset = "ok";  // what --gpu-reset says: ok, in-use, unsupported, primary, hangs, fails
    std::map<std::string, std::string> fields;  // cells that are not as usual, by the field's name
    std::vector<MigInstance> instances;         // not empty: MIG mode is on
    // Who knows it: /sys/bus/pci, /proc/driver/nvidia/gpus, the rows of a query, -L.
    bool on_pci = true;
    bool in_driver = true;
    bool has_row = true;
    bool is_listed = true;
};

// A device in /sys/bus/pci beside the GPUs above.
struct PciDevice {
    std::string bus_id;        // as sysfs has it: 0000:5e:00.0
    std::string vendor;        // 0x10de
    std::string device_class;  // 0x030200
    std::string driver;        // empty: none
    bool is_function = false;  // a virtual function: it has a physfn link
};

// A file below /dev/shm.
struct ShmSpec {
    std::string name;
    long bytes = 0;
    std::string owner;
    long age_s = 0;
    std::string process;  // who has it open or mapped; empty: nobody
    bool mapped = false;  // mapped and closed again
};

// A session of logind's: /run/systemd/sessions/ID.
struct SessionSpec {
    std::string id;
    std::string user;
    bool alive = true;  // else closing: who logged in has left
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
    std::vector<std::pair<int, int>> instances;  // GPU index, MIG device: has their capability files open
    bool ignores_term = false;
    long term_ms = 0;       // ends so long after SIGTERM
    std::string rename;     // overwrites comm and argv
    long restart_ms = -1;   // its parent starts it again so long after its end; -1: never
    bool inherits = false;  // gets the parent's device files
    bool own_session = true;
    bool reaps = true;
    bool wedged = false;           // once set up it is in state D for ever, whatever the signal
    std::string unreadable;        // "maps" or "cmdline": who reads that file of it never comes back,
    bool freezes_readers = false;  // and not even SIGKILL ends the reader
    bool ignores_hangup = false;   // as under nohup
    bool has_tty = false;          // a terminal of its own
    bool mps = false;              // ends when MPS is quit
    bool only_mapped = false;      // closes its device files again and keeps the mappings
    std::string passes_to;         // process that gets its device files over a socket
    long teardown_ms = 0;          // from its end on it is in state D for so long while its memory shrinks
    bool frozen = false;           // in a frozen cgroup: in state D, and SIGKILL does nothing
    long refill = 0;               // so many copies without a parent, each replaced when it ends
    bool forks_on_term = false;    // SIGTERM: a copy of it in a session of its own goes on, and it ends
    std::string moves_on_term;     // SIGTERM: goes to that cgroup and a session of its own, and lives on
    std::string moves;             // goes to that cgroup and a session of its own once it is set up
    long padding = 0;              // bytes of arguments beyond argv
    std::string ends;              // "killed" or "exit": right after its children were started; empty: stays
    std::string expect;            // after a clear: ended, same, returns; empty: nothing is expected
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
    std::string driver = "ok";  // README.md lists them
    std::string driver_version = "580.159.04";
    std::vector<std::string> smi_lacks;  // fields that this nvidia-smi does not know
    long smi_status = -1;                // its exit status, whatever it printed; -1: as it should be
    std::string hang_on;                 // a field, or -L: nvidia-smi hangs when it is asked for that
    std::vector<PciDevice> pci_extras;
    std::vector<std::string> sshd;                 // lines of its sshd_config, before all others
    std::map<std::string, std::string> inventory;  // its variables there, besides how it is reached
    long slow_ms = 0;                              // every nvidia-smi takes so long
    long release_ms = 150;                         // from a process's end until its memory is free
    std::string shell = "/bin/bash";  // root's; a relative path names a file next to the description
    std::string bashrc;               // root's .bashrc: a file next to the description
    bool container = false;           // without kthreadd, as in a container's own /proc
    bool nvswitch = true;             // on PCI, where there are GPUs
    bool systemd = true;              // /run/systemd is there
    std::vector<SessionSpec> sessions;
    std::vector<ShmSpec> shm;
    std::map<std::string, std::string>
        managed;                // unit, container or job -> stop-fails, stop-hangs, start-fails
    long reboot_ms = 300;       // sshd is away for so long
    std::string reboot = "ok";  // or never, same (comes back with the same boot id), fails
    bool unreachable = false;   // has an address, and nothing listens there
    std::vector<Gpu> gpus;
    std::vector<ProcessSpec> processes;
    std::string text;    // the description itself
    std::string folder;  // where relative paths begin

    const ProcessSpec* find(std::string_view process) const;
    // Its clock is so many seconds ahead of the machine's: the files below /dev/shm are as old as they
    // should.
    long clock_ahead_s() const;
    bool needs_wedge() const;
    bool needs_freezer() const;
};

// Reads a description. `file` is for messages ("file:line: ..."), kind "simhost".
Result<Host> parse_host(std::string_view text, const std::string& file, const std::string& name);

// Indexes of GPUs that were reset since the description was written, one a line.
std::string reset_file();

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
