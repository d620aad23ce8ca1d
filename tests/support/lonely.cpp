// lonely [--ports LOW-HIGH] [--slow-dns MILLISECONDS ADDRESS] COMMAND...: runs COMMAND in a network of its
// own, of which there is the loopback alone; with so few ports to connect from; with a name server that gives
// ADDRESS for every name, so much later. As root. All of it ends with COMMAND, as COMMAND ends.

#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

void need(bool done, const char* what) {
    if (done) return;
    std::perror(what);
    std::exit(125);
}

void loopback_up() {
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    need(::ioctl(socket, SIOCSIFFLAGS, &request) == 0, "loopback");
    ::close(socket);
}

void few_ports(std::string range) {
    range.replace(range.find('-'), 1, " ");
    std::ofstream file("/proc/sys/net/ipv4/ip_local_port_range");
    file << range << std::endl;
    need(file.good(), "ports");
}

// The answer to a question for an address: the question again, and for A the address.
std::string answer_to(std::string question, in_addr address) {
    if (question.size() < 17) return "";
    const std::size_t name_end = question.find('\0', 12);
    if (name_end == std::string::npos || name_end + 5 > question.size()) return "";
    question.resize(name_end + 5);  // no further records
    const bool asks_for_ipv4 = question[name_end + 2] == 1;
    question[2] = static_cast<char>(0x81);
    question[3] = static_cast<char>(0x80);
    std::memcpy(&question[6], asks_for_ipv4 ? "\0\1\0\0\0\0" : "\0\0\0\0\0\0", 6);
    if (!asks_for_ipv4) return question;
    question += std::string("\xc0\x0c\0\1\0\1\0\0\0\0\0\4", 12);
    question.append(reinterpret_cast<const char*>(&address), sizeof address);
    return question;
}

[[noreturn]] void serve_names(int socket, std::chrono::milliseconds delay, in_addr address) {
    struct Pending {
        Clock::time_point due;
        sockaddr_in who;
        std::string answer;
    };
    std::deque<Pending> pending;
    for (;;) {
        pollfd wait{socket, POLLIN, 0};
        ::poll(&wait, 1, 5);
        if ((wait.revents & POLLIN) != 0) {
            std::array<char, 512> buffer;
            sockaddr_in who{};
            socklen_t size = sizeof who;
            const ssize_t got =
                ::recvfrom(socket, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&who), &size);
            if (got > 0)
                pending.push_back({Clock::now() + delay, who,
                                   answer_to({buffer.data(), static_cast<std::size_t>(got)}, address)});
        }
        for (; !pending.empty() && pending.front().due <= Clock::now(); pending.pop_front()) {
            const auto& [due, who, answer] = pending.front();
            ::sendto(socket, answer.data(), answer.size(), 0, reinterpret_cast<const sockaddr*>(&who),
                     sizeof who);
        }
    }
}

void slow_names(const char* delay, const char* address) {
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(53);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    need(::bind(socket, reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0, "name server");
    in_addr answer{};
    need(::inet_pton(AF_INET, address, &answer) == 1, "address");
    if (::fork() == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve_names(socket, std::chrono::milliseconds(std::atol(delay)), answer);
    }
    char file[] = "/tmp/lonely-XXXXXX";
    const int fd = ::mkstemp(file);
    const std::string text = "nameserver 127.0.0.1\noptions timeout:30 attempts:1\n";
    need(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "resolv.conf");
    ::fchmod(fd, 0644);
    ::close(fd);
    need(::mount(file, "/etc/resolv.conf", nullptr, MS_BIND, nullptr) == 0, "mount resolv.conf");
    ::unlink(file);
}

}  // namespace

int main(int argc, char** argv) {
    need(::unshare(CLONE_NEWNET | CLONE_NEWNS) == 0, "unshare");
    need(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "private mounts");
    loopback_up();
    int i = 1;
    for (; i < argc; ++i) {
        if (std::strcmp(argv[i], "--ports") == 0 && i + 1 < argc) {
            few_ports(argv[i + 1]);
            i += 1;
        } else if (std::strcmp(argv[i], "--slow-dns") == 0 && i + 2 < argc) {
            slow_names(argv[i + 1], argv[i + 2]);
            i += 2;
        } else {
            break;
        }
    }
    if (i >= argc) return 125;
    const pid_t child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::execvp(argv[i], argv + i);
        std::perror(argv[i]);
        ::_exit(127);
    }
    int status = 0;
    need(::waitpid(child, &status, 0) == child, "wait");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
