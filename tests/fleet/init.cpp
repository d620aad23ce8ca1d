#include "tests/fleet/init.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>

#include "tests/fleet/freezer.hpp"
#include "tests/fleet/gpu_memory.hpp"
#include "tests/fleet/launch.hpp"
#include "tests/fleet/system.hpp"
#include "tests/fleet/wedge.hpp"

namespace cleanslate::simulated {
namespace {

constexpr std::int64_t catch_every_ns = 20'000'000;

ProcessSpec sshd_spec() {
    ProcessSpec spec;
    spec.name = "sshd";
    spec.exe = "/usr/sbin/sshd";
    spec.argv = {"/usr/sbin/sshd", "-D", "-f", "/run/simhost/sshd_config", "-E", "/var/log/sshd.log"};
    spec.cgroup = "/system.slice/ssh.service";
    return spec;
}

class Init {
  public:
    Init(const Host& host, int report) : host_(host), report_(report), ledger_(host), sshd_(sshd_spec()) {
        sigset_t signals;
        ::sigemptyset(&signals);
        ::sigaddset(&signals, SIGCHLD);
        ::sigprocmask(SIG_BLOCK, &signals, nullptr);
        children_.reset(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
        need(static_cast<bool>(children_), "signalfd");
        listen_for_notices();
        if (host.needs_wedge()) wedge_.emplace();
        // sshd writes its pid file after it has begun to listen. The ledger's descriptor watches for that
        // too: a user has 128 of them by default, and a fleet many hosts.
        need(::inotify_add_watch(ledger_.events(), "/run", IN_CLOSE_WRITE) >= 0, "inotify_add_watch");
    }

    [[noreturn]] void run() {
        for (const auto& spec : host_.processes) {
            waited_for_.insert(spec.name);
            if (spec.parent.empty()) start(spec);
        }
        waited_for_.insert(sshd_.name);
        start(sshd_);
        while (true) wait_for_something();
    }

  private:
    void listen_for_notices() {
        notices_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::string path = std::string(host_folder) + "/notify";
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        need(::bind(notices_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
             "bind " + path);
        need(::chmod(path.c_str(), 0666) == 0, "chmod " + path);
    }

    void start(const ProcessSpec& spec) {
        const pid_t pid = launch(spec);
        running_[pid] = &spec;
        if (!spec.plays_a_part() && &spec != &sshd_) is_ready(spec.name);
    }

    void is_ready(const std::string& name) {
        const ProcessSpec* spec = host_.find(name);
        // What ends by itself is ready when it has been reaped.
        if (spec != nullptr && spec->parent.empty() && !spec->ends.empty()) return;
        waited_for_.erase(name);
        report_when_ready();
    }

    void report_when_ready() {
        if (reported_ || !waited_for_.empty()) return;
        reported_ = true;
        need(::write(report_, "ready", 5) == 5, "cannot report");
        ::close(report_);
    }

    void wait_for_something() {
        pollfd items[] = {{children_.get(), POLLIN, 0},
                          {notices_.get(), POLLIN, 0},
                          {ledger_.events(), POLLIN, 0},
                          {wedge_ ? wedge_->requests() : -1, POLLIN, 0}};
        std::int64_t next = ledger_.next_look();
        if (!restarts_.empty() && (next == 0 || restarts_.begin()->first < next))
            next = restarts_.begin()->first;
        if (catch_readers() && (next == 0 || next > now_ns() + catch_every_ns))
            next = now_ns() + catch_every_ns;
        const auto left = next == 0 ? -1 : std::max<std::int64_t>(0, (next - now_ns() + 999'999) / 1'000'000);
        if (::poll(items, 4, static_cast<int>(left)) < 0 && errno != EINTR) die("poll");
        // The ledger first: it notes the moment at which memory lost its owner.
        const bool files_changed = items[2].revents != 0;
        if (files_changed)
            ledger_.on_event();
        else if (ledger_.next_look() != 0 && ledger_.next_look() <= now_ns())
            ledger_.on_time();
        if (items[3].revents != 0) wedge_->serve();
        if (items[0].revents != 0) reap();
        if (items[1].revents != 0) read_notices();
        if (files_changed) look_for_sshd();
        restart_due();
    }

    // True where somebody is to be caught, so that it is to be looked again soon.
    bool catch_readers() const {
        bool any = false;
        for (const auto& [pid, spec] : running_) {
            if (!spec->freezes_readers) continue;
            freeze_readers(pid);
            any = true;
        }
        return any;
    }

    void reap() {
        signalfd_siginfo signal{};
        while (::read(children_.get(), &signal, sizeof signal) > 0) {
        }
        int status = 0;
        for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
            const auto found = running_.find(ended);
            if (found == running_.end()) continue;
            const ProcessSpec* spec = found->second;
            running_.erase(found);
            if (!reported_ && spec->ends.empty())
                die("process " + spec->name + " ended before the host was ready");
            if (spec->restart_ms >= 0) restarts_.emplace(now_ns() + spec->restart_ms * 1'000'000, spec);
            if (!spec->ends.empty() && waited_for_.erase(spec->name) > 0) report_when_ready();
        }
    }

    void read_notices() {
        char name[256];
        for (ssize_t got = 0; (got = ::recv(notices_.get(), name, sizeof name, 0)) > 0;)
            is_ready(std::string(name, static_cast<std::size_t>(got)));
    }

    void look_for_sshd() {
        if (waited_for_.contains("sshd") && !read_file("/run/sshd.pid").value_or("").empty())
            is_ready("sshd");
        errno = 0;
    }

    void restart_due() {
        while (!restarts_.empty() && restarts_.begin()->first <= now_ns()) {
            const ProcessSpec* spec = restarts_.begin()->second;
            restarts_.erase(restarts_.begin());
            start(*spec);
        }
    }

    const Host& host_;
    int report_;
    Ledger ledger_;
    std::optional<Wedge> wedge_;
    const ProcessSpec sshd_;
    Fd children_, notices_;
    std::map<pid_t, const ProcessSpec*> running_;
    std::multimap<std::int64_t, const ProcessSpec*> restarts_;
    std::set<std::string> waited_for_;
    bool reported_ = false;
};

}  // namespace

void run_init(const Host& host, const Luggage& luggage, int report) {
    furnish(host, luggage);
    rename_process("/sbin/init", "systemd");
    need(::chdir("/") == 0, "chdir /");
    enter_cgroup("/init.scope");
    if (host.needs_freezer()) make_frozen_cgroup();
    Init(host, report).run();
}

}  // namespace cleanslate::simulated
