#pragma once
// A child process with pipes at its standard streams. Knows no Asio.

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.hpp"

namespace cleanslate::agentless {

// A file descriptor that is closed with its owner.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor();
    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }

  private:
    int fd_ = -1;
};

// How a child ended.
struct ChildEnd {
    std::optional<int> exit_status;
    std::string exit_signal;  // "KILL"; empty where it exited
};

// `/bin/sh -c command` in a process group of its own. Not copied, not moved: its destructor kills the group
// with KILL and reaps the child, or leaves it to reap_later() where it does not die at once.
class ChildProcess {
  public:
    // Errors have kind "refused".
    static Result<std::unique_ptr<ChildProcess>> start(const std::string& command);
    // With one stream at both its input and its output; `in` and `out` stay empty. Errors as above.
    static Result<std::unique_ptr<ChildProcess>> start_on(const std::string& command, Descriptor stream);
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    pid_t pid() const { return pid_; }
    void kill_group() const;
    // Absent while it still runs.
    std::optional<ChildEnd> try_reap();

    Descriptor in, out, err;  // our ends of its streams, not blocking
    Descriptor ended;         // pidfd: readable once the child has ended

  private:
    ChildProcess() = default;
    Status launch(const std::string& command, Descriptor in, Descriptor out, Descriptor err);
    pid_t pid_ = -1;  // -1: reaped
};

}  // namespace cleanslate::agentless
