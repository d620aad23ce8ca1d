// Whom a survey means: a pid that is given away while it looks must not lend one process's files to another.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "agentless/remote.hpp"
#include "tests/scripts/sandbox.hpp"

namespace cleanslate::agentless {
namespace {

using cleanslate::testing::inside;
using cleanslate::testing::Runner;
using cleanslate::testing::Sandbox;
using cleanslate::testing::Seen;

const std::string nonce = "0123456789abcdef0123456789abcdef";

// `find` as it is, but when it has looked, the process of /run/holder ends and a bystander gets its pid.
constexpr const char* find_and_swap =
    "#!/bin/sh\n"
    "/run/real-find \"$@\"\n"
    "[ ! -e /run/swapped ] || exit 0\n"
    ": >/run/swapped\n"
    "read -r pid </run/holder\n"
    "kill -KILL \"$pid\"\n"
    "while [ -e /proc/$pid ]; do :; done\n"
    "sleep 0.05\n"
    "echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid\n"
    "sleep 1000 </dev/null >/dev/null 2>&1 &\n"
    "echo $! >/run/bystander\n";

int number_in(const std::string& file) {
    int number = 0;
    std::ifstream(file) >> number;
    return number;
}

// Opens a device file in a child that is reaped at once when it ends.
void hold_a_gpu() {
    ::signal(SIGCHLD, SIG_IGN);
    const pid_t holder = ::fork();
    if (holder == 0) {
        if (::open("/dev/nvidia0", O_RDWR) < 0) ::_exit(1);
        std::ofstream("/run/open") << 1;
        for (;;) ::pause();
    }
    while (!std::filesystem::exists("/run/open")) ::usleep(1000);
    std::ofstream("/run/holder") << holder << "\n";
}

TEST(SurveyIdentity, OfAPidThatIsGivenAwayMeanwhileIsThatOfTheOneThatHadTheFilesOpen) {
    SKIP_WITHOUT_SANDBOX();
    std::string start;
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        host.device("nvidia0");
        std::filesystem::copy_file("/usr/bin/find", "/run/real-find");
        host.file("/run/find", find_and_swap);
        if (::mount("/run/find", "/usr/bin/find", nullptr, MS_BIND, nullptr) != 0) out.failure = "mount";
        host.process(hold_a_gpu);
        out.ids["holder"] = number_in("/run/holder");
        out.ids["start"] = std::stoi(Sandbox::start_of(out.ids["holder"]));
        ::usleep(50'000);  // start times count hundredths of a second
        host.run({"sh", {"/bin/sh", "-s"}, ""}, survey_script({}, nonce), out);
        out.ids["bystander"] = number_in("/run/bystander");
    });
    ASSERT_EQ(seen.failure, "");
    ASSERT_EQ(seen.ids.at("bystander"), seen.ids.at("holder")) << "the pid was not given away";
    const auto evidence = read_survey(seen.out, nonce);
    ASSERT_TRUE(evidence && evidence->complete) << seen.out;
    const auto* process = evidence->find(seen.ids.at("holder"));
    ASSERT_NE(process, nullptr) << seen.out;
    EXPECT_TRUE(process->opens_device());
    EXPECT_EQ(process->key.start, static_cast<std::uint64_t>(seen.ids.at("start")))
        << "a signal would end the bystander";
}

// Opens a device file in a process whose first thread then ends: its stat says zombie, its /proc/PID/fd is
// empty.
int headless_holder(Sandbox& host) {
    const int pid = host.process([] {
        ::close_range(3, ~0U, 0);  // what the sandbox waits at
        if (::open("/dev/nvidia3", O_RDWR) < 0) ::_exit(1);
        std::thread([] {
            for (;;) ::pause();
        }).detach();
        ::syscall(SYS_exit, 0);
    });
    while (Sandbox::state_of(pid) != 'Z') ::usleep(1000);
    return pid;
}

TEST(SurveyIdentity, OfAProcessWhoseFirstThreadHasEndedIsStillThatOfAHolder) {
    SKIP_WITHOUT_SANDBOX();
    for (const char* tools : {"", "busybox"}) {
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            host.nvidia_smi();
            host.device("nvidia3");
            out.ids["holder"] = headless_holder(host);
            host.run({"sh", {"/bin/sh", "-s"}, tools}, survey_script({}, nonce), out);
        });
        ASSERT_EQ(seen.failure, "");
        const auto evidence = read_survey(seen.out, nonce);
        ASSERT_TRUE(evidence && evidence->complete) << seen.out;
        const auto* process = evidence->find(seen.ids.at("holder"));
        const bool seen_open = process != nullptr && process->opens_device() && process->state != 'Z';
        EXPECT_TRUE(seen_open || !evidence->holders_visible) << tools << seen.out;
        if (*tools == '\0') {
            EXPECT_TRUE(seen_open && evidence->holders_visible) << seen.out;
        }
    }
}

TEST(SurveyIdentity, OfADeviceFileBehindAChrootIsThatOfADeviceAndNotOfAFileOfThatName) {
    SKIP_WITHOUT_SANDBOX();
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        host.device("nvidia0");
        std::filesystem::create_directories("/run/jail/dev");
        if (::mknod("/run/jail/dev/nvidia1", S_IFCHR | 0600, ::makedev(1, 3)) != 0) out.failure = "mknod";
        host.file("/run/decoy/dev/nvidia1", "bait");
        out.ids["jailed"] = host.process([] {
            if (::chroot("/run/jail") != 0 || ::open("/dev/nvidia1", O_RDWR) < 0) ::_exit(1);
        });
        out.ids["baited"] = host.process([] {
            if (::open("/run/decoy/dev/nvidia1", O_RDONLY) < 0) ::_exit(1);
        });
        host.run({"sh", {"/bin/sh", "-s"}, ""}, survey_script({}, nonce), out);
    });
    ASSERT_EQ(seen.failure, "");
    const auto evidence = read_survey(seen.out, nonce);
    ASSERT_TRUE(evidence && evidence->complete) << seen.out;
    const auto* jailed = evidence->find(seen.ids.at("jailed"));
    ASSERT_NE(jailed, nullptr) << seen.out;
    EXPECT_EQ(jailed->open_minors, std::vector<int>{1});
    EXPECT_EQ(evidence->find(seen.ids.at("baited")), nullptr) << "it only reads a user's file";
}

}  // namespace
}  // namespace cleanslate::agentless
