#include "tests/scripts/sandbox.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace cleanslate::testing {
namespace {

namespace fs = std::filesystem;

void need(bool ok, const std::string& what) {
    if (!ok) throw std::runtime_error(what + ": " + std::strerror(errno));
}

std::string find_program(const std::string& name) {
    for (const char* folder : {"/usr/bin/", "/bin/", "/usr/local/bin/"})
        if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
    return {};
}

void mount_over(const std::string& path) {
    need(::mount("none", path.c_str(), "tmpfs", 0, "mode=755") == 0, "mount " + path);
}

void make_world() {
    need(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "private mounts");
    need(::mount("proc", "/proc", "proc", 0, nullptr) == 0, "mount /proc");
    mount_over("/dev");
    mount_over("/run");
    mount_over("/opt");
    mount_over("/proc/driver");
    ::umask(0);
    for (const auto& [name, number] : {std::pair{"null", 3}, std::pair{"zero", 5}})
        need(::mknod((std::string("/dev/") + name).c_str(), S_IFCHR | 0666,
                     makedev(1, static_cast<unsigned>(number))) == 0,
             "mknod");
    ::umask(022);
}

std::string read_all(int fd, int seconds) {
    std::string text;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        pollfd item{fd, POLLIN, 0};
        if (left.count() <= 0 || ::poll(&item, 1, static_cast<int>(left.count())) <= 0) return text;
        char buffer[65536];
        const auto count = ::read(fd, buffer, sizeof buffer);
        if (count <= 0) return text;
        text.append(buffer, static_cast<std::size_t>(count));
    }
}

void write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto count = ::write(fd, text.data(), text.size());
        if (count <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

// Seen as text: each field is its length and its bytes.
std::string pack(const Seen& seen) {
    std::ostringstream out;
    const auto put = [&](const std::string& text) { out << text.size() << ' ' << text; };
    put(seen.out);
    put(seen.err);
    put(seen.earlier);
    put(seen.failure);
    out << seen.milliseconds << ' ' << seen.ids.size() << ' ';
    for (const auto& [name, id] : seen.ids) {
        put(name);
        out << id << ' ';
    }
    return out.str();
}

Seen unpack(const std::string& text) {
    std::istringstream in(text);
    const auto get = [&] {
        std::size_t size = 0;
        in >> size;
        in.ignore(1);
        std::string value(in ? size : 0, '\0');
        in.read(value.data(), static_cast<std::streamsize>(value.size()));
        return value;
    };
    Seen seen;
    seen.out = get();
    seen.err = get();
    seen.earlier = get();
    seen.failure = get();
    std::size_t count = 0;
    in >> seen.milliseconds >> count;
    in.ignore(1);
    for (std::size_t i = 0; i < count && in; ++i) {
        const auto name = get();
        in >> seen.ids[name];
        in.ignore(1);
    }
    if (!in) seen.failure = "the sandbox came to no end";
    return seen;
}

[[noreturn]] void be_init(const std::function<void(Sandbox&, Seen&)>& body, int report) {
    Seen seen;
    try {
        make_world();
        Sandbox sandbox;
        sandbox.process([] { ::prctl(PR_SET_NAME, "kthreadd"); });
        body(sandbox, seen);
    } catch (const std::exception& error) {
        seen.failure = error.what();
    }
    write_all(report, pack(seen));
    ::_exit(0);
}

}  // namespace

std::string no_sandbox() {
    if (::geteuid() != 0) return "needs root: a mount and a pid namespace of its own";
    static const std::string why = inside([](Sandbox&, Seen&) {}).failure;
    return why.empty() ? "" : "no sandbox on this machine: " + why;
}

Seen inside(const std::function<void(Sandbox&, Seen&)>& body) {
    int report[2];
    need(::pipe2(report, O_CLOEXEC) == 0, "pipe");
    const pid_t outer = ::fork();
    need(outer >= 0, "fork");
    if (outer == 0) {
        // Its death, and that of this program, ends the namespace.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::unshare(CLONE_NEWNS | CLONE_NEWPID) != 0) {
            Seen seen;
            seen.failure = std::string("unshare: ") + std::strerror(errno);
            write_all(report[1], pack(seen));
            ::_exit(0);
        }
        const pid_t init = ::fork();
        if (init == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            be_init(body, report[1]);
        }
        ::close(report[1]);  // the namespace may be there for as long as something in it cannot be killed
        ::waitpid(init, nullptr, 0);
        ::_exit(0);
    }
    ::close(report[1]);
    const auto text = read_all(report[0], 60);
    ::close(report[0]);
    ::kill(outer, SIGKILL);
    ::waitpid(outer, nullptr, 0);
    return unpack(text);
}

std::vector<Runner> all_shells() {
    std::vector<Runner> found;
    for (const auto& [name, argv] :
         std::vector<std::pair<std::string, Argv>>{{"dash", {"dash"}},
                                                   {"busybox", {"busybox", "ash"}},
                                                   {"bash", {"bash"}},
                                                   {"bash_posix", {"bash", "--posix"}},
                                                   {"ksh93", {"ksh93"}},
                                                   {"mksh", {"mksh"}}}) {
        Argv shell = argv;
        shell[0] = find_program(shell[0]);
        if (shell[0].empty()) continue;
        shell.emplace_back("-s");
        found.push_back({name, shell, ""});
    }
    return found;
}

std::vector<Runner> all_tools() {
    std::vector<Runner> found;
    for (const char* tools : {"", "busybox", "gawk", "original-awk"}) {
        if (*tools != '\0' && find_program(tools).empty()) continue;
        std::string name = *tools == '\0' ? "own" : tools;
        std::ranges::replace(name, '-', '_');
        found.push_back({name + "_tools", {"/bin/sh", "-s"}, tools});
    }
    return found;
}

