#pragma once
// A freezer cgroup (v1) of a test's own. What is frozen in it is in state D, and not even SIGKILL ends it, as
// with a wedged driver. However the test ends, a keeper process ends what is in there, thaws it and removes
// the cgroup.

#include <sys/types.h>

#include <string>

namespace cleanslate::testing {

class Freezer {
  public:
    Freezer();
    ~Freezer();
    Freezer(const Freezer&) = delete;
    Freezer& operator=(const Freezer&) = delete;

    // Shell text: the process PID goes in and stays as it is. With $$ the shell freezes itself, there and
    // then.
    std::string freeze(const std::string& pid) const;
    // One that is frozen, as a process of the caller's pid namespace.
    pid_t frozen() const;

  private:
    std::string folder_;
    pid_t keeper_ = 0;
};

// Empty where the machine has such a freezer, else why not.
std::string no_freezer();

}  // namespace cleanslate::testing

#define SKIP_WITHOUT_FREEZER() \
    if (const auto why = cleanslate::testing::no_freezer(); !why.empty()) GTEST_SKIP() << why
