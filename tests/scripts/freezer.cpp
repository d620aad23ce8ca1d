#include "tests/scripts/freezer.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace cleanslate::testing {
namespace {

constexpr const char* root = "/sys/fs/cgroup/freezer";

void clean_up(const std::string& folder) {
    for (int i = 0; i < 5'000; ++i) {
        std::ifstream list(folder + "/cgroup.procs");
        int pid = 0;
        bool empty = true;
        while (list >> pid) {
            ::kill(pid, SIGKILL);
            empty = false;
        }
        std::ofstream(folder + "/freezer.state") << "THAWED";
        if (empty && ::rmdir(folder.c_str()) == 0) return;
        ::usleep(1000);
    }
}

// Waits for TERM, which is blocked, and which also comes when the test is gone.
[[noreturn]] void keep(const std::string& folder, pid_t test, const sigset_t& term) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    int signal = 0;
    if (::getppid() == test) ::sigwait(&term, &signal);
    clean_up(folder);
    ::_exit(0);
}

}  // namespace

Freezer::Freezer() {
    static int count = 0;
    folder_ =
        std::string(root) + "/cleanslate-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
    if (::mkdir(folder_.c_str(), 0755) != 0)
        throw std::runtime_error("mkdir " + folder_ + ": " + std::strerror(errno));
    sigset_t term, before;
    ::sigemptyset(&term);
    ::sigaddset(&term, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &term, &before);
    const pid_t test = ::getpid();
    keeper_ = ::fork();
    if (keeper_ == 0) keep(folder_, test, term);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

Freezer::~Freezer() {
    if (keeper_ <= 0) {
        clean_up(folder_);
        return;
    }
    ::kill(keeper_, SIGTERM);
    ::waitpid(keeper_, nullptr, 0);
}

std::string Freezer::freeze(const std::string& pid) const {
    return "echo " + pid + " >" + folder_ + "/cgroup.procs; echo FROZEN >" + folder_ + "/freezer.state";
}

pid_t Freezer::frozen() const {
    std::ifstream list(folder_ + "/cgroup.procs");
    pid_t pid = 0;
    list >> pid;
    return pid;
}

std::string no_freezer() {
    if (::geteuid() != 0) return "needs root: a freezer cgroup of its own";
    if (::access(root, F_OK) != 0) return std::string("this machine has no freezer cgroup (v1) at ") + root;
    try {
        const Freezer freezer;
        const auto state = freezer.freeze("x");
        return ::access(state.substr(state.rfind('>') + 1).c_str(), W_OK) == 0
                   ? ""
                   : "the freezer cgroup has no state file";
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace cleanslate::testing
