// The command that gives one program a file of every process, where these are too many for its arguments.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/scripts/survey_fixture.hpp"

namespace cleanslate::agentless::survey_tests {
namespace {

using cleanslate::testing::inside;
using cleanslate::testing::Sandbox;
using cleanslate::testing::Seen;

namespace fs = std::filesystem;

// The survey's own function, which looks into `folder` in place of /proc.
std::string over_in(const std::string& folder) {
    const auto script = survey_script(usual(), nonce);
    const auto from = script.find("function over(");
    const auto end = script.find("\n}\n", from);
    if (from == std::string::npos || end == std::string::npos) throw std::runtime_error("no such function");
    auto text = script.substr(from, end + 3 - from);
    const auto at = text.find("cd /proc;");
    if (at == std::string::npos) throw std::runtime_error("it looks elsewhere");
    return text.replace(at, 9, "cd " + folder + ";");
}

struct Counted {
    int files = 0, last = 0;
};

Counted count(const std::string& command) {
    Counted counted;
    FILE* out = ::popen(command.c_str(), "r");
    if (out == nullptr) throw std::runtime_error("popen");
    char line[64];
    while (std::fgets(line, sizeof line, out) != nullptr)
        ++(std::string(line) == "last\n" ? counted.last : counted.files);
    ::pclose(out);
    return counted;
}

Counted cat_all(Sandbox& host, int first, int last, const std::string& limit) {
    for (int pid = first; pid <= last; ++pid) {
        const auto folder = "/run/crowd/" + std::to_string(pid);
        fs::create_directories(folder);
        std::ofstream(folder + "/stat") << pid << '\n';
    }
    host.file("/run/crowd/last", "last\n");
    host.file("/run/over.awk",
              over_in("/run/crowd") + "BEGIN { print over(\"cat\", \"\", \"/stat\", \" last\", \"\") }");
    return count("ulimit -s " + limit + "; awk -f /run/over.awk | sh");
}

void expect(int first, int last, const std::string& limit, int files, int ends) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        const auto counted = cat_all(host, first, last, limit);
        out.ids["files"] = counted.files;
        out.ids["last"] = counted.last;
    });
    ASSERT_EQ(seen.failure, "");
    EXPECT_EQ(seen.ids.at("last"), ends);
    EXPECT_EQ(seen.ids.at("files"), files);
}

class SurveyOfACrowd : public ::testing::Test {
  protected:
    void SetUp() override { SKIP_WITHOUT_SANDBOX(); }
};

TEST_F(SurveyOfACrowd, ReadsEachOnceWhereOneProgramTakesAll) { expect(1, 200, "8192", 200, 1); }

TEST_F(SurveyOfACrowd, ReadsEachOnceInGroups) { expect(1, 31'000, "1024", 31'000, 1); }

TEST_F(SurveyOfACrowd, DoesNotSayThatAllCameWhereAGroupIsTooLarge) {
    expect(1'000'000, 1'031'000, "1024", 0, 0);
}

TEST_F(SurveyOfACrowd, DoesNotSayThatAllCameWhereOneProgramCannotTakeThem) {
    expect(1, 29'000, "1024", 0, 0);
}

// What names so many links is one argument of a shell, which the kernel bounds.
TEST_F(SurveyOfACrowd, SeesADeviceBehindAChrootBesideTwoThousandProcessesThatAreShown) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        host.device("nvidia0");
        fs::create_directories("/run/jail/dev");
        if (::mknod("/run/jail/dev/nvidia1", S_IFCHR | 0600, ::makedev(1, 3)) != 0) out.failure = "mknod";
        out.ids["jailed"] = host.process([] {
            if (::chroot("/run/jail") != 0 || ::open("/dev/nvidia1", O_RDWR) < 0) ::_exit(1);
        });
        std::ofstream("/proc/sys/kernel/ns_last_pid") << 20'000;  // the longer their names are
        host.process([] {
            for (int i = 0; i < 2'100; ++i)
                if (::fork() == 0)
                    for (;;) ::pause();
        });
        auto request = everything();
        request.slack = Milliseconds(50'000);
        host.run({"sh", {"/bin/sh", "-s"}, ""}, survey_script(request, nonce), out);
    });
    ASSERT_EQ(seen.failure, "");
    const auto evidence = read(seen);
    EXPECT_GT(evidence.processes.size(), 2'100u);
    EXPECT_EQ(process(evidence, seen.ids.at("jailed")).open_minors, std::vector<int>{1});
}

}  // namespace
}  // namespace cleanslate::agentless::survey_tests
