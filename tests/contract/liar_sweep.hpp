#pragma once
// A check of servers that lie, as the program does it: one sweep of the engine over SSH.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "agentless/engine.hpp"
#include "agentless/ssh/ssh_transport.hpp"
#include "tests/contract/sshd.hpp"
#include "tests/liar/liar.hpp"

namespace cleanslate::agentless::contract {

class LiarSweep {
  public:
    LiarSweep();

    // A further host. Its key is in known_hosts.
    liar::Liar& add(const std::string& name, liar::Hook hook, liar::Output output = liar::clean_survey);
    // Checks all of them at once.
    SweepResult run();
    // For a server of the test's own behind `listener`: its key is then the one that is known.
    Endpoint endpoint_of(int listener, const liar::Key& key);

    // For every phase until a session is there, and for the survey: what is not to take so long must not be
    // near it on a slow machine.
    std::chrono::milliseconds patience = std::chrono::seconds(5);
    int threads = 2;
    SshOptions options;
    std::string file(const std::string& name) const { return folder_.path(name); }

  private:
    TemporaryFolder folder_;
    std::vector<HostTask> tasks_;
    std::vector<std::unique_ptr<liar::Liar>> liars_;
};

}  // namespace cleanslate::agentless::contract
