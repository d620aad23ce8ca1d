#include "tests/fleet/launch.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

int failed_start = -1;  // in a new process until it runs its program: where a failure is told

void fresh_signals() {
    for (int number = 1; number < SIGRTMIN; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void become(const User& user) {
    if (::getuid() == user.uid) return;
    const gid_t group = user.uid;
    need(::setgroups(1, &group) == 0 && ::setgid(group) == 0 && ::setuid(user.uid) == 0,
         std::string("cannot become ") + user.name);
}

void null_streams() {
    const int null = ::open("/dev/null", O_RDWR);
    need(null >= 0, "open /dev/null");
    for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
    if (null > 2) ::close(null);
}

// One short write to the end of a file: whole lines, whoever else writes.
void register_start(pid_t pid, const std::string& name) {
    const std::string line = std::to_string(pid) + " " + name + "\n";
    const Fd file(::open(started_file().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    need(file && ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()),
         "cannot write " + started_file());
}

// A terminal whose other end the process holds itself, so that nobody hangs up.
void take_terminal() {
    const int master = ::open("/dev/ptmx", O_RDWR | O_NOCTTY);
    need(master >= 0 && ::grantpt(master) == 0 && ::unlockpt(master) == 0, "open /dev/ptmx");
    const Fd terminal(::open(::ptsname(master), O_RDWR));
    need(static_cast<bool>(terminal), "open a terminal");
}

// So that the process may go there itself, whoever it runs as: cgroup v2 wants that for all folders in
// common.
void open_cgroup(const std::string& path) {
    for (const auto& root : cgroup_roots()) {
        make_folder(root + path);
        for (std::string folder = root + path; folder.size() >= root.size(); folder = folder_of(folder))
            need(::chmod((folder + "/cgroup.procs").c_str(), 0666) == 0, "chmod of " + folder);
    }
}

[[noreturn]] void execute(const ProcessSpec& spec, const User& user) {
    std::vector<std::string> environment{
        "PATH=/usr/local/bin:/usr/bin:/bin", "SIMHOST_PROCESS=" + spec.name, std::string("USER=") + user.name,
        user.uid == 0 ? "HOME=/root" : std::string("HOME=/home/") + user.name};
    auto words = spec.argv.empty() ? std::vector<std::string>{spec.exe} : spec.argv;
    constexpr long longest = 100'000;  // the kernel takes 128 KiB for one
    for (long left = spec.padding; left > 0; left -= longest)
        words.emplace_back(static_cast<std::size_t>(std::min(left, longest)), 'x');
    std::vector<char*> argv;
    std::vector<char*> envp;
    for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    for (const auto& word : environment) envp.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    const int errors = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    null_streams();
    ::execve(spec.exe.c_str(), argv.data(), envp.data());
    ::dup2(errors, STDERR_FILENO);
    die("cannot execute " + spec.exe);
}

}  // namespace

std::string started_file() { return std::string(host_folder) + "/started"; }

std::vector<std::string> cgroup_roots() {
    std::vector<std::string> roots;
    for (const std::string folder : {"", "/unified", "/systemd", "/freezer"}) {
        const std::string root = "/sys/fs/cgroup" + folder;
        if (::access((root + "/cgroup.procs").c_str(), F_OK) == 0) roots.push_back(root);
    }
    errno = 0;
    return roots;
}

void enter_cgroup(const std::string& path) {
    for (const auto& root : cgroup_roots()) make_folder(root + path);
    join_cgroup(path);
}

void join_cgroup(const std::string& path) {
    for (const auto& root : cgroup_roots()) {
        const Fd procs(::open((root + path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
        need(procs && ::write(procs.get(), "0", 1) == 1, "cannot enter cgroup " + root + path);
    }
}

pid_t launch(const ProcessSpec& spec) {
    const User* user = find_user(spec.user);
    need(user != nullptr, "no user " + spec.user);
    int running[2];
    need(::pipe2(running, O_CLOEXEC) == 0, "pipe2");
    const Fd reader(running[0]);
    Fd writer(running[1]);
    const pid_t child = ::fork();
    need(child >= 0, "fork");
    if (child != 0) {
        writer.reset();
        register_start(child, spec.name);
        char trouble = 0;
        ssize_t got = 0;
        while ((got = ::read(reader.get(), &trouble, 1)) < 0 && errno == EINTR) {
        }
        errno = 0;
        need(got == 0, "process " + spec.name + " could not be started");
        return child;
    }
    failed_start = writer.get();
    at_death([] { (void)!::write(failed_start, "x", 1); });
    fresh_signals();
    if (!spec.cgroup.empty()) enter_cgroup(spec.cgroup);
    if (spec.own_session) ::setsid();
    if (!spec.inherits && !spec.exe.empty()) ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    if (spec.has_tty) take_terminal();
    if (spec.ignores_hangup) ::signal(SIGHUP, SIG_IGN);
    for (const auto& path : {spec.moves, spec.moves_on_term})
        if (!path.empty()) open_cgroup(path);
    become(*user);
    if (spec.exe.empty()) {
        null_streams();
        at_death(nullptr);
        return 0;
    }
    execute(spec, *user);
}

void notify_ready(const std::string& process) {
    const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = std::string(host_folder) + "/notify";
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    need(::sendto(socket.get(), process.data(), process.size(), 0, reinterpret_cast<sockaddr*>(&address),
                  sizeof address) >= 0,
         "cannot notify init");
}

}  // namespace cleanslate::simulated
