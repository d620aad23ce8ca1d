// The reboot script with stand-ins for what reboots. The real programs are hidden in every test.

#include "tests/scripts/acts_fixture.hpp"

namespace cleanslate::agentless {
namespace {

using namespace act_tests;

class RebootScript : public ActScript {
  protected:
    static void hide_all(Sandbox& host) {
        for (const char* program : {"systemctl", "shutdown", "reboot", "busybox", "halt", "poweroff"})
            if (std::string_view(program) != "busybox" || GetParam().name != "busybox") host.hide(program);
        host.file("/run/nothing2", "");
        for (const char* path :
             {"/usr/sbin/shutdown", "/usr/sbin/reboot", "/usr/sbin/halt", "/usr/sbin/poweroff"})
            hide_path(path);
    }
    static void hide_path(const char* path);
    static void stand_in(Sandbox& host, const std::string& name, const std::string& status = "0") {
        host.file("/run/tools/" + name,
                  "#!/bin/sh\necho \"" + name + " $*\" >>/run/log\nexit " + status + "\n");
    }
    static Runner runner() {
        auto runner = GetParam();
        runner.shell.insert(runner.shell.begin(), {"/usr/bin/env", "PATH=/run/tools:/usr/bin:/bin"});
        return runner;
    }
    static RebootReport read(const Seen& seen) {
        auto report = read_reboot(seen.out, nonce);
        EXPECT_TRUE(report && report->complete) << seen.out;
        return report.value_or(RebootReport{});
    }
};

}  // namespace
}  // namespace cleanslate::agentless

#include <sys/mount.h>

namespace cleanslate::agentless {
namespace {

void RebootScript::hide_path(const char* path) {
    if (::access(path, F_OK) == 0 && ::mount("/run/nothing2", path, nullptr, MS_BIND, nullptr) != 0)
        throw std::runtime_error(std::string("cannot hide ") + path);
}

INSTANTIATE_TEST_SUITE_P(Shells, RebootScript, ::testing::ValuesIn(all_shells()), name_of);

TEST_P(RebootScript, EndsBeforeTheRebootBegins) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        hide_all(host);
        stand_in(host, "systemctl");
        stand_in(host, "shutdown");
        stand_in(host, "reboot");
        host.run(runner(), reboot_script(boot_id(), nonce), out);
        out.ids["then"] = becomes_true([] { return !content("/run/log").empty(); });
        out.ids["left"] = host.left();
        out.earlier = content("/run/log");
    });
    expect_quiet(seen);
    EXPECT_TRUE(read(seen).started);
    EXPECT_EQ(seen.earlier, "systemctl reboot\n");
    EXPECT_EQ(seen.ids.at("left"), 0);
}

TEST_P(RebootScript, TriesTheNextOneWhereTheFirstRefuses) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        hide_all(host);
        stand_in(host, "systemctl", "1");
        stand_in(host, "shutdown", "1");
        stand_in(host, "reboot");
        host.run(runner(), reboot_script(boot_id(), nonce), out);
        becomes_true([] { return content("/run/log").find("reboot \n") != std::string::npos; });
        out.earlier = content("/run/log");
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.earlier, "systemctl reboot\nshutdown -r now\nreboot \n");
}

TEST_P(RebootScript, RefusesWithoutRootAndAfterABoot) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        hide_all(host);
        stand_in(host, "systemctl");
        host.run(runner(), reboot_script("00000000-0000-0000-0000-000000000000", nonce), out);
        out.earlier = read(out).text;
        host.run(runner(), reboot_script(boot_id(), nonce), out, 65534);
        ::usleep(1'200'000);
        out.ids["log"] = static_cast<int>(content("/run/log").size());
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.earlier, "it has booted since it was looked at");
    EXPECT_FALSE(read(seen).started);
    EXPECT_EQ(read(seen).text, "only root may reboot");
    EXPECT_EQ(seen.ids.at("log"), 0);
}

}  // namespace
}  // namespace cleanslate::agentless
