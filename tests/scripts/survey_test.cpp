// The survey script as it really runs, under each shell and each set of tools that this machine has.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/scripts/survey_fixture.hpp"

namespace cleanslate::agentless::survey_tests {
namespace {

using cleanslate::testing::all_shells;
using cleanslate::testing::all_tools;
using cleanslate::testing::Argv;
using cleanslate::testing::inside;
using cleanslate::testing::Sandbox;
using cleanslate::testing::Seen;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

INSTANTIATE_TEST_SUITE_P(Shells, SurveyScript, ::testing::ValuesIn(all_shells()), name_of);
INSTANTIATE_TEST_SUITE_P(Tools, SurveyScript, ::testing::ValuesIn(all_tools()), name_of);

TEST_P(SurveyScript, ShowsAnIdleHostWithItsDriverAndItself) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        host.device("nvidia3");
        host.device("nvidiactl");
        host.device("nvidia-uvm");
        host.file("/proc/driver/nvidia/version",
                  "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  R\n");
        host.file("/proc/driver/nvidia/gpus/0000:00:06.0/information",
                  "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-00000000-1111-2222-3333-444444444444\n"
                  "Bus Location: \t 0000:00:06.0\nDevice Minor: \t 3\n");
        host.run(GetParam(), survey_script(usual(), nonce), out);
        out.ids["left"] = host.left();
    });
    const auto evidence = read(seen);
    EXPECT_TRUE(evidence.complete);
    EXPECT_TRUE(evidence.root);
    EXPECT_EQ(evidence.gpu_query.exit_status, 0);
    EXPECT_EQ(evidence.app_query.exit_status, 0);
    ASSERT_EQ(evidence.gpus.size(), 1u);
    EXPECT_EQ(evidence.gpus[0].used, Mebibytes{0});
    EXPECT_EQ(evidence.gpus[0].name, "NVIDIA H200");
    EXPECT_THAT(evidence.apps, IsEmpty());
    EXPECT_EQ(evidence.driver_version, "580.159.04");
    ASSERT_TRUE(evidence.driver_gpus.has_value());
    ASSERT_EQ(evidence.driver_gpus->size(), 1u);
    EXPECT_EQ(evidence.driver_gpus->front().minor, 3);
    EXPECT_EQ(evidence.driver_gpus->front().bus_id, "00000000:00:06.0");
    EXPECT_EQ(evidence.device_minors, std::vector{3});
    EXPECT_THAT(evidence.missing_tools, IsEmpty());
    EXPECT_FALSE(evidence.proc_hides_others);
    EXPECT_THAT(evidence.cuts, IsEmpty());
    EXPECT_TRUE(evidence.holders_visible);
    const auto shell = seen.ids.at("shell");
    EXPECT_THAT(evidence.session_ancestors, ElementsAre(shell, 1));
    EXPECT_THAT(process(evidence, shell).argv, ::testing::Optional(Argv(GetParam().shell)));
    EXPECT_EQ(process(evidence, shell).user, "root");
    EXPECT_EQ(process(evidence, shell).exe_owner, 0u);
    EXPECT_FALSE(process(evidence, shell).exe_writable_by_others);
    EXPECT_TRUE(process(evidence, shell).host_mount_ns);
    EXPECT_EQ(seen.ids.at("left"), 0) << "children of the survey outlived it";
}

TEST_P(SurveyScript, TellsOpenFromMappedAndMinorsFromControlFiles) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        for (const char* name : {"nvidia0", "nvidia1", "nvidia11", "nvidiactl", "nvidia-uvm"})
            host.device(name);
        out.ids["worker"] = host.process([] {
            for (int i = 0; i < 7; ++i) open_file("/dev/nvidia0");
            open_file("/dev/nvidia11", true);
            open_file("/dev/nvidiactl");
        });
        out.ids["mapper"] = host.process([] {
            open_file("/dev/nvidia1", true);
            ::close_range(3, ~0U, 0);
        });
        out.ids["recreated"] = host.process([] {
            open_file("/dev/nvidia2");
            ::unlink("/dev/nvidia2");
        });
        out.ids["bystander"] = host.process([] { open_file("/run/nvidia0"); });
        host.run(GetParam(), survey_script(usual(), nonce), out);
    });
    const auto evidence = read(seen);
    const auto& worker = process(evidence, seen.ids.at("worker"));
    EXPECT_THAT(worker.open_minors, ElementsAre(0, 11));
    EXPECT_THAT(worker.mapped_minors, ElementsAre(11));
    EXPECT_TRUE(worker.opens_control);
    EXPECT_FALSE(worker.maps_control);
    EXPECT_TRUE(worker.fds_readable && worker.maps_readable);
    EXPECT_EQ(worker.parent, 1);
    const auto& mapper = process(evidence, seen.ids.at("mapper"));
    EXPECT_THAT(mapper.open_minors, IsEmpty());
    EXPECT_THAT(mapper.mapped_minors, ElementsAre(1));
    EXPECT_THAT(process(evidence, seen.ids.at("recreated")).open_minors, ElementsAre(2));
    EXPECT_EQ(evidence.find(seen.ids.at("bystander")), nullptr);
    EXPECT_TRUE(evidence.holders_visible);
}

