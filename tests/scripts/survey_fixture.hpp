#pragma once
// What the tests of the survey script have in common.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "agentless/remote.hpp"
#include "tests/scripts/sandbox.hpp"

namespace cleanslate::agentless::survey_tests {

inline const std::string nonce = "0123456789abcdef0123456789abcdef";

inline SurveyRequest usual() {
    SurveyRequest request;
    request.budget = Milliseconds(20'000);
    return request;
}

inline SurveyRequest hasty(int slack_ms) {
    SurveyRequest request;
    request.budget = Milliseconds(1'000);
    request.slack = Milliseconds(slack_ms);
    return request;
}

inline SurveyRequest everything() {
    auto request = usual();
    request.all_processes = true;
    return request;
}

inline Evidence read_text(const std::string& out) {
    auto evidence = read_survey(out, nonce);
    EXPECT_TRUE(evidence.has_value()) << out;
    if (!evidence) return {};
    EXPECT_EQ(evidence->incomplete_reason, "") << out;
    return *evidence;
}

inline Evidence read(const cleanslate::testing::Seen& seen) {
    EXPECT_EQ(seen.failure, "");
    EXPECT_EQ(seen.err, "");
    return read_text(seen.out);
}

inline const Process& process(const Evidence& evidence, int pid) {
    static const Process nobody;
    const auto* found = evidence.find(pid);
    EXPECT_NE(found, nullptr) << "no process " << pid;
    return found == nullptr ? nobody : *found;
}

inline void open_file(const std::string& path, bool map = false) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
    if (fd < 0) ::_exit(1);
    if (map && ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) ::_exit(1);
}

class SurveyScript : public ::testing::TestWithParam<cleanslate::testing::Runner> {
  protected:
    void SetUp() override { SKIP_WITHOUT_SANDBOX(); }
};

class Survey : public ::testing::Test {
  protected:
    void SetUp() override { SKIP_WITHOUT_SANDBOX(); }
    const cleanslate::testing::Runner sh{"sh", {"/bin/sh", "-s"}, ""};
};

inline std::string name_of(const ::testing::TestParamInfo<cleanslate::testing::Runner>& info) {
    return info.param.name;
}

}  // namespace cleanslate::agentless::survey_tests
