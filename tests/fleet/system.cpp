#include "tests/fleet/system.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cleanslate::simulated {

namespace {
void (*last_will)() = nullptr;
char* arguments_begin = nullptr;
char* arguments_end = nullptr;
}  // namespace

void Fd::reset(int fd) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
}

void at_death(void (*will)()) { last_will = will; }

void die(std::string_view what) {
    std::string line = "simhost: " + std::string(what);
    if (errno != 0) line += std::string(": ") + std::strerror(errno);
    line += "\n";
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) errno = 0;
    if (last_will != nullptr) std::exchange(last_will, nullptr)();
    ::_exit(1);
}

std::optional<std::string> read_file(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return std::nullopt;
    std::string text;
    char buffer[16384];
    while (true) {
        const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::nullopt;
        if (got == 0) return text;
        text.append(buffer, static_cast<std::size_t>(got));
    }
}

void write_file(const std::string& path, std::string_view text, mode_t mode) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
    need(static_cast<bool>(file), "cannot write " + path);
    while (!text.empty()) {
        const ssize_t put = ::write(file.get(), text.data(), text.size());
        if (put < 0 && errno == EINTR) continue;
        need(put > 0, "cannot write " + path);
        text.remove_prefix(static_cast<std::size_t>(put));
    }
    need(::fchmod(file.get(), mode) == 0, "chmod " + path);
}

void copy_file(const std::string& from, const std::string& to, mode_t mode) {
    const auto text = read_file(from);
    need(text.has_value(), "cannot read " + from);
    write_file(to, *text, mode);
}

void make_folder(const std::string& path, mode_t mode) {
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
        if (::mkdir(path.substr(0, slash).c_str(), 0755) != 0 && errno != EEXIST) die("mkdir " + path);
    if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) die("mkdir " + path);
    need(::chmod(path.c_str(), mode) == 0, "chmod " + path);
    errno = 0;
}

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string own_folder() {
    char path[PATH_MAX];
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
    need(length > 0, "readlink /proc/self/exe");
    return folder_of(std::string(path, static_cast<std::size_t>(length)));
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto end = text.find(separator);
        const auto part = text.substr(0, end);
        if (!part.empty()) parts.emplace_back(part);
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return parts;
}

std::string trim(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

std::optional<long> to_number(std::string_view text) {
    long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

std::int64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::optional<Stat> stat_of(pid_t pid) {
    const auto text = read_file("/proc/" + std::to_string(pid) + "/stat");
    if (!text) return std::nullopt;
    const auto open = text->find('(');
    const auto close = text->rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
    const auto fields = split(std::string_view(*text).substr(close + 1), ' ');
    if (fields.size() < 20) return std::nullopt;
    Stat stat;
    stat.comm = text->substr(open + 1, close - open - 1);
    stat.state = fields[0][0];
    stat.parent = static_cast<pid_t>(to_number(fields[1]).value_or(0));
    stat.start = static_cast<std::uint64_t>(to_number(fields[19]).value_or(0));
    return stat;
}

void remember_arguments(int argc, char** argv) {
    arguments_begin = argv[0];
    arguments_end = argv[argc - 1] + std::strlen(argv[argc - 1]);
}

void rename_process(std::string_view arguments, const std::string& comm) {
    const auto room = static_cast<std::size_t>(arguments_end - arguments_begin);
    std::memset(arguments_begin, 0, room);
    std::memcpy(arguments_begin, arguments.data(), std::min(arguments.size(), room));
    ::prctl(PR_SET_NAME, comm.c_str());
}

int run_program(const std::vector<std::string>& argv) {
    const pid_t child = ::fork();
    need(child >= 0, "fork");
    if (child == 0) {
        std::vector<char*> words;
        for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
        words.push_back(nullptr);
        const int null = ::open("/dev/null", O_RDONLY);
        ::dup2(null, STDIN_FILENO);
        ::execvp(words[0], words.data());
        ::_exit(255);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 255;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

}  // namespace cleanslate::simulated
