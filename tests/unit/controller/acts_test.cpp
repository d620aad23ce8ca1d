#include "controller/acts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/host_block.hpp"
#include "outcomes.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Kind = CommandAction::Kind;

std::string acts_of(std::vector<CommandAction> actions) {
    HostOutcome host = clean_host("gpu01");
    host.commands = std::move(actions);
    Page page(80, false);
    write_acts(page, 4, host, false);
    return page.take();
}

CommandAction failed(CommandAction action, int status) {
    action = done(std::move(action));
    action.ok = false;
    action.exit_status = status;
    return action;
}

TEST(Acts, AreToldWithTheirResult) {
    EXPECT_EQ(acts_of({done(act(Kind::stop, 3, "systemctl stop x.service"))}),
              "    step 3 stop: systemctl stop x.service: exit 0 after 1.2 s\n");
    EXPECT_EQ(acts_of({act(Kind::run, 3, "uptime")}), "    step 3 run: uptime: did not come to its end\n");
    CommandAction reboot = done(act(Kind::reboot, 6, "reboot"));
    reboot.exit_status.reset();
    reboot.took = Milliseconds{95'000};
    EXPECT_EQ(acts_of({reboot}), "    step 6 reboot: done after 1m35s\n");
}

TEST(Acts, ShowTheResultHoweverLongTheCommandIs) {
    const std::string acts = acts_of({done(act(Kind::run, 3, std::string(500, 'x')))});
    EXPECT_THAT(acts, HasSubstr("...: exit 0 after 1.2 s\n"));
    EXPECT_EQ(width_of(acts), 81u);
}

TEST(Acts, CountGpusAndNotTheDaemonsThatWereInTheWay) {
    HostOutcome host = clean_host("gpu01");
    host.commands = {done(act(Kind::reset, 4, "nvidia-smi --gpu-reset -i 0")),
                     done(act(Kind::reset, 4, "systemctl stop dcgm.service", "for the reset")),
                     done(act(Kind::reset, 4, "systemctl start dcgm.service", "for the reset"))};
    EXPECT_EQ(acts_text(host), "1 GPU reset");
}

TEST(Acts, ThatFailedSayWhatTheyPrinted) {
    CommandAction stop = failed(act(Kind::stop, 3, "systemctl stop x.service", "supervisor of 812"), 5);
    stop.err = "Failed to stop x.service:\nUnit \x1b[31mnot loaded.\n";
    EXPECT_EQ(acts_of({stop}),
              "    step 3 stop: systemctl stop x.service: exit 5 after 1.2 s\n"
              "        supervisor of 812\n"
              "        Failed to stop x.service:\n"
              "        Unit \\x1B[31mnot loaded.\n");
}

TEST(Acts, ThatAreWithheldSayWhichFlagWouldLetThem) {
    CommandAction reset = act(Kind::reset, 4, "nvidia-smi --gpu-reset -i 0", "--allow-reset was not given");
    reset.withheld = true;
    EXPECT_EQ(acts_of({reset}),
              "    step 4 reset: nvidia-smi --gpu-reset -i 0: withheld\n"
              "        --allow-reset was not given\n");
}

TEST(Acts, ThatWereStoppedRightBeforeAreToldAndNotCounted) {
    HostOutcome host = clean_host("gpu01");
    host.commands = {act(Kind::stop, 3, "systemctl stop x.service")};
    host.commands[0].not_sent = true;
    EXPECT_EQ(acts_of(host.commands), "    step 3 stop: systemctl stop x.service: not sent\n");
    EXPECT_EQ(acts_text(host), "");
}

TEST(Acts, CountTheFilesThatWereRemoved) {
    std::vector<CommandAction> files;
    for (int i = 0; i < 25; ++i) {
        files.push_back(done(act(Kind::clean_shm, 5, "/dev/shm/n" + std::to_string(i), "1 MiB of alice")));
        files.back().bytes = 1u << 20;
    }
    files.push_back(act(Kind::clean_shm, 5, "/dev/shm/kept", "in use"));
    files.back().ran_to_end = true;
    const std::string acts = acts_of(files);
    EXPECT_THAT(acts, HasSubstr("    step 5 clean_shm: 25 files (25 MiB) removed\n"));
    EXPECT_THAT(acts, HasSubstr("    step 5 clean_shm: /dev/shm/kept: failed\n        in use\n"));
    EXPECT_THAT(acts, Not(HasSubstr("/dev/shm/n3")));
    EXPECT_THAT(acts_of({files[0]}), HasSubstr("step 5 clean_shm: /dev/shm/n0: exit 0 after 1.2 s\n"));
}

TEST(Acts, FoldManyFilesThatAreWithheld) {
    std::vector<CommandAction> files(30, act(Kind::clean_shm, 5, "/dev/shm/x"));
    for (CommandAction& file : files) file.withheld = true;
    const std::string acts = acts_of(files);
    EXPECT_EQ(std::ranges::count(acts, '\n'), 11);
    EXPECT_THAT(acts, HasSubstr("    step 5 clean_shm: in all 30 files withheld\n"));
}

TEST(Work, CountsWhatWasDoneByItsKind) {
    HostOutcome host = clean_host("gpu01");
    host.signals.push_back(signal_action(2, "TERM", holder(1, "a", "b"), SignalResult::ended));
    host.commands = {done(act(Kind::before, 1, "true")), done(act(Kind::stop, 2, "a")),
                     failed(act(Kind::stop, 2, "b"), 1), done(act(Kind::reset, 3, "c")),
                     done(act(Kind::clean_shm, 4, "d")), done(act(Kind::reboot, 5, "e")),
                     done(act(Kind::after, 6, "f"))};
    EXPECT_EQ(work_text(host),
              "TERM to 1 (ended), 1 of 2 supervisors stopped, 1 GPU reset, 1 file removed, rebooted, 2 "
              "commands run");
    for (CommandAction& action : host.commands) action.withheld = true;
    EXPECT_EQ(work_text(host), "TERM to 1 (ended)");
}

TEST(Bytes, AreRoundedUpAndReadable) {
    EXPECT_EQ(bytes_text(0), "0 bytes");
    EXPECT_EQ(bytes_text(1), "1 byte");
    EXPECT_EQ(bytes_text(1025), "2 KiB");
    EXPECT_EQ(bytes_text((3u << 20) - 1), "3 MiB");
    EXPECT_EQ(bytes_text(52ull << 30), "52 GiB");
    EXPECT_EQ(bytes_text(UINT64_MAX), "17179869184 GiB");
}

}  // namespace
}  // namespace cleanslate::controller::testing
