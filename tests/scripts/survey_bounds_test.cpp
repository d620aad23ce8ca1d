// What bounds a survey: things that hang, transfers that are cut, processes that come and go.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/scripts/survey_fixture.hpp"

namespace cleanslate::agentless::survey_tests {
namespace {

using cleanslate::testing::all_shells;
using cleanslate::testing::all_tools;
using cleanslate::testing::inside;
using cleanslate::testing::Runner;
using cleanslate::testing::Sandbox;
using cleanslate::testing::Seen;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What hangs on the shell alone.
class SurveyInShell : public SurveyScript {};
INSTANTIATE_TEST_SUITE_P(Shells, SurveyInShell, ::testing::ValuesIn(all_shells()), name_of);

// What hangs on awk: some end where a read fails, as of a process that ends between open and read.
class SurveyWithTools : public SurveyScript {};
INSTANTIATE_TEST_SUITE_P(Tools, SurveyWithTools, ::testing::ValuesIn(all_tools()), name_of);

TEST_P(SurveyWithTools, GoesOnBehindAFileWhoseReadFails) {
    for (const char* file : {"stat", "status", "cgroup", "maps"}) {
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            host.nvidia_smi();
            host.device("nvidia0");
            out.ids["first"] = host.process([] { open_file("/dev/nvidia0"); });
            const int failing = host.process([] {});
            out.ids["mapper"] = host.process([] { open_file("/dev/nvidia0", true); });
            const auto path = "/proc/" + std::to_string(failing) + "/" + file;
            // It can be opened, and reading its beginning is an error.
            if (::mount("/proc/1/mem", path.c_str(), nullptr, MS_BIND, nullptr) != 0)
                throw std::runtime_error("mount");
            host.run(GetParam(), survey_script(everything(), nonce), out);
        });
        EXPECT_EQ(seen.failure, "");
        const auto evidence = read_survey(seen.out, nonce);
        ASSERT_TRUE(evidence.has_value()) << seen.out;
        EXPECT_TRUE(evidence->complete);
        EXPECT_THAT(process(*evidence, seen.ids.at("first")).open_minors, ElementsAre(0)) << file;
        EXPECT_THAT(process(*evidence, seen.ids.at("mapper")).mapped_minors, ElementsAre(0)) << file;
    }
}

TEST_P(SurveyWithTools, ShowsTheControlGroupsOfV2AndSystemdAndOneLineForEachOtherPath) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        out.ids["worker"] = host.process([] {});
        host.file("/run/groups",
                  "9:memory:/slurm/job_7\n8:cpu,cpuacct:/slurm/job_7\n7:pids:/user.slice\n"
                  "1:name=systemd:/user.slice/session-4.scope\n0::/a:b\n");
        const auto path = "/proc/" + std::to_string(out.ids["worker"]) + "/cgroup";
        if (::mount("/run/groups", path.c_str(), nullptr, MS_BIND, nullptr) != 0)
            throw std::runtime_error("mount");
        host.run(GetParam(), survey_script(everything(), nonce), out);
    });
    const auto worker = seen.ids.at("worker");
    EXPECT_NE(seen.out.find("\ncgroup " + std::to_string(worker) +
                            " 1:name=systemd:/user.slice/session-4.scope%0a0::/a:b%0a"
                            "9:memory:/slurm/job_7%0a7:pids:/user.slice%0a\n"),
              std::string::npos)
        << seen.out;
    EXPECT_EQ(process(read(seen), worker).cgroup, "/slurm/job_7");
}

