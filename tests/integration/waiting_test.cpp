// The last of these tests, for it has waited longest: see long_reboot.hpp.

#include "tests/integration/long_reboot.hpp"

namespace cleanslate::testing {

namespace {

std::unique_ptr<LongReboot> only_one;

const simulated::Descriptions& described(const simulated::Descriptions& hosts) {
    for (const std::string mode : {"never", "same", "fails"})
        hosts.add(mode, "gpus 1\ngpu 0 state requires-reset\nreboot " + mode + "\n");
    return hosts;
}

}  // namespace

LongReboot& LongReboot::begun() {
    if (!only_one) only_one.reset(new LongReboot);
    return *only_one;
}

LongReboot::LongReboot() : fleet_({described(hosts_).folder()}), operator_(fleet_) {
    const auto file = operator_.home() / "reboot.yaml";
    std::ofstream(file) << "steps:\n  - reboot: {deadline: 1m}\n";
    sweep_ = std::async(std::launch::async, [this, file] {
        return operator_.report(
            {"clear", "-l", "all", "-p", file, "--yes", "--allow-reboot", "--serial", "3"});
    });
}

namespace {

TEST(Waiting, AHostThatDoesNotComeBackAsAnotherBootIsUnknown) {
    SKIP_WITHOUT_ROOT();
    auto& reboot = LongReboot::begun();
    ASSERT_EQ(reboot.fleet().started().status, 0) << reboot.fleet().started().out;
    const Report report = reboot.ended();
    only_one.reset();
    EXPECT_EQ(report.status, 3) << report.err;
    for (const auto* host : {"never", "same", "fails"}) {
        EXPECT_TRUE(report.has_finding(host, "reboot-failed")) << report.host(host).dump(1);
        EXPECT_EQ(report.verdict(host), "unknown") << host;
    }
    EXPECT_TRUE(report.has_finding("same", "reboot-failed", "same boot id")) << report.host("same").dump(1);
}

}  // namespace
}  // namespace cleanslate::testing
