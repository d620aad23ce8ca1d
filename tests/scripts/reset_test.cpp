// Resets as they really run, with stand-ins for systemctl and nvidia-smi, under each shell that this machine
// has.

#include "tests/scripts/acts_fixture.hpp"

namespace cleanslate::agentless {
namespace {

using namespace act_tests;
using ::testing::HasSubstr;

constexpr const char* first_gpu = "00000000:06:00.0";
constexpr const char* second_gpu = "00000000:07:00.0";

ResetRequest request(int timeout_ms = 20'000) {
    return {{first_gpu, second_gpu},
            {"dcgm.service", "idle.service", "fabric@1\\x2d2.service"},
            boot_id(),
            Milliseconds(timeout_ms)};
}

class ResetScript : public ActScript {
  protected:
    // What is called is in /run/log; /run/units/UNIT is there while it runs.
    static void make_tools(Sandbox& host, const std::string& nvidia_smi) {
        for (const char* program : {"systemctl", "nvidia-smi"}) host.hide(program);
        host.file("/run/tools/systemctl",
                  "#!/bin/sh\necho \"$1 ${3:-$2}\" >>/run/log\ncase $1 in\n"
                  "is-active) [ -e \"/run/units/$3\" ] ;;\nstop) rm \"/run/units/$2\" ;;\n"
                  "start) echo >\"/run/units/$2\" ;;\nesac\n");
        host.file("/run/tools/nvidia-smi",
                  "#!/bin/sh\necho \"nvidia-smi $*\" >>/run/log\n" + nvidia_smi + "\n");
        host.file("/run/units/dcgm.service", "");
        host.file("/run/units/fabric@1\\x2d2.service", "");
    }
    static Runner runner() {
        auto runner = GetParam();
        runner.shell.insert(runner.shell.begin(), {"/usr/bin/env", "PATH=/run/tools:/usr/bin:/bin"});
        return runner;
    }
    static ResetReport read(const Seen& seen) {
        auto report = read_reset(seen.out, nonce);
        EXPECT_TRUE(report.has_value()) << seen.out;
        return report.value_or(ResetReport{});
    }
};

INSTANTIATE_TEST_SUITE_P(Shells, ResetScript, ::testing::ValuesIn(all_shells()), name_of);

TEST_P(ResetScript, StopsWhatRunsResetsOneByOneAndStartsInReverse) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        make_tools(host, "case $3 in *06:00.0) echo 'GPU 1 was reset.' ;; *) echo 'In use'; exit 19 ;; esac");
        host.run(runner(), reset_script(request(), nonce), out);
        out.earlier = content("/run/log");
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.earlier,
              "is-active dcgm.service\nstop dcgm.service\nis-active idle.service\n"
              "is-active fabric@1\\x2d2.service\nstop fabric@1\\x2d2.service\n"
              "nvidia-smi --gpu-reset -i 00000000:06:00.0\nnvidia-smi --gpu-reset -i 00000000:07:00.0\n"
              "start fabric@1\\x2d2.service\nstart dcgm.service\n");
    const auto report = read(seen);
    EXPECT_TRUE(report.complete);
    ASSERT_EQ(report.units.size(), 3u) << seen.out;
    EXPECT_EQ(report.units[2].name, "fabric@1\\x2d2.service");
    EXPECT_EQ(report.units[0].stop_status, 0);
    EXPECT_EQ(report.units[0].start_status, 0);
    EXPECT_FALSE(report.units[1].was_active);
    EXPECT_FALSE(report.units[1].stop_status.has_value());
    ASSERT_EQ(report.gpus.size(), 2u);
    EXPECT_EQ(report.gpus[0].status, 0);
    EXPECT_EQ(report.gpus[0].text, "GPU 1 was reset.");
    EXPECT_EQ(report.gpus[1].status, 19);
    EXPECT_EQ(report.gpus[1].text, "In use");
}