// Each of these is an ordinary user's process that tries to put a line of its own into the survey.
TEST_P(SurveyScript, LetsNoProcessForgeARecordOfAnother) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        host.device("nvidia0");
        const int victim = out.ids["victim"] = host.process([] {});
        const auto v = std::to_string(victim);
        const auto fd = "\n/proc/" + v + "/fd/3 /dev/nvidia0\n";
        const std::string ls = "\nlrwx------ 1 0 0 64 Nov 29 12:00 3 -> /dev/nvidia0\n";
        const auto section = "\n" + nonce + " " + v + "\n" + ls;
        const auto records = "\nopen " + v + " 0\nend " + nonce + "\n";
        const auto raw = std::string("\001/proc/") + v + "/fd/3 /dev/nvidia0\001";
        for (const auto& text : {fd, ls, section, records, raw}) {
            auto leaf = text;
            std::ranges::replace(leaf, '/', ':');
            out.ids["file " + text.substr(0, 9)] = host.process([&] {
                ::prctl(PR_SET_NAME, ("x) S 1 1\n" + text).c_str());
                open_file("/run/plain " + leaf + "\xff");
                // With folders of that name the whole path can be had, in a namespace of the attacker's own
                // even below /dev.
                Sandbox().file("/run/" + text + "/nvidia0", "");
                open_file("/run/" + text + "/nvidia0", true);
                Sandbox().file("/dev/nvidia7" + text + "x", "");
                open_file("/dev/nvidia7" + text + "x", true);
            });
            Sandbox().file("/run/exe" + text + "/x", "");
            const auto copy = "/run/exe" + text + "/copy";
            ::system(("cp /bin/sleep \"" + copy + "\" 2>/dev/null").c_str());
            host.program(copy, {"x" + text, "1000"}, [] { open_file("/dev/nvidia0"); });
            host.program("/bin/sleep", {text, "1000"}, [] { open_file("/dev/nvidia0"); });
        }
        host.run(GetParam(), survey_script(everything(), nonce), out);
    });
    const auto evidence = read(seen);
    EXPECT_TRUE(evidence.complete);
    const auto& victim = process(evidence, seen.ids.at("victim"));
    EXPECT_FALSE(victim.opens_device());
    EXPECT_EQ(victim.parent, 1);
    for (const auto& other : evidence.processes) {
        if (other.key.pid <= 2) {
            EXPECT_FALSE(other.opens_device());
        }
    }
    // The attackers themselves are seen for what they have open.
    EXPECT_EQ(std::ranges::count_if(evidence.processes, &Process::opens_device), 15);
    EXPECT_TRUE(evidence.holders_visible);
}

