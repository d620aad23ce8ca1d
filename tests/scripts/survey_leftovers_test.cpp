// What a survey says of who is logged in, who ignores SIGHUP, and NVSwitches.

#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/scripts/survey_fixture.hpp"

namespace cleanslate::agentless {
namespace {

using namespace survey_tests;
using cleanslate::testing::all_shells;
using cleanslate::testing::all_tools;
using cleanslate::testing::inside;
using cleanslate::testing::Sandbox;
using cleanslate::testing::Seen;

class SurveyLeftovers : public SurveyScript {};

INSTANTIATE_TEST_SUITE_P(Shells, SurveyLeftovers, ::testing::ValuesIn(all_shells()), name_of);
INSTANTIATE_TEST_SUITE_P(Tools, SurveyLeftovers, ::testing::ValuesIn(all_tools()), name_of);

TEST_P(SurveyLeftovers, SeesWhoIsLoggedInAndOpensNoFifo) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        const std::string folder = "/run/systemd/sessions/";
        host.file(folder + "3", "# a comment\nUID=1000\nUSER=alice\nACTIVE=1\nSTATE=active\nLEADER=4711\n");
        host.file(folder + "c1", "UID=0\nSTATE=closing\nLEADER=x; reboot\n");
        host.file(folder + "4.ref.x", "UID=7\n");
        ::mkfifo((folder + "3.ref").c_str(), 0600);
        ::mkfifo((folder + "5").c_str(), 0600);
        std::filesystem::create_symlink("/etc/passwd", folder + "6");
        host.run(GetParam(), survey_script(everything(), nonce), out);
    });
    const auto evidence = read(seen);
    EXPECT_LT(seen.milliseconds, 15'000);
    ASSERT_TRUE(evidence.sessions && evidence.sessions->size() == 2) << seen.out;
    const auto& alice = evidence.sessions->at(0);
    EXPECT_EQ(alice.id, "3");
    EXPECT_EQ(alice.uid, 1000u);
    EXPECT_EQ(alice.leader, 4711);
    EXPECT_FALSE(alice.closing);
    EXPECT_TRUE(evidence.sessions->at(1).closing);
    EXPECT_FALSE(evidence.sessions->at(1).leader.has_value());
}

TEST_P(SurveyLeftovers, SaysNothingOfSessionsWithoutTheirFolderOrWhereItIsNotAsked) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        host.run(GetParam(), survey_script(everything(), nonce), out);
        out.earlier = out.out;
        host.file("/run/systemd/sessions/3", "UID=1\n");
        host.run(GetParam(), survey_script(usual(), nonce), out);
    });
    EXPECT_FALSE(read(seen).sessions.has_value());
    EXPECT_FALSE(read_text(seen.earlier).sessions.has_value());
}

TEST_P(SurveyLeftovers, TellsWhoIgnoresSighup) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        out.ids["nohup"] = host.process([] { ::signal(SIGHUP, SIG_IGN); });
        out.ids["other"] = host.process([] {
            ::signal(SIGHUP, SIG_DFL);
            ::signal(SIGINT, SIG_IGN);
        });
        host.run(GetParam(), survey_script(everything(), nonce), out);
    });
    const auto evidence = read(seen);
    EXPECT_TRUE(process(evidence, seen.ids.at("nohup")).ignores_hangup);
    EXPECT_FALSE(process(evidence, seen.ids.at("other")).ignores_hangup);
    EXPECT_EQ(process(evidence, seen.ids.at("other")).tty, 0);
}

TEST_P(SurveyLeftovers, CountsSwitchesOnPci) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        host.nvidia_smi();
        if (::mount("none", "/sys", "tmpfs", 0, "mode=755") != 0) throw std::runtime_error("mount /sys");
        const auto device = [&](const std::string& name, const std::string& type, const std::string& vendor) {
            host.file("/sys/bus/pci/devices/" + name + "/class", type + "\n");
            host.file("/sys/bus/pci/devices/" + name + "/vendor", vendor + "\n");
        };
        device("0000:05:00.0", "0x068000", "0x10de");
        device("0000:06:00.0", "0x068000", "0x10de");
        device("0000:07:00.0", "0x068000", "0x8086");
        device("0000:08:00.0", "0x030200", "0x10de");
        host.run(GetParam(), survey_script(usual(), nonce), out);
    });
    const auto evidence = read(seen);
    EXPECT_EQ(evidence.nvswitches, 2);
    EXPECT_EQ(evidence.pci_gpus.value_or(std::vector<PciGpu>{}).size(), 1u);
}

}  // namespace
}  // namespace cleanslate::agentless