TEST_P(SurveyWithTools, SeesAllWhoLiveOnWhileOthersComeAndGo) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        host.device("nvidia0");
        out.ids["worker"] = host.process([] { open_file("/dev/nvidia0", true); });
        host.process([] {
            for (int i = 0; i < 20; ++i)
                if (::fork() == 0)
                    for (;;) {
                        const auto child = ::fork();
                        if (child == 0) {
                            ::usleep(5'000);
                            ::_exit(0);
                        }
                        ::waitpid(child, nullptr, 0);
                    }
        });
        auto request = everything();
        request.slack = Milliseconds(50'000);  // a machine under load is no reason to cut it
        for (int i = 0; i < 3; ++i) {
            Seen one;
            host.run(GetParam(), survey_script(request, nonce), one);
            const auto evidence = read_survey(one.out, nonce);
            const auto* worker = evidence ? evidence->find(out.ids["worker"]) : nullptr;
            if (evidence && evidence->incomplete_reason.empty() && worker != nullptr)
                ++out.ids["whole"];
            else
                out.err +=
                    fmt::format("{} after {} ms\n{}\n", evidence ? evidence->incomplete_reason : "none",
                                one.milliseconds, one.err);
        }
    });
    EXPECT_EQ(seen.failure, "");
    EXPECT_EQ(seen.ids.at("whole"), 3) << seen.err;
}

