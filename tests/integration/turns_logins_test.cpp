// Turns, and what an operator puts before and after, for each way in: as root, by sudo and as an ordinary
// user, whose lock is in his own runtime directory.

#include <future>

#include "tests/integration/acts.hpp"
#include "tests/integration/logins.hpp"

namespace cleanslate::testing {
namespace {

const std::vector<Login> all_logins = [] {
    auto logins = logins_to_root();
    logins.push_back(Login::user);
    return logins;
}();

const std::string patient =
    "steps:\n"
    "  - run: touch /tmp/begun; while ! test -e /tmp/go; do sleep 0.05; done\n"
    "    when: before\n"
    "    timeout: 60s\n"
    "  - signal: KILL\n    match: {holding: gpu}\n"
    "  - verify: {within: 5s}\n";
const std::string around =
    "steps:\n"
    "  - run: test -e /tmp/drained\n    when: before\n"
    "  - signal: KILL\n    match: {holding: gpu}\n"
    "  - verify: {within: 5s}\n"
    "  - run: echo \"$CLEANSLATE_HOST $CLEANSLATE_VERDICT $(id -u)\" >/tmp/after\n    when: after\n";

class TurnsByLogin : public OnAFleet<TurnsByLogin> {
  public:
    static void describe(const Descriptions& hosts) {
        for (const auto login : all_logins)
            for (const std::string name : {"held", "drained", "vetoed"})
                hosts.add(at(name, login), "gpus 1\n" + through(login) + worker("left", "alice", "0=4000"));
    }
    static void SetUpTestSuite() {
        OnAFleet::SetUpTestSuite();
        if (fleet_ == nullptr || fleet_->started().status != 0) return;
        set_up_logins(*fleet_);
        for (const std::string name : {"held", "drained", "vetoed"})
            on(at(name, Login::user),
               "mkdir -p /run/user/1001 && chmod 700 /run/user/1001 && chown 1001 /run/user/1001");
    }
};

TEST_F(TurnsByLogin, ASecondSweepOfTheSameLoginIsToldWhoseTheHostIs) {
    const auto hosts = listed({"held"}, all_logins);
    const auto before = fleet_->processes();
    const auto steps = playbook(patient);
    auto sweep = std::async(std::launch::async, [&] { return clear(hosts, steps); });
    for (const auto login : all_logins)
        EXPECT_TRUE(comes_true([&] { return !on(at("held", login), "ls /tmp/begun 2>/dev/null").empty(); }));
    const auto second = clear(hosts, "clear", {"--yes", "--lock-wait", "0s"});
    EXPECT_EQ(second.status, 3) << second.err;
    for (const auto login : all_logins) {
        const auto host = at("held", login);
        EXPECT_EQ(second.verdict(host), "unknown") << second.host(host).dump(1);
        EXPECT_TRUE(second.has_finding(host, "host-busy", "cleanslate")) << second.host(host).dump(1);
        expect_ended(host, before, {});
        on(host, "touch /tmp/go");
    }
    const auto report = sweep.get();
    for (const auto login : all_logins) {
        const auto host = at("held", login);
        EXPECT_EQ(report.verdict(host), "clean") << report.host(host).dump(1);
        EXPECT_FALSE(report.has_finding(host, "not-locked")) << report.host(host).dump(1);
        expect_ended(host, before, {"left"});
    }
}

TEST_F(TurnsByLogin, ABeforeVetoesAndAnAfterKnowsTheVerdictAsWhoeverActs) {
    const auto before = fleet_->processes();
    for (const auto login : all_logins) on(at("drained", login), "touch /tmp/drained");
    const auto report = clear(listed({"drained", "vetoed"}, all_logins), playbook(around));
    for (const auto login : all_logins) {
        const std::string uid = login == Login::user ? "1001" : "0";
        const auto drained = at("drained", login), vetoed = at("vetoed", login);
        EXPECT_EQ(report.verdict(drained), "clean") << report.host(drained).dump(1);
        EXPECT_EQ(on(drained, "cat /tmp/after"), drained + " clean " + uid + "\n");
        expect_ended(drained, before, {"left"});
        EXPECT_EQ(report.verdict(vetoed), "dirty");
        EXPECT_TRUE(report.has_finding(vetoed, "vetoed", "/tmp/drained")) << report.host(vetoed).dump(1);
        EXPECT_EQ(report.host(vetoed)["actions"], json::array());
        EXPECT_EQ(on(vetoed, "cat /tmp/after"), vetoed + " dirty " + uid + "\n");
        expect_ended(vetoed, before, {});
    }
}

}  // namespace
}  // namespace cleanslate::testing
