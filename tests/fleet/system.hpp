#pragma once
// Small things of the operating system that the simulated fleet needs. Its programs are single-threaded and
// short, so what must not fail ends the program with a message (die) instead of travelling up as a Result.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleanslate::simulated {

// Owns a file descriptor; -1 is none.
class Fd {
  public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        if (this != &other) reset(std::exchange(other.fd_, -1));
        return *this;
    }
    ~Fd() { reset(); }
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    int release() { return std::exchange(fd_, -1); }
    void reset(int fd = -1);

  private:
    int fd_ = -1;
};

// What die() does before it ends the process; the keeper takes its hosts down there.
void at_death(void (*last_will)());

// Prints "simhost: WHAT" (with the text of errno, where errno is set and not in the text already) and ends
// with 1.
[[noreturn]] void die(std::string_view what);

// Dies unless `ok`; for system calls whose failure nothing can repair.
inline void need(bool ok, std::string_view what) {
    if (!ok) die(what);
}

std::optional<std::string> read_file(const std::string& path);
// Creates or replaces; dies where it cannot.
void write_file(const std::string& path, std::string_view text, mode_t mode = 0644);
// Copies contents; dies where it cannot.
void copy_file(const std::string& from, const std::string& to, mode_t mode);
// Creates the folder and its parents (0755), then sets the mode of the last; dies where it cannot.
void make_folder(const std::string& path, mode_t mode = 0755);
std::string folder_of(const std::string& path);
// The folder of the running program's file: the stand-ins lie next to it.
std::string own_folder();

std::vector<std::string> split(std::string_view text, char separator);  // no empty parts
std::string trim(std::string_view text);
std::optional<long> to_number(std::string_view text);  // all of it, not negative

std::int64_t now_ns();  // CLOCK_MONOTONIC, the same on every simulated host

// The fields of /proc/PID/stat that tell processes apart.
struct Stat {
    char state = '?';
    pid_t parent = 0;
    std::uint64_t start = 0;  // field 22
    std::string comm;
};
std::optional<Stat> stat_of(pid_t pid);

// Overwrites this process's arguments (as setproctitle does) and its short name. main() remembers them first.
void remember_arguments(int argc, char** argv);
void rename_process(std::string_view arguments, const std::string& comm);

// Runs a program of the machine to its end with no input; its exit status, 255 if it could not run.
int run_program(const std::vector<std::string>& argv);

}  // namespace cleanslate::simulated