TEST_P(SurveyInShell, EndsInTimeWhenNvidiaSmiDoesNot) {
    for (const bool with_timeout : {true, false}) {
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            host.nvidia_smi("trap '' TERM HUP INT\nwhile :; do sleep 1000; done");
            host.device("nvidia0");
            out.ids["worker"] = host.process([] { open_file("/dev/nvidia0"); });
            if (!with_timeout) host.hide("timeout");
            host.run(GetParam(), survey_script(hasty(20'000), nonce), out);
        });
        const auto evidence = read(seen);
        EXPECT_TRUE(evidence.complete);
        EXPECT_TRUE(evidence.gpu_query.timed_out);
        EXPECT_FALSE(evidence.gpu_query.exit_status.has_value());
        EXPECT_FALSE(evidence.app_query.exit_status.has_value());
        EXPECT_THAT(process(evidence, seen.ids.at("worker")).open_minors, ElementsAre(0));
        EXPECT_GE(seen.milliseconds, 900);
        EXPECT_LT(seen.milliseconds, 15'000);
    }
}

// The KILL comes before the survey is cut: it is nvidia-smi that did not answer, and nothing is left of it. A
// machine that stalls in this second has the survey cut, and it is tried again.
TEST_P(SurveyInShell, NamesAnNvidiaSmiThatIgnoresTermAlsoWhereTimeIsShort) {
    bool named = false;
    for (int i = 0; i < 5 && !named; ++i) {
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            host.nvidia_smi("trap '' TERM HUP INT\nwhile :; do sleep 1000; done");
            host.run(GetParam(), survey_script(hasty(3'000), nonce), out);
            out.ids["left"] = host.left();
        });
        ASSERT_EQ(seen.failure, "");
        const auto evidence = read_survey(seen.out, nonce);
        named = evidence && evidence->gpu_query.timed_out && evidence->cuts.empty();
        EXPECT_EQ(seen.ids.at("left"), 0);
    }
    EXPECT_TRUE(named);
}

TEST_P(SurveyInShell, GivesUpOnAnNvidiaSmiThatNoSignalEnds) {
    if (::access("/usr/bin/setpriv", X_OK) != 0) GTEST_SKIP() << "needs setpriv";
    for (const bool with_timeout : {true, false}) {
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            // It becomes root's, and the survey is an ordinary user's: as little to be ended as in state D.
            std::filesystem::copy_file("/usr/bin/setpriv", "/run/become-root");
            if (::chmod("/run/become-root", 04755) != 0) throw std::runtime_error("chmod");
            host.nvidia_smi("exec /run/become-root --reuid 0 --clear-groups sleep 1000");
            if (!with_timeout) host.hide("timeout");
            auto request = hasty(20'000);
            request.budget = Milliseconds(3'000);  // time enough to become root's, also under load
            host.run(GetParam(), survey_script(request, nonce), out, 65534);
            out.ids["left"] = host.left(1);
        });
        const auto evidence = read(seen);
        EXPECT_TRUE(evidence.complete);
        EXPECT_TRUE(evidence.gpu_query.timed_out);
        EXPECT_THAT(evidence.cuts, IsEmpty());
        EXPECT_LT(seen.milliseconds, 20'000);
        EXPECT_EQ(seen.ids.at("left"), 1) << "all but the one that cannot be ended";
    }
}

TEST_P(SurveyInShell, EndsInTimeWhenAReaderDoesNot) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        host.device("nvidia0");
        out.ids["worker"] = host.process([] { open_file("/dev/nvidia0"); });
        // Opening this waits for a writer that never comes.
        host.file("/proc/driver/nvidia/gpus/0000:00:06.0/x", "");
        if (::mkfifo("/proc/driver/nvidia/gpus/0000:00:06.0/information", 0600) != 0)
            throw std::runtime_error("fifo");
        host.run(GetParam(), survey_script(hasty(4'000), nonce), out);
        ::kill(out.ids["worker"], SIGKILL);
        out.ids["left"] = host.left();
    });
    const auto evidence = read(seen);
    EXPECT_TRUE(evidence.complete);
    EXPECT_THAT(evidence.cuts, ElementsAre("driver", "exe"));
    EXPECT_FALSE(evidence.holders_visible);
    EXPECT_EQ(evidence.gpus.size(), 1u);
    EXPECT_THAT(process(evidence, seen.ids.at("worker")).open_minors, ElementsAre(0));
    EXPECT_LT(seen.milliseconds, 20'000);
    EXPECT_EQ(seen.ids.at("left"), 0);
}

TEST_P(SurveyInShell, RunsNothingWhenTheTransferIsCut) {
    const auto script = survey_script(usual(), nonce);
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi("echo ran >/run/ran");
        std::string all;
        for (std::size_t size = 1; size<script.size() - 1; size += size> script.size() - 12 ? 1 : 997) {
            host.run(GetParam(), script.substr(0, size), out);
            all += out.out;
        }
        out.out = all;
        out.err.clear();
        out.ids["ran"] = ::access("/run/ran", F_OK) == 0;
    });
    EXPECT_EQ(seen.failure, "");
    EXPECT_EQ(seen.out, "");
    EXPECT_EQ(seen.ids.at("ran"), 0);
}

TEST_F(Survey, StartsNoOtherNvidiaSmiBesideOneThatHangsInTheKernel) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi("echo ran >/run/ran");
        int report[2];
        if (::pipe(report) != 0) return;
        // Until the child of a vfork ends, its parent is in state D.
        host.process([&] {
            const int child = ::fork();
            if (child != 0) return;
            ::prctl(PR_SET_NAME, "nvidia-smi");
            const int self = ::getpid();
            if (::write(report[1], &self, sizeof self) != sizeof self) ::_exit(1);
            if (::vfork() == 0)
                for (;;) ::pause();
        });
        if (::read(report[0], &out.ids["stuck"], sizeof(int)) != sizeof(int)) return;
        while (Sandbox::state_of(out.ids["stuck"]) != 'D') ::usleep(1000);
        host.run(sh, survey_script(hasty(20'000), nonce), out);
        out.ids["ran"] = ::access("/run/ran", F_OK) == 0;
    });
    const auto evidence = read(seen);
    EXPECT_THAT(evidence.stuck, ElementsAre(seen.ids.at("stuck")));
    EXPECT_TRUE(evidence.gpu_query.timed_out);
    EXPECT_EQ(process(evidence, seen.ids.at("stuck")).state, 'D');
    EXPECT_EQ(seen.ids.at("ran"), 0);
}

TEST_F(Survey, NamesTheProcessWhoseFilesAFrozenReaderHasOpen) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        // Stops where the maps are read: as a reader that hangs there, with the file open.
        host.file("/run/tools/awk", "#!/bin/sh\nexec 9</proc/1/maps\nkill -STOP $$\n");
        auto runner = sh;
        host.file("/run/env", "");
        runner.shell = {"/bin/sh", "-c", "PATH=/run/tools:$PATH exec /bin/sh -s"};
        host.run(runner, survey_script(hasty(4'000), nonce), out);
    });
    const auto evidence = read(seen);
    EXPECT_TRUE(evidence.complete);
    EXPECT_THAT(evidence.cuts, ::testing::Contains("maps of 1"));
    EXPECT_FALSE(evidence.holders_visible);
    EXPECT_FALSE(evidence.gpu_query.exit_status.has_value());
}

}  // namespace
}  // namespace cleanslate::agentless::survey_tests