TEST_P(ResetScript, StartsTheDaemonsAlsoWhereNvidiaSmiHangs) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        make_tools(host, "trap '' TERM\nexec sleep 1000");
        host.run(runner(), reset_script(request(1'500), nonce), out);
        out.earlier = content("/run/log");
    });
    expect_quiet(seen);
    EXPECT_LT(seen.milliseconds, 25'000);
    EXPECT_THAT(seen.earlier, HasSubstr("start fabric@1\\x2d2.service\nstart dcgm.service\n"));
    EXPECT_THAT(seen.earlier, ::testing::Not(HasSubstr("07:00.0")))
        << "none is started beside one that hangs";
    const auto report = read(seen);
    EXPECT_TRUE(report.complete);
    ASSERT_EQ(report.gpus.size(), 2u) << seen.out;
    EXPECT_FALSE(report.gpus[0].status.has_value());
    EXPECT_FALSE(report.gpus[1].status.has_value());
    EXPECT_EQ(report.units[0].start_status, 0);
}

TEST_P(ResetScript, StartsTheDaemonsAlsoWhereTheChannelIsGone) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        make_tools(host, "echo >/run/asked\nwhile [ ! -e /run/go ]; do sleep 0.05; done\necho x");
        const int shell = host.process([&] {
            if (::fork() != 0) return;
            Seen mine;
            auto cut = runner();
            // The reader of its output goes away behind the begin record.
            cut.shell.insert(
                cut.shell.begin(),
                {"/bin/sh", "-c", "{ \"$@\"; echo >/run/ended; } | { read -r _; read -r _; }", "login"});
            host.run(cut, reset_script(request(), nonce), mine);
            ::_exit(0);
        });
        (void)shell;
        out.ids["asked"] = becomes_true([] { return std::filesystem::exists("/run/asked"); });
        host.file("/run/go", "");
        out.ids["ended"] = becomes_true([] { return std::filesystem::exists("/run/ended"); });
        out.earlier = content("/run/log");
    });
    EXPECT_EQ(seen.failure, "");
    EXPECT_EQ(seen.ids.at("asked"), 1);
    EXPECT_EQ(seen.ids.at("ended"), 1);
    EXPECT_THAT(seen.earlier, ::testing::EndsWith("start fabric@1\\x2d2.service\nstart dcgm.service\n"));
}

TEST_P(ResetScript, TellsWhatItPrintsAndForgesNothing) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        make_tools(host, "printf 'a b%%\\033[2J\\nend " + nonce +
                             "\\n'; echo \"$CLEANSLATE_NONCE x\"; i=0; while [ $i -lt 500 ]; do echo "
                             "0123456789; i=$((i+1)); done; printf tail; exit 3");
        host.run(runner(), reset_script(request(), nonce), out);
    });
    expect_quiet(seen);
    const auto report = read(seen);
    EXPECT_TRUE(report.complete);
    ASSERT_EQ(report.gpus.size(), 2u);
    EXPECT_EQ(report.gpus[0].status, 3);
    EXPECT_EQ(report.gpus[0].text.size(), 2000u);
    EXPECT_THAT(report.gpus[0].text, ::testing::StartsWith("a b%\x1b[2J\nend " + nonce + "\n"));
}

TEST_P(ResetScript, SaysThatNothingCanStopDaemons) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        make_tools(host, "echo ok");
        std::filesystem::remove("/run/tools/systemctl");
        ::unlink("/run/nothing");
        host.run(runner(), reset_script(request(), nonce), out);
    });
    expect_quiet(seen);
    const auto report = read(seen);
    // Root "has" a hidden program in some shells: then it is one that does not run.
    EXPECT_TRUE(report.no_systemctl || (report.units.size() == 3 && !report.units[0].was_active)) << seen.out;
    ASSERT_EQ(report.gpus.size(), 2u);
    EXPECT_EQ(report.gpus[0].status, 0);
}

TEST_P(ResetScript, DoesNothingAfterABoot) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        make_tools(host, "echo ok");
        auto asked = request();
        asked.boot_id = "00000000-0000-0000-0000-000000000000";
        host.run(runner(), reset_script(asked, nonce), out);
        out.earlier = content("/run/log");
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.earlier, "");
    EXPECT_TRUE(read(seen).other_boot);
    EXPECT_TRUE(read(seen).gpus.empty());
}

}  // namespace
}  // namespace cleanslate::agentless
