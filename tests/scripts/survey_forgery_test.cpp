// What processes choose, names of files and when they change, says nothing of other processes and runs
// nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "tests/scripts/survey_fixture.hpp"

namespace cleanslate::agentless::survey_tests {
namespace {

using cleanslate::testing::all_shells;
using cleanslate::testing::all_tools;
using cleanslate::testing::inside;
using cleanslate::testing::Sandbox;
using cleanslate::testing::Seen;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

// In place of a pid: what a shell in /proc would make a file of.
const std::string command = "$(cd ..&&cd run&&>ran)";

// Under one of its names the folder ends a line, and what is in it looks like the next one.
fs::path forged(const std::string& folder, const std::string& pid) {
    return folder + "/proc/" + pid + "/fd/9 /dev/nvidia0";
}

// A process that gives the folder a newline and takes it away again, for ever.
void keep_renaming(Sandbox& host, const std::string& plain, const std::string& other) {
    host.process([&] {
        if (::fork() != 0) return;
        for (;;) {
            std::rename(plain.c_str(), other.c_str());
            ::usleep(3);
            std::rename(other.c_str(), plain.c_str());
            ::usleep(3);
        }
    });
}

// Several surveys in a row: of the bystander none says anything, and nothing was run.
void look_again_and_again(Sandbox& host, const cleanslate::testing::Runner& runner, Seen& out) {
    for (int i = 0; i < 3; ++i) {
        Seen one;
        host.run(runner, survey_script(everything(), nonce), one);
        const auto evidence = read_survey(one.out, nonce);
        const auto* bystander = evidence ? evidence->find(out.ids["bystander"]) : nullptr;
        if (bystander != nullptr && evidence->complete && evidence->incomplete_reason.empty() &&
            bystander->open_minors.empty() && bystander->mapped_minors.empty())
            ++out.ids["well"];
        else
            out.err += one.out + one.err;
    }
    out.ids["ran"] = ::access("/run/ran", F_OK) == 0;
}

void expect_nobody_accused(const Seen& seen) {
    EXPECT_EQ(seen.failure, "");
    EXPECT_EQ(seen.ids.at("well"), 3) << seen.err;
    EXPECT_EQ(seen.ids.at("ran"), 0) << "a name became a command";
}

class SurveyForgery : public SurveyScript {};
INSTANTIATE_TEST_SUITE_P(Shells, SurveyForgery, ::testing::ValuesIn(all_shells()), name_of);
INSTANTIATE_TEST_SUITE_P(Tools, SurveyForgery, ::testing::ValuesIn(all_tools()), name_of);

TEST_P(SurveyForgery, ByOpenFilesThatAreRenamedMeanwhileAccusesNobodyElse) {
    expect_nobody_accused(inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        out.ids["bystander"] = host.process([] {});
        host.process([&] {
            for (const auto& pid : {std::to_string(out.ids["bystander"]), command}) {
                const auto path = forged("/dev/nvidiax", pid);
                fs::create_directories(path.parent_path());
                for (int i = 0; i < 400; ++i) open_file(path);
            }
        });
        keep_renaming(host, "/dev/nvidiax", "/dev/nvidia0\n");
        look_again_and_again(host, GetParam(), out);
    }));
}

TEST_P(SurveyForgery, ByExecutablesThatAreRenamedMeanwhileAccusesNobodyElse) {
    expect_nobody_accused(inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        out.ids["bystander"] = host.process([] {});
        for (const auto& pid : {std::to_string(out.ids["bystander"]), command}) {
            const auto path = forged("/run/x", pid);
            fs::create_directories(path.parent_path());
            fs::copy_file("/bin/sleep", path);
            for (int i = 0; i < 60; ++i) host.program(path, {"sleep", "1000"});
        }
        keep_renaming(host, "/run/x", "/run/x\n");
        look_again_and_again(host, GetParam(), out);
    }));
}

// Wherever one line of it is broken, what follows begins as a mapping of the bystander.
std::string mapped_path(int bystander) {
    const auto pid = std::to_string(bystander);
    std::string path = "/run/m";
    for (int i = 0; i < 13; ++i) path += "/" + std::string(250 - pid.size(), '0') + pid;
    return path + "/maps:a b c d 5 /dev/nvidia0";
}

TEST_P(SurveyForgery, ByMappedFilesBetweenOthersThatCannotBeReadAccusesNobodyElse) {
    expect_nobody_accused(inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        const auto as_user = [] {
            if (::setgid(65534) != 0 || ::setuid(65534) != 0 || ::prctl(PR_SET_DUMPABLE, 1) != 0) ::_exit(1);
        };
        out.ids["bystander"] = host.process(as_user);
        const auto path = mapped_path(out.ids["bystander"]);
        fs::create_directories(fs::path(path).parent_path());
        // What cannot be read comes behind each of them.
        for (int i = 0; i < 8; ++i) {
            host.process([&] {
                for (int n = 0; n < 20 + i; ++n) open_file(path, true);
                ::chmod(path.c_str(), 0644);
                as_user();
            });
            host.process([] {});
        }
        for (int i = 0; i < 3; ++i) {
            Seen one;
            host.run(GetParam(), survey_script(everything(), nonce), one, 65534);
            const auto evidence = read_survey(one.out, nonce);
            const auto* bystander = evidence ? evidence->find(out.ids["bystander"]) : nullptr;
            if (bystander != nullptr && evidence->complete && bystander->mapped_minors.empty())
                ++out.ids["well"];
            else
                out.err += one.out + one.err;
        }
        out.ids["ran"] = 0;
    }));
}

}  // namespace
}  // namespace cleanslate::agentless::survey_tests
