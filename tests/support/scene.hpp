#pragma once
// Evidence made by hand, for tests that read like transcripts: scene(8).holder(812, 2, 76107_MiB).evidence().

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "agentless/evidence.hpp"

namespace cleanslate::agentless::testing {

inline std::string uuid_of(int gpu) { return fmt::format("GPU-00000000-1111-2222-3333-{:012}", gpu); }
inline std::string bus_of(int gpu) { return fmt::format("00000000:{:02x}:00.0", gpu + 0x10); }

class Scene {
  public:
    explicit Scene(int gpus) {
        e_.complete = true;
        e_.boot_id = "11111111-2222-3333-4444-555555555555";
        e_.root = true;
        e_.clock_ticks = 100;
        e_.gpu_query.exit_status = 0;
        e_.app_query.exit_status = 0;
        e_.holders_visible = true;
        e_.driver_gpus.emplace();
        e_.device_minors.emplace();
        for (int i = 0; i < gpus; ++i) add_gpu(i);
        add(1, 0, "systemd", "/usr/lib/systemd/systemd");
        add(500, 1, "sshd", "/usr/sbin/sshd");
        add(501, 500, "sh", "/usr/bin/dash");
        e_.session_ancestors = {501, 500, 1};
    }

    // An ordinary process of alice with every device file open and `mib` on one GPU.
    Scene& holder(Pid pid, int gpu, std::int64_t mib, Pid parent = 1, const std::string& comm = "python3") {
        Process& p = add(pid, parent, comm, "/usr/bin/python3.11", 1000, "alice");
        open_all(p);
        e_.apps.push_back({pid, uuid_of(gpu), Mebibytes{mib}, "/usr/bin/python3.11"});
        *e_.gpus[static_cast<std::size_t>(gpu)].used += Mebibytes{mib};
        return *this;
    }
    // Has the device files open and no context.
    Scene& opener(Pid pid, Pid parent = 1) {
        open_all(add(pid, parent, "python3", "/usr/bin/python3.11", 1000, "alice"));
        return *this;
    }
    Scene& process(Pid pid, Pid parent, const std::string& comm) {
        add(pid, parent, comm, "/usr/bin/python3.11", 1000, "alice");
        return *this;
    }
    // Memory without anybody who holds it, as in the moment after a kill.
    Scene& used(int gpu, std::int64_t mib) {
        *e_.gpus[static_cast<std::size_t>(gpu)].used += Mebibytes{mib};
        return *this;
    }
    Scene& ghost(Pid pid, int gpu, std::int64_t mib) {
        e_.apps.push_back({pid, uuid_of(gpu), Mebibytes{mib}, "[Not Found]"});
        return used(gpu, mib);
    }
    // PCI and `nvidia-smi -L` show what the driver and the rows show.
    Scene& everywhere() {
        e_.pci_gpus.emplace();
        e_.listed.emplace();
        e_.list_query.exit_status = 0;
        e_.optional_query.exit_status = 0;
        for (const auto& row : e_.gpus) {
            e_.pci_gpus->push_back({row.bus_id, "nvidia"});
            e_.listed->push_back({row.index.value_or(0), row.name, row.uuid, {}});
        }
        return *this;
    }
    // A root daemon of the system with every device file open and mapped.
    Scene& daemon(Pid pid, const std::string& exe) {
        Process& p = add(pid, 1, exe.substr(exe.rfind('/') + 1).substr(0, 15), exe);
        p.cgroup = "/system.slice/daemon.service";
        open_all(p);
        return *this;
    }
    // What the driver lists, and no more.
    Scene& listed(Pid pid, int gpu, std::int64_t mib, const std::string& name = "/usr/bin/python3.11") {
        e_.apps.push_back({pid, uuid_of(gpu), Mebibytes{mib}, name});
        return *this;
    }
    Scene& in_cgroup(Pid pid, std::string path) {
        get(pid).cgroup = std::move(path);
        return *this;
    }
    Scene& state(Pid pid, char state) {
        get(pid).state = state;
        return *this;
    }
    Process& get(Pid pid) {
        for (auto& p : e_.processes)
            if (p.key.pid == pid) return p;
        std::abort();
    }
    Evidence& evidence() { return e_; }

  private:
    void add_gpu(int i) {
        GpuRow row;
        row.index = i;
        row.uuid = uuid_of(i);
        row.bus_id = bus_of(i);
        row.used = Mebibytes{0};
        row.total = Mebibytes{143771};
        row.name = "NVIDIA H200";
        row.cells = {fmt::format("{}", i), row.uuid, row.bus_id, "0 MiB", "143771 MiB", "35", "P0", row.name};
        e_.gpus.push_back(row);
        e_.driver_gpus->push_back({row.bus_id, row.uuid, i});
        e_.device_minors->push_back(i);
    }
    Process& add(Pid pid, Pid parent, const std::string& comm, const std::string& exe, std::uint32_t uid = 0,
                 const std::string& user = "root") {
        Process p;
        p.key = {pid, static_cast<std::uint64_t>(pid) * 10};
        p.parent = parent;
        p.session = pid;
        p.state = 'S';
        p.uid = uid;
        p.user = user;
        p.comm = comm;
        p.exe = exe;
        p.exe_owner = 0;
        p.exe_writable_by_others = false;
        p.host_mount_ns = true;
        p.argv = std::vector<std::string>{exe, "serve.py"};
        p.cgroup = uid == 0 ? "/system.slice/ssh.service" : "/user.slice/user-1000.slice/session-3.scope";
        p.age_s = 4000;
        p.fds_readable = p.maps_readable = true;
        e_.processes.push_back(p);
        return e_.processes.back();
    }
    void open_all(Process& p) {
        if (e_.driver_gpus)
            for (const auto& gpu : *e_.driver_gpus) p.open_minors.push_back(gpu.minor.value_or(0));
        else if (e_.device_minors)
            p.open_minors = *e_.device_minors;
        p.mapped_minors = p.open_minors;
        p.opens_control = p.maps_control = true;
    }

    Evidence e_;
};

}  // namespace cleanslate::agentless::testing