void Sandbox::file(const std::string& path, std::string_view text) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
    need(::chmod(path.c_str(), text.starts_with("#!") ? 0755 : 0666) == 0, "write " + path);
}

void Sandbox::nvidia_smi(const std::string& before, const std::string& apps) {
    file("/run/apps", apps);
    file("/opt/bin/nvidia-smi",
         "#!/bin/sh\n" + before +
             "\ncase $* in\n*--query-gpu=*) echo '0, GPU-00000000-1111-2222-3333-444444444444, "
             "00000000:00:06.0, 0 MiB, 143771 MiB, 30, P0, NVIDIA H200' ;;\n"
             "*--query-compute-apps=*) cat /run/apps ;;\nesac\n");
}

void Sandbox::hide(const std::string& program) {
    file("/run/nothing", "");
    ::chmod("/run/nothing", 0);
    for (const char* folder : {"/usr/bin/", "/bin/", "/usr/local/bin/"})
        if (const auto path = folder + program; ::access(path.c_str(), F_OK) == 0)
            need(::mount("/run/nothing", path.c_str(), nullptr, MS_BIND, nullptr) == 0, "hide " + path);
}

int Sandbox::process(const std::function<void()>& body) {
    int ready[2];
    need(::pipe2(ready, O_CLOEXEC) == 0, "pipe");
    const pid_t pid = ::fork();
    need(pid >= 0, "fork");
    if (pid == 0) {
        ::close(ready[0]);
        body();
        write_all(ready[1], "1");
        ::close(ready[1]);
        for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte;
    [[maybe_unused]] const auto end = ::read(ready[0], &byte, 1);
    ::close(ready[0]);
    return pid;
}

int Sandbox::program(const std::string& path, const Argv& argv, const std::function<void()>& before) {
    return process([&] {
        if (before) before();
        std::vector<char*> pointers;
        for (const auto& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
        pointers.push_back(nullptr);
        ::execv(path.c_str(), pointers.data());
        ::_exit(127);
    });
}

void Sandbox::run(const Runner& runner, const std::string& input, Seen& seen, unsigned uid, int seconds) {
    std::string path = "/usr/sbin:/usr/bin:/sbin:/bin";
    if (!runner.tools.empty()) {
        const bool busybox = runner.tools == "busybox";
        fs::create_directories("/run/tools");
        for (const char* tool :
             {"awk", "cat", "ls", "find", "grep", "tr", "sed", "sleep", "timeout", "printf", "cut"})
            if ((busybox || std::string_view(tool) == "awk") &&
                !fs::exists(std::string("/run/tools/") + tool))
                fs::create_symlink(find_program(runner.tools), std::string("/run/tools/") + tool);
        path = "/run/tools:" + path;
    }
    int in[2], out[2], err[2];
    need(::pipe2(in, O_CLOEXEC) == 0 && ::pipe2(out, O_CLOEXEC) == 0 && ::pipe2(err, O_CLOEXEC) == 0, "pipe");
    const auto began = std::chrono::steady_clock::now();
    const pid_t shell = ::fork();
    need(shell >= 0, "fork");
    if (shell == 0) {
        ::setsid();
        ::signal(SIGPIPE, SIG_DFL);
        ::dup2(in[0], 0);
        ::dup2(out[1], 1);
        ::dup2(err[1], 2);
        if (uid != 0 && (::setgid(uid) != 0 || ::setuid(uid) != 0)) ::_exit(126);
        std::vector<char*> argv;
        for (const auto& argument : runner.shell) argv.push_back(const_cast<char*>(argument.c_str()));
        argv.push_back(nullptr);
        ::setenv("PATH", path.c_str(), 1);
        ::execv(argv[0], argv.data());
        ::_exit(127);
    }
    for (const int fd : {in[0], out[1], err[1]}) ::close(fd);
    seen.ids["shell"] = shell;
    write_all(in[1], input);
    ::close(in[1]);
    seen.out = read_all(out[0], seconds);
    seen.milliseconds = static_cast<long>(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began)
            .count());
    if (seen.milliseconds >= seconds * 1000L) ::kill(-shell, SIGKILL);
    seen.err = read_all(err[0], 5);
    ::close(out[0]);
    ::close(err[0]);
    ::waitpid(shell, nullptr, 0);
}

int Sandbox::left(int allowed) const {
    const auto count = [] {
        int alive = 0;
        for (const auto& entry : fs::directory_iterator("/proc")) {
            const int pid = std::atoi(entry.path().filename().c_str());
            // What has ended and lost its parent is this init's to bury.
            if (pid > 2 && state_of(pid) != 'Z' && state_of(pid) != 'X') ++alive;
        }
        return alive;
    };
    int alive = count();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (alive > allowed && std::chrono::steady_clock::now() < deadline) {
        ::usleep(1000);
        alive = count();
    }
    return alive;
}

namespace {

// Empty when the process is gone, also when it ends while it is read (ESRCH), where iterators over the
// buffer would throw.
std::string stat_of(int pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace

std::string Sandbox::start_of(int pid) {
    const std::string text = stat_of(pid);
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    std::string field;
    for (int i = 0; i < 20; ++i) fields >> field;
    return field;
}

char Sandbox::state_of(int pid) {
    const std::string text = stat_of(pid);
    const auto at = text.rfind(')');
    return at == std::string::npos || at + 2 >= text.size() ? 'X' : text[at + 2];
}

}  // namespace cleanslate::testing
