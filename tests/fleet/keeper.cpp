#include "tests/fleet/keeper.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "tests/fleet/cgroups.hpp"
#include "tests/fleet/init.hpp"

namespace cleanslate::simulated {
namespace {

constexpr std::int64_t start_limit_ns = 60'000'000'000;

// One keeper a process: what die() takes down.
Fleet* kept = nullptr;
std::unique_ptr<FleetCgroups> cgroups;
std::string programs;  // the folder with the programs of the hosts

Fd pidfd_of(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

void remove_folder(const std::string& folder) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
}

void take_down_kept() {
    if (kept == nullptr) return;
    if (cgroups) cgroups->thaw();
    for (const auto& member : kept->members)
        if (member.init > 0) ::kill(member.init, SIGKILL);
    // An init can be reaped only after all of its host's processes have been; its kthreadd is our child.
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    errno = 0;
    if (cgroups) cgroups->remove();
    const std::string folder = kept->folder;
    ::umount2((folder + "/cgroup").c_str(), MNT_DETACH);
    // The log tells why a start failed, and `up` reads it then.
    for (const char* name : {"hosts", "cgroup"}) remove_folder(folder + "/" + name);
    for (const char* name :
         {"key", "key.pub", "known_hosts", "ssh_config", "inventory.yaml", "hosts.tsv", "keeper"})
        ::unlink((folder + "/" + name).c_str());
    kept = nullptr;
}

struct Starting {
    Fd go;  // closed by the keeper once the child is in its cgroups
    Fd ready;
};

Luggage pack(const Fleet& fleet, const Member& member) {
    const std::string own = fleet.folder + "/hosts/" + member.host.name;
    make_folder(own + "/stage");
    return {own + "/stage",    programs,       read_file(fleet.folder + "/key.pub").value_or(""),
            own + "/host_key", member.address, fleet.port};
}

// In the new process: waits for its cgroups, then becomes the host.
[[noreturn]] void become_host(const Fleet& fleet, const Member& member, Fd go, int report) {
    at_death(nullptr);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    char nothing = 0;
    if (::read(go.get(), &nothing, 1) != 1) ::_exit(1);  // the keeper died
    need(::unshare(CLONE_NEWCGROUP) == 0, "unshare the cgroup namespace");
    const Luggage luggage = pack(fleet, member);
    run_init(member.host, luggage, report);
}

// A host of its own has kthreadd as pid 2, without a parent: that tells it from a container. Here it is a
// process that is put into the pid namespace from outside. Its first process waits meanwhile.
void start_kthreadd(const Member& member) {
    const Fd init = pidfd_of(member.init);
    const Fd own = pidfd_of(::getpid());
    need(init && own && ::setns(init.get(), CLONE_NEWPID) == 0, "cannot enter the pid namespace");
    const pid_t child = ::fork();
    need(child >= 0, "fork");
    if (child == 0) {
        at_death(nullptr);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        need(::setns(init.get(), CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC) == 0, "cannot enter the host");
        ::close_range(0, ~0U, 0);
        rename_process("", "kthreadd");
        while (true) ::pause();
    }
    need(::setns(own.get(), CLONE_NEWPID) == 0, "cannot return to the pid namespace");
    cgroups->add(member.host.name, child);
}

Starting start_host(const Fleet& fleet, Member& member) {
    int go[2];
    int ready[2];
    need(::pipe2(go, O_CLOEXEC) == 0 && ::pipe2(ready, O_CLOEXEC) == 0, "pipe2");
    constexpr unsigned long spaces = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC;
    const auto child =
        static_cast<pid_t>(::syscall(SYS_clone, spaces | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    need(child >= 0, "cannot create namespaces (root is needed)");
    if (child == 0) {
        ::close(go[1]);
        ::close(ready[0]);
        become_host(fleet, member, Fd(go[0]), ready[1]);
    }
    ::close(go[0]);
    ::close(ready[1]);
    member.init = child;
    cgroups->add(member.host.name, child);
    if (!member.host.container) start_kthreadd(member);
    Starting starting{Fd(go[1]), Fd(ready[0])};
    need(::write(starting.go.get(), "g", 1) == 1, "write");
    return starting;
}

void start_all(Fleet& fleet) {
    std::vector<std::pair<Member*, Starting>> starting;
    for (auto& member : fleet.members)
        if (!member.host.unreachable) starting.emplace_back(&member, start_host(fleet, member));
    const auto deadline = now_ns() + start_limit_ns;
    for (auto& [member, pipes] : starting) {
        char text[8];
        pollfd item{pipes.ready.get(), POLLIN, 0};
        const int left = static_cast<int>(std::max<std::int64_t>(0, (deadline - now_ns()) / 1'000'000));
        need(::poll(&item, 1, left) == 1, "host " + member->host.name + " did not become ready in time");
        const ssize_t got = ::read(pipes.ready.get(), text, sizeof text);
        errno = 0;
        need(got == 5, "host " + member->host.name + " did not start");
        member->start = stat_of(member->init).value_or(Stat{}).start;
    }
}

bool make_private() { return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0; }

// From now on this process sees the mounts, and nobody sees what it mounts. Where it was started in a chroot,
// whose root is no mount, that folder becomes the root of the namespace: whoever enters a host comes there.
void leave_mounts() {
    const Fd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    need(root && ::unshare(CLONE_NEWNS) == 0, "unshare the mount namespace (root is needed)");
    if (make_private()) return;
    const Fd space(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
    need(space && ::setns(space.get(), CLONE_NEWNS) == 0 && make_private(), "cannot make mounts private");
    std::error_code error;
    const auto path =
        std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(root.get()), error).string();
    need(!error && ::mount(path.c_str(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0,
         "cannot mount the root of this chroot");
    need(::chdir(path.c_str()) == 0 && ::syscall(SYS_pivot_root, ".", ".") == 0 &&
             ::umount2(".", MNT_DETACH) == 0 && ::chdir("/") == 0,
         "cannot leave this chroot");
    errno = 0;
}

void own_mounts(const Fleet& fleet) {
    leave_mounts();
    make_folder(fleet.folder + "/cgroup");
    need(::mount("simhost", (fleet.folder + "/cgroup").c_str(), "tmpfs", MS_NOSUID, "mode=0755") == 0,
         "cannot mount a tmpfs");
    cgroups = std::make_unique<FleetCgroups>(fleet.folder + "/cgroup",
                                             "simulated-fleet-" + std::to_string(::getpid()));
}

Fd end_signals() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, number);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    Fd arrivals(::signalfd(-1, &signals, SFD_CLOEXEC));
    need(static_cast<bool>(arrivals), "signalfd");
    return arrivals;
}

}  // namespace

void keep(Fleet fleet, pid_t companion, int report) {
    const Fd end = end_signals();
    const Fd companion_end = companion > 0 ? pidfd_of(companion) : Fd();
    need(companion == 0 || companion_end, "the process to live along with is gone");
    kept = &fleet;
    at_death(take_down_kept);
    programs = own_folder();
    own_mounts(fleet);
    const Fd network = choose_network(fleet);
    make_keys(fleet);
    start_all(fleet);
    write_file(
        fleet.folder + "/keeper",
        std::to_string(::getpid()) + " " + std::to_string(stat_of(::getpid()).value_or(Stat{}).start) + "\n");
    write_fleet_files(fleet);
    need(::write(report, "ready", 5) == 5, "cannot report");
    ::close(report);
    pollfd items[] = {{end.get(), POLLIN, 0}, {companion_end.get(), POLLIN, 0}};
    while (::poll(items, 2, -1) < 0 && errno == EINTR) {
    }
    const std::string folder = fleet.folder;
    take_down_kept();
    remove_folder(folder);
    ::_exit(0);
}

// What a killed keeper leaves: its hosts are dying, its cgroups and files are there.
static void take_down_orphaned(const Fleet& fleet, pid_t keeper) {
    leave_mounts();
    need(::mount("simhost", (fleet.folder + "/cgroup").c_str(), "tmpfs", MS_NOSUID, "mode=0755") == 0,
         "cannot mount a tmpfs");
    FleetCgroups left(fleet.folder + "/cgroup", "simulated-fleet-" + std::to_string(keeper));
    left.thaw();
    for (const auto& member : fleet.members) {
        const Fd init = pidfd_of(member.init);
        const auto stat = stat_of(member.init);
        if (!init || !stat || stat->start != member.start) continue;
        ::syscall(SYS_pidfd_send_signal, init.get(), SIGKILL, nullptr, 0);
        pollfd gone{init.get(), POLLIN, 0};
        // Not for ever: its kthreadd, now a child of the machine's first process, has to be reaped before.
        ::poll(&gone, 1, 10'000);
    }
    left.remove();
    ::umount2((fleet.folder + "/cgroup").c_str(), MNT_DETACH);
    remove_folder(fleet.folder);
}

void take_down(const std::string& folder) {
    const auto keeper = read_keeper(folder);
    errno = 0;
    need(keeper.has_value(), folder + " holds no fleet");
    const Fleet fleet = read_fleet(folder);
    const Fd process = pidfd_of(keeper->pid);
    const auto stat = stat_of(keeper->pid);
    if (!process || !stat || stat->start != keeper->start || stat->state == 'Z')
        return take_down_orphaned(fleet, keeper->pid);
    need(::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0) == 0,
         "cannot signal the keeper");
    pollfd gone{process.get(), POLLIN, 0};
    while (::poll(&gone, 1, -1) < 0 && errno == EINTR) {
    }
    // It may have been killed a moment ago.
    if (::access((folder + "/keeper").c_str(), F_OK) == 0) take_down_orphaned(fleet, keeper->pid);
    errno = 0;
    need(::access(folder.c_str(), F_OK) != 0, folder + " is still there");
}

}  // namespace cleanslate::simulated
