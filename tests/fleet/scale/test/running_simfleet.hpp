#pragma once
// A simfleet that lives as long as a test.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

class RunningSimfleet {
  public:
    // Returns when it listens, at a free port; a failed test where it does not come up. `options` beside
    // FOLDER and
    // --port.
    explicit RunningSimfleet(const std::vector<std::string>& options);
    ~RunningSimfleet();
    RunningSimfleet(const RunningSimfleet&) = delete;

    const std::string& folder() const { return folder_; }
    std::string file(const std::string& name) const { return folder_ + "/" + name; }
    int port() const { return port_; }
    // Ends it by the end of its standard input; its served.json.
    std::string stop();

  private:
    std::string folder_;
    int port_ = 0;
    pid_t pid_ = -1;
    Fd input_;
};

}  // namespace cleanslate::simulated
