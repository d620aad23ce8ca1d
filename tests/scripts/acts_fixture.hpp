#pragma once
// What the tests of the scripts that act have in common.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "agentless/remote.hpp"
#include "tests/scripts/sandbox.hpp"

namespace cleanslate::agentless::act_tests {

using cleanslate::testing::all_shells;
using cleanslate::testing::all_tools;
using cleanslate::testing::inside;
using cleanslate::testing::Runner;
using cleanslate::testing::Sandbox;
using cleanslate::testing::Seen;

inline const std::string nonce = "0123456789abcdef0123456789abcdef";

inline std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string boot_id() {
    auto id = content("/proc/sys/kernel/random/boot_id");
    while (!id.empty() && id.back() == '\n') id.pop_back();
    return id;
}

// Whether `holds` becomes true within ten seconds.
inline bool becomes_true(const std::function<bool()>& holds) {
    for (int i = 0; i < 10'000; ++i) {
        if (holds()) return true;
        ::usleep(1000);
    }
    return holds();
}

inline bool lives(int pid) {
    const char state = Sandbox::state_of(pid);
    return state != 'X' && state != 'Z';
}

class ActScript : public ::testing::TestWithParam<Runner> {
  protected:
    void SetUp() override { SKIP_WITHOUT_SANDBOX(); }
};

inline std::string name_of(const ::testing::TestParamInfo<Runner>& info) { return info.param.name; }

inline void expect_quiet(const Seen& seen) {
    EXPECT_EQ(seen.failure, "");
    EXPECT_EQ(seen.err, "");
}

}  // namespace cleanslate::agentless::act_tests