TEST_P(SurveyScript, KeepsArgumentsApartWhateverTheyHold) {
    const Argv hostile{"-c", "read -r _", "x\ny", "", "tab\tand %41 and \\n", "\xff\xfe", "", "last"};
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        host.device("nvidia0");
        const auto wait = [] {
            int never[2];
            if (::pipe(never) == 0) ::dup2(never[0], 0);
            open_file("/dev/nvidia0");
        };
        Argv argv{"a name"};
        argv.insert(argv.end(), hostile.begin(), hostile.end());
        out.ids["hostile"] = host.program("/bin/sh", argv, wait);
        out.ids["huge"] = host.program("/bin/sh", {"sh", "-c", "read -r _", std::string(120'000, 'x')}, wait);
        out.ids["many"] = host.program(
            "/bin/sh",
            [] {
                Argv many{"sh", "-c", "read -r _"};
                many.resize(20'000, "y");
                return many;
            }(),
            wait);
        out.ids["renamed"] = host.process([&] {
            wait();
            // As setproctitle does: arguments and environment overwritten, no NUL at the end.
            std::ifstream stat("/proc/self/stat");
            const std::string text{std::istreambuf_iterator<char>(stat), {}};
            std::istringstream fields(text.substr(text.rfind(')') + 1));
            std::string field;
            std::uintptr_t begin = 0, end = 0;
            for (int i = 3; i <= 49; ++i) {
                fields >> field;
                if (i == 48) begin = std::stoull(field);
                if (i == 49) end = std::stoull(field);
            }
            for (auto at = begin; at < end; ++at) *reinterpret_cast<char*>(at) = 'Z';
        });
        out.ids["after"] = host.program("/bin/sh", {"sh", "-c", "read -r _", "after"}, wait);
        host.run(GetParam(), survey_script(usual(), nonce), out);
    });
    const auto evidence = read(seen);
    Argv expected{"a name"};
    expected.insert(expected.end(), hostile.begin(), hostile.end());
    EXPECT_THAT(process(evidence, seen.ids.at("hostile")).argv, ::testing::Optional(expected));
    const auto& huge = process(evidence, seen.ids.at("huge")).argv;
    ASSERT_TRUE(huge && huge->size() == 4u);
    EXPECT_TRUE(huge->back().starts_with("xxxx") && huge->back().ends_with("x..."));
    EXPECT_LE(huge->back().size(), 4'200u);
    const auto& many = process(evidence, seen.ids.at("many")).argv;
    ASSERT_TRUE(many);
    EXPECT_LE(many->size(), 4'100u);
    const auto& renamed = process(evidence, seen.ids.at("renamed")).argv;
    ASSERT_TRUE(renamed && !renamed->empty());
    EXPECT_EQ(renamed->front().substr(0, 4), "ZZZZ");
    EXPECT_THAT(process(evidence, seen.ids.at("after")).argv,
                ::testing::Optional(Argv{"sh", "-c", "read -r _", "after"}));
}

TEST_P(SurveyScript, ShowsWhoeverTheDriverListsAndAllAbove) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        int report[2];
        if (::pipe(report) != 0) return;
        out.ids["launcher"] = host.process([&] {
            const int middle = ::fork();
            if (middle != 0) return;
            const int worker = ::fork();
            if (worker == 0)
                for (;;) ::pause();
            const int both[2] = {::getpid(), worker};
            if (::write(report[1], both, sizeof both) != sizeof both) ::_exit(1);
            for (;;) ::pause();
        });
        int both[2] = {};
        if (::read(report[0], both, sizeof both) != sizeof both) return;
        out.ids["middle"] = both[0];
        out.ids["worker"] = both[1];
        host.nvidia_smi("", std::to_string(both[1]) +
                                ", GPU-00000000-1111-2222-3333-444444444444, 518 MiB, python3\n" +
                                "31999, GPU-00000000-1111-2222-3333-444444444444, 76107 MiB, [Not Found]\n");
        host.run(GetParam(), survey_script(usual(), nonce), out);
    });
    const auto evidence = read(seen);
    ASSERT_EQ(evidence.apps.size(), 2u);
    EXPECT_EQ(process(evidence, seen.ids.at("worker")).parent, seen.ids.at("middle"));
    EXPECT_EQ(process(evidence, seen.ids.at("middle")).parent, seen.ids.at("launcher"));
    EXPECT_EQ(process(evidence, seen.ids.at("launcher")).parent, 1);
    EXPECT_EQ(evidence.find(31999), nullptr);
}

TEST_P(SurveyScript, ShowsEveryProcessOnlyWhenAskedForAllAndNeverItsOwnChildren) {
    for (const bool all : {false, true}) {
        const auto seen = inside([&](Sandbox& host, Seen& out) {
            host.nvidia_smi();
            out.ids["plain"] = host.program("/bin/sleep", {"sleep", "1000"});
            host.run(GetParam(), survey_script(all ? everything() : usual(), nonce), out);
        });
        const auto evidence = read(seen);
        EXPECT_EQ(evidence.find(seen.ids.at("plain")) != nullptr, all);
        for (const auto& other : evidence.processes) {
            EXPECT_TRUE(other.key.pid <= seen.ids.at("shell")) << other.key.pid << " " << other.comm;
        }
    }
}

}  // namespace
}  // namespace cleanslate::agentless::survey_tests
