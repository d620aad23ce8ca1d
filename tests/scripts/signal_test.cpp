// The signal script as it really runs, under each shell that this machine has.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "agentless/remote.hpp"
#include "tests/scripts/sandbox.hpp"

namespace cleanslate::agentless {
namespace {

using cleanslate::testing::all_shells;
using cleanslate::testing::all_tools;
using cleanslate::testing::inside;
using cleanslate::testing::Runner;
using cleanslate::testing::Sandbox;
using cleanslate::testing::Seen;
using enum SignalReply::Result;

const std::string nonce = "0123456789abcdef0123456789abcdef";

std::string boot_id() {
    std::ifstream in("/proc/sys/kernel/random/boot_id");
    std::string id;
    in >> id;
    return id;
}

ProcessKey key_of(int pid) { return {pid, std::stoull(Sandbox::start_of(pid))}; }

SignalRequest request(std::vector<ProcessKey> targets, int wait_ms, const std::string& signal = "TERM") {
    return {signal, std::move(targets), boot_id(), Milliseconds(wait_ms)};
}

SignalReport read(const Seen& seen) {
    EXPECT_EQ(seen.failure, "");
    EXPECT_EQ(seen.err, "");
    auto report = read_signal(seen.out, nonce);
    EXPECT_TRUE(report && report->complete) << seen.out;
    return report.value_or(SignalReport{});
}

const SignalReply& reply(const SignalReport& report, int pid) {
    static const SignalReply none;
    for (const auto& there : report.replies)
        if (there.key.pid == pid) return there;
    ADD_FAILURE() << "no reply for " << pid;
    return none;
}

class SignalScript : public ::testing::TestWithParam<Runner> {
  protected:
    void SetUp() override { SKIP_WITHOUT_SANDBOX(); }
};

INSTANTIATE_TEST_SUITE_P(Shells, SignalScript, ::testing::ValuesIn(all_shells()),
                         [](const ::testing::TestParamInfo<Runner>& it) { return it.param.name; });
INSTANTIATE_TEST_SUITE_P(Tools, SignalScript, ::testing::ValuesIn(all_tools()),
                         [](const ::testing::TestParamInfo<Runner>& it) { return it.param.name; });

TEST_P(SignalScript, EndsProcessesAndSaysWhenTheyWereGone) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        // Names that look like other fields of stat.
        out.ids["first"] = host.process([] { ::prctl(PR_SET_NAME, "a) Z 1 (\n9 9"); });
        out.ids["second"] = host.process([] {});
        ::signal(SIGCHLD, SIG_IGN);  // init: what ends is gone at once
        host.run(GetParam(),
                 signal_script(request({key_of(out.ids["second"]), key_of(out.ids["first"])}, 20'000), nonce),
                 out);
        out.ids["left"] = host.left();
    });
    const auto report = read(seen);
    ASSERT_EQ(report.replies.size(), 2u);
    EXPECT_EQ(report.replies[0].key.pid, seen.ids.at("second")) << "the order is the caller's";
    for (const auto& there : report.replies) {
        EXPECT_EQ(there.result, ended);
        EXPECT_TRUE(there.sent);
        ASSERT_TRUE(there.took.has_value());
        EXPECT_LT(*there.took, Milliseconds(10'000));
    }
    EXPECT_EQ(seen.ids.at("left"), 0);
    EXPECT_LT(seen.milliseconds, 15'000) << "the wait is an upper bound";
}

TEST_P(SignalScript, TellsWhoIgnoresTheSignalAndWaitsNoLongerThanAsked) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        out.ids["deaf"] = host.process([] { ::signal(SIGTERM, SIG_IGN); });
        host.run(GetParam(), signal_script(request({key_of(out.ids["deaf"])}, 300), nonce), out);
    });
    const auto report = read(seen);
    const auto& deaf = reply(report, seen.ids.at("deaf"));
    EXPECT_EQ(deaf.result, alive);
    EXPECT_TRUE(deaf.sent);
    EXPECT_EQ(deaf.state, 'S');
    EXPECT_FALSE(deaf.took.has_value());
    EXPECT_GE(seen.milliseconds, 290);  // its clock has 10 ms steps
    EXPECT_LT(seen.milliseconds, 10'000);
}

TEST_P(SignalScript, NamesTheParentOfAZombieAndWaitsForItNoLonger) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        int report[2];
        if (::pipe(report) != 0) return;
        out.ids["parent"] = host.process([&] {
            const int child = ::fork();
            if (child == 0)
                for (;;) ::pause();
            if (::write(report[1], &child, sizeof child) != sizeof child) ::_exit(1);
        });
        if (::read(report[0], &out.ids["child"], sizeof(int)) != sizeof(int)) return;
        host.run(GetParam(), signal_script(request({key_of(out.ids["child"])}, 20'000, "KILL"), nonce), out);
    });
    const auto report = read(seen);
    const auto& child = reply(report, seen.ids.at("child"));
    EXPECT_EQ(child.result, zombie);
    EXPECT_EQ(child.state, 'Z');
    EXPECT_EQ(child.parent, seen.ids.at("parent"));
    EXPECT_LT(seen.milliseconds, 15'000);
}

TEST_P(SignalScript, SignalsNoProcessThatOnlyHasTheSamePid) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        out.ids["other"] = host.process([] {});
        auto key = key_of(out.ids["other"]);
        key.start += 1;
        host.run(GetParam(), signal_script(request({key, {31'999, 5}}, 20'000, "KILL"), nonce), out);
        // Under load it may not have come to its pause yet.
        char state = Sandbox::state_of(out.ids["other"]);
        for (; state == 'R' || state == 'D'; state = Sandbox::state_of(out.ids["other"])) ::usleep(1000);
        out.ids["lives"] = state == 'S';
    });
    const auto report = read(seen);
    EXPECT_EQ(reply(report, seen.ids.at("other")).result, changed);
    EXPECT_FALSE(reply(report, seen.ids.at("other")).sent);
    EXPECT_EQ(reply(report, 31'999).result, ended);
    EXPECT_FALSE(reply(report, 31'999).sent);
    EXPECT_EQ(seen.ids.at("lives"), 1);
    EXPECT_LT(seen.milliseconds, 15'000);
}

// In a pid namespace of its own the next pid can be chosen: another process gets that of the dead target.
TEST_P(SignalScript, SparesTheProcessThatGotTheTargetsPid) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        const int target = out.ids["target"] = host.process([] {});
        const auto key = key_of(target);
        ::kill(target, SIGKILL);
        ::waitpid(target, nullptr, 0);
        ::usleep(30'000);  // the start time counts in hundredths of a second
        if (!(std::ofstream("/proc/sys/kernel/ns_last_pid") << target - 1).flush()) {
            out.ids["refused"] = 1;
            return;
        }
        out.ids["next"] = host.process([] {});
        host.run(GetParam(), signal_script(request({key}, 20'000, "KILL"), nonce), out);
        out.ids["lives"] = Sandbox::state_of(out.ids["next"]) == 'S';
    });
    ASSERT_EQ(seen.failure, "");
    if (seen.ids.contains("refused")) GTEST_SKIP() << "this kernel lets nobody choose the next pid";
    ASSERT_EQ(seen.ids.at("next"), seen.ids.at("target")) << "the pid was not given away again";
    EXPECT_EQ(reply(read(seen), seen.ids.at("target")).result, changed);
    EXPECT_FALSE(reply(read(seen), seen.ids.at("target")).sent);
    EXPECT_EQ(seen.ids.at("lives"), 1);
}

TEST_P(SignalScript, SignalsNothingAfterABoot) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        out.ids["other"] = host.process([] {});
        auto asked = request({key_of(out.ids["other"])}, 20'000, "KILL");
        asked.boot_id = "00000000-0000-0000-0000-000000000000";
        host.run(GetParam(), signal_script(asked, nonce), out);
        out.ids["lives"] = Sandbox::state_of(out.ids["other"]) == 'S';
    });
    EXPECT_EQ(reply(read(seen), seen.ids.at("other")).result, changed);
    EXPECT_EQ(seen.ids.at("lives"), 1);
}

TEST_P(SignalScript, SparesInitAndItsOwnAncestorsWhateverIsAsked) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        // Under a login shell of its own, as sshd would start it; its pid is the next one, and so on.
        auto runner = GetParam();
        const auto probe = host.process([] {});
        std::vector<ProcessKey> targets{key_of(1)};
        // Start times of processes that do not live yet cannot be known: the shell fills them in itself.
        auto script = signal_script(request(targets, 0, "KILL"), nonce);
        const std::string quoted = "targets='";
        const auto at = script.find(quoted) + quoted.size();
        const auto end = script.find('\'', at);
        script.replace(at - 1, end - at + 2,
                       "\"" + script.substr(at, end - at) +
                           " $$:$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20)"
                           " $PPID:$(sed 's/.*) //' /proc/$PPID/stat | cut -d' ' -f20)\"");
        runner.shell.insert(runner.shell.begin(), {"/bin/sh", "-c", "\"$@\"; exit $?", "login"});
        host.run(runner, script, out);
        out.ids["lives"] = Sandbox::state_of(probe) == 'S';
    });
    const auto report = read(seen);
    ASSERT_EQ(report.replies.size(), 3u);
    for (const auto& there : report.replies) {
        EXPECT_EQ(there.result, not_permitted) << there.key.pid;
        EXPECT_FALSE(there.sent);
    }
    EXPECT_EQ(seen.ids.at("lives"), 1);
}

TEST_P(SignalScript, TellsOthersProcessesFromEndedOnesWithoutRoot) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        out.ids["roots"] = host.process([] {});
        out.ids["own"] = host.process([] {
            if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(1);
        });
        ::signal(SIGCHLD, SIG_IGN);
        host.run(GetParam(),
                 signal_script(request({key_of(out.ids["roots"]), key_of(out.ids["own"])}, 20'000), nonce),
                 out, 65534);
        out.ids["lives"] = Sandbox::state_of(out.ids["roots"]) == 'S';
    });
    const auto report = read(seen);
    EXPECT_EQ(reply(report, seen.ids.at("roots")).result, not_permitted);
    EXPECT_FALSE(reply(report, seen.ids.at("roots")).sent);
    EXPECT_EQ(reply(report, seen.ids.at("own")).result, ended);
    EXPECT_EQ(seen.ids.at("lives"), 1);
    EXPECT_LT(seen.milliseconds, 15'000);
}

TEST_P(SignalScript, SaysThatASignalWentOutBeforeItWaits) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        out.ids["deaf"] = host.process([] { ::signal(SIGTERM, SIG_IGN); });
        // The connection is gone after two seconds of twenty.
        host.run(GetParam(), signal_script(request({key_of(out.ids["deaf"])}, 20'000), nonce), out, 0, 2);
    });
    EXPECT_EQ(seen.failure, "");
    const auto report = read_signal(seen.out, nonce);
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->complete);
    const auto& deaf = reply(*report, seen.ids.at("deaf"));
    EXPECT_TRUE(deaf.sent);
    EXPECT_EQ(deaf.result, alive);
    EXPECT_EQ(deaf.state, '?');
}

TEST_P(SignalScript, RunsNothingWhenTheTransferIsCut) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        out.ids["target"] = host.process([] {});
        const auto script = signal_script(request({key_of(out.ids["target"])}, 0, "KILL"), nonce);
        std::string all;
        for (std::size_t size = 1;
             size<script.size() - 1; size += size> script.size() - 12 || (size > 20 && size < 200) ? 1
                                                                                                   : 397) {
            host.run(GetParam(), script.substr(0, size), out);
            all += out.out;
        }
        out.out = all;
        out.err.clear();
        out.ids["lives"] = Sandbox::state_of(out.ids["target"]) == 'S';
    });
    EXPECT_EQ(seen.failure, "");
    EXPECT_EQ(seen.out, "");
    EXPECT_EQ(seen.ids.at("lives"), 1);
}

}  // namespace
}  // namespace cleanslate::agentless
