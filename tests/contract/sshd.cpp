#include "tests/contract/sshd.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pwd.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

constexpr const char* address = "127.0.0.77";  // all of 127.0.0.0/8 is this machine
constexpr const char* sshd_path = "/usr/sbin/sshd";

sockaddr_in socket_address(std::uint16_t port) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    inet_pton(AF_INET, address, &where.sin_addr);
    return where;
}

template <class Address>
bool answers(int family, const Address& where) {
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool connected = connect(fd, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0;
    close(fd);
    return connected;
}

// Looks every few ms, for at most 20 s, while the program runs.
template <class Condition>
void wait_until(const Program& program, const std::string& what, Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
        if (!program.running() || std::chrono::steady_clock::now() > deadline) {
            throw std::runtime_error(what + " does not answer");
        }
        std::this_thread::sleep_for(5ms);
    }
}

// Asked once: getpwuid() is not for several threads.
const std::string& user() {
    static const std::string name = getpwuid(geteuid())->pw_name;
    return name;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
    std::string pattern = "/tmp/cleanslate-test-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::string& path, const std::string& text, int mode) {
    std::ofstream(path) << text;
    chmod(path.c_str(), static_cast<mode_t>(mode));
}

std::string read_text(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::string shell(const std::string& command) {
    FILE* pipe = popen((command + " 2>&1").c_str(), "re");
    std::string printed;
    char buffer[4096];
    while (const std::size_t count = fread(buffer, 1, sizeof buffer, pipe)) printed.append(buffer, count);
    if (pclose(pipe) != 0) throw std::runtime_error(command + ": " + printed);
    return printed;
}

Program::Program(const std::vector<std::string>& arguments) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    // As the first process of a pid namespace, where root allows it: what it leaves running ends with it.
    pid_ = static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (pid_ < 0) pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int null = open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) dup2(null, fd);
    execv(argv[0], argv.data());
    _exit(127);
}

Program::~Program() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}

bool Program::running() const {
    siginfo_t ended{};
    return waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0;
}

void Program::kill_children() const {
    std::map<pid_t, pid_t> parents;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const pid_t pid = std::atoi(entry.path().filename().c_str());
        if (pid <= 0) continue;
        const std::string stat = read_text(entry.path() / "stat");
        const auto name_end = stat.rfind(')');  // "pid (name) state parent ..."
        if (name_end != std::string::npos) parents[pid] = std::atoi(stat.c_str() + name_end + 4);
    }
    for (const auto& [pid, parent] : parents) {
        pid_t above = parent;
        while (above > 1 && above != pid_) above = parents.contains(above) ? parents[above] : 0;
        if (above == pid_) kill(pid, SIGKILL);
    }
}

std::string no_sshd_here() {
    if (access(sshd_path, X_OK) != 0) return "needs /usr/sbin/sshd (package openssh-server)";
    if (access("/usr/bin/ssh-keygen", X_OK) != 0) return "needs ssh-keygen (package openssh-client)";
    if (geteuid() == 0 && mkdir("/run/sshd", 0755) != 0 && errno != EEXIST)
        return "sshd needs the folder /run/sshd";
    return {};
}

std::uint16_t free_port() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where = socket_address(0);
    socklen_t size = sizeof where;
    bind(fd, reinterpret_cast<sockaddr*>(&where), size);
    getsockname(fd, reinterpret_cast<sockaddr*>(&where), &size);
    close(fd);
    return ntohs(where.sin_port);
}

void wait_for_server(const Program& program, std::uint16_t port) {
    wait_until(program, "the server", [&] { return answers(AF_INET, socket_address(port)); });
}

std::vector<std::string> in_own_mounts(const std::string& set_up, const std::string& program) {
    return {"/usr/bin/unshare", "--mount", "/bin/sh", "-ec", set_up + "\nexec " + program};
}

namespace {

// The shell files of whoever runs the tests would be run at each login, and take what time they take. As root
// they are hidden behind an empty home.
std::string without_shell_files() {
    static const bool can = geteuid() == 0 && std::system("/usr/bin/unshare --mount true 2>/dev/null") == 0;
    return can ? std::string("mount -t tmpfs -o mode=700 none ") + getpwuid(0)->pw_dir : std::string();
}

}  // namespace

Sshd::Sshd(const std::string& settings, const std::string& set_up) : port_(free_port()) {
    make_key("host_ed25519", "-t ed25519");
    make_key("host_ecdsa", "-t ecdsa -b 256");
    make_key("client", "-t ed25519");
    authorize("client");
    write_file(file("known_hosts"),
               known_hosts_line(std::string("[") + address + "]:" + std::to_string(port_)));
    write_file(file("config"), settings + "\nListenAddress " + address + "\nPort " + std::to_string(port_) +
                                   "\nHostKey " + file("host_ed25519") + "\nHostKey " + file("host_ecdsa") +
                                   "\nAuthorizedKeysFile " + file("authorized_keys") +
                                   "\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
                                   "KbdInteractiveAuthentication no\nPermitRootLogin yes\nPrintMotd no\n"
                                   "MaxStartups 200\nMaxSessions 100\nLogLevel VERBOSE\n");
    command_ = {sshd_path, "-D", "-f", file("config"), "-E", file("log")};
    const std::string before = set_up.empty() ? without_shell_files() : set_up;
    if (!before.empty())
        command_ =
            in_own_mounts(before, fmt::format("{} -D -f {} -E {}", sshd_path, file("config"), file("log")));
    start();
}

void Sshd::start() {
    program_ = std::make_unique<Program>(command_);
    wait_for_server(*program_, port_);
}

Endpoint Sshd::endpoint() const {
    return {.name = "host", .address = address, .port = port_, .user = user(), .identity_file = {}};
}

SshOptions Sshd::options() const {
    SshOptions options;
    options.identity_files = {file("client")};
    options.known_hosts = {file("known_hosts")};
    options.home = file("home");  // which is not there
    return options;
}

std::string Sshd::make_key(const std::string& name, const std::string& arguments) const {
    const bool encrypted = arguments.find("-N ") != std::string::npos;
    shell("ssh-keygen -q " + arguments + (encrypted ? "" : " -N ''") + " -C test -f " + file(name));
    return file(name);
}

void Sshd::authorize(const std::string& name) const {
    std::ofstream(file("authorized_keys"), std::ios::app) << read_text(file(name + ".pub"));
}

std::string Sshd::known_hosts_line(const std::string& names, const std::string& host_key) const {
    return names + " " + read_text(file(host_key + ".pub"));
}

Agent::Agent() {
    program_ =
        std::make_unique<Program>(std::vector<std::string>{"/usr/bin/ssh-agent", "-D", "-a", socket()});
    sockaddr_un where{};
    where.sun_family = AF_UNIX;
    socket().copy(where.sun_path, sizeof where.sun_path - 1);
    wait_until(*program_, "ssh-agent", [&] { return answers(AF_UNIX, where); });
}

void Agent::add(const std::string& key_file) const {
    shell("SSH_AUTH_SOCK=" + socket() + " ssh-add -q " + key_file);
}

}  // namespace cleanslate::agentless::contract
