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
#include "tests/fleet/managed.hpp"
#include "tests/fleet/reboot.hpp"
#include "tests/fleet/surroundings.hpp"
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
        listen_on(notices_, std::string(host_folder) + "/notify");
        listen_on(requests_, control_socket());
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
    static void listen_on(Fd& socket, const std::string& path) {
        socket.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        need(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
             "bind " + path);
        need(::chmod(path.c_str(), 0666) == 0, "chmod " + path);
    }

    void start(const ProcessSpec& spec) {
        const pid_t pid = launch(spec);
        running_[pid] = &spec;
        for (const auto& session : host_.sessions)
            if (spec.name == "login-" + session.id) write_session(session, pid);
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
                          {wedge_ ? wedge_->requests() : -1, POLLIN, 0},
                          {requests_.get(), POLLIN, 0}};
        std::int64_t next = ledger_.next_look();
        for (const auto when : {wedge_ ? wedge_->next_answer() : 0, back_at_})
            if (when != 0 && (next == 0 || when < next)) next = when;
        if (!restarts_.empty() && (next == 0 || restarts_.begin()->first < next))
            next = restarts_.begin()->first;
        if (catch_readers() && (next == 0 || next > now_ns() + catch_every_ns))
            next = now_ns() + catch_every_ns;
        const auto left = next == 0 ? -1 : std::max<std::int64_t>(0, (next - now_ns() + 999'999) / 1'000'000);
        if (::poll(items, 5, static_cast<int>(left)) < 0 && errno != EINTR) die("poll");
        // The ledger first: it notes the moment at which memory lost its owner.
        const bool files_changed = items[2].revents != 0;
        if (files_changed)
            ledger_.on_event();
        else if (ledger_.next_look() != 0 && ledger_.next_look() <= now_ns())
            ledger_.on_time();
        if (wedge_) wedge_->serve();
        if (items[0].revents != 0) reap();
        if (items[1].revents != 0) read_notices();
        if (files_changed) look_for_sshd();
        restart_due();
        if (items[4].revents != 0) read_requests();
        if (back_at_ != 0 && now_ns() >= back_at_) reboot();
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
            if (spec->restart_ms >= 0 && back_at_ == 0 && !is_stopped(*spec))
                restarts_.emplace(now_ns() + spec->restart_ms * 1'000'000, spec);
            if (!spec->ends.empty() && waited_for_.erase(spec->name) > 0) report_when_ready();
        }
    }

    void read_notices() {
        char name[256];
        for (ssize_t got = 0; (got = ::recv(notices_.get(), name, sizeof name, 0)) > 0;)
            is_ready(std::string(name, static_cast<std::size_t>(got)));
    }

    bool is_stopped(const ProcessSpec& spec) const {
        return std::any_of(stopped_.begin(), stopped_.end(), [&](const auto& one) {
            return is_managed_by(spec.cgroup, one.first, one.second);
        });
    }

    // What the stand-ins of systemd and others want of the one who starts things.
    void read_requests() {
        char text[512];
        sockaddr_un from{};
        socklen_t length = sizeof from;
        for (ssize_t got = 0; (got = ::recvfrom(requests_.get(), text, sizeof text, 0,
                                                reinterpret_cast<sockaddr*>(&from), &length)) > 0;
             length = sizeof from) {
            const auto words = split(std::string_view(text, static_cast<std::size_t>(got)), ' ');
            if (words[0] == "reboot" && back_at_ == 0) {
                note_boot("away");
                back_at_ = now_ns();
                restarts_.clear();
            } else if (words.size() == 3) {
                manage(words[0], words[1], words[2]);
            }
            if (::sendto(requests_.get(), "ok", 2, 0, reinterpret_cast<sockaddr*>(&from), length) < 0)
                errno = 0;
        }
        errno = 0;
    }

    void manage(const std::string& verb, const std::string& kind_word, const std::string& name) {
        for (const auto kind : {Managed::unit, Managed::container, Managed::job}) {
            if (to_word(kind) != kind_word) continue;
            if (verb == "stop") stopped_.emplace(kind, name);
            std::erase_if(restarts_,
                          [&](const auto& due) { return is_managed_by(due.second->cgroup, kind, name); });
            if (verb == "start" && stopped_.erase({kind, name}) > 0)
                for (const auto& spec : host_.processes)
                    if (spec.parent.empty() && spec.ends.empty() && is_managed_by(spec.cgroup, kind, name))
                        start(spec);
        }
    }

    // First everything ends, then nobody is there for a while, then what is started at boot comes.
    void reboot() {
        if (!is_down_) {
            if (wedge_) wedge_.reset();
            if (host_.needs_freezer()) thaw("/sys/fs/cgroup/freezer/frozen");
            if (!end_everything()) {
                back_at_ = now_ns() + 5'000'000;
                return;
            }
            is_down_ = true;
            begin_anew(host_);
            back_at_ = now_ns() + (host_.reboot == "never" ? 86'400'000 : host_.reboot_ms) * 1'000'000;
            return;
        }
        is_down_ = false;
        back_at_ = 0;
        running_.clear();
        stopped_.clear();
        if (host_.needs_wedge()) wedge_.emplace();
        for (const auto& spec : host_.processes)
            if (spec.parent.empty() && spec.restart_ms >= 0) start(spec);
        waited_for_.insert(sshd_.name);
        start(sshd_);
    }

    void look_for_sshd() {
        if (waited_for_.contains("sshd") && !read_file("/run/sshd.pid").value_or("").empty())
            is_ready("sshd"), note_boot("back");
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
    Fd children_, notices_, requests_;
    std::map<pid_t, const ProcessSpec*> running_;
    std::multimap<std::int64_t, const ProcessSpec*> restarts_;
    std::set<std::string> waited_for_;
    std::set<std::pair<Managed, std::string>> stopped_;
    std::int64_t back_at_ = 0;  // while it reboots: when to go on with that
    bool is_down_ = false;
    bool reported_ = false;
};

}  // namespace

void run_init(const Host& host, const Luggage& luggage, int report) {
    furnish(host, luggage);
    rename_process("/sbin/init", "systemd");
    need(::chdir("/") == 0, "chdir /");
    enter_cgroup("/init.scope");
    if (host.needs_freezer()) make_frozen_cgroup();
    for (const auto& session : host.sessions)
        if (!session.alive) write_session(session, 0);
    Init(host, report).run();
}

}  // namespace cleanslate::simulated
