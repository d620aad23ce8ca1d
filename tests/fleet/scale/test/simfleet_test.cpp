// simfleet as a whole, through the SSH client of agentless: each kind of host ends as it should.

#include <gmock/gmock.h>

#include <map>

#include "tests/fleet/scale/fleet_options.hpp"
#include "tests/fleet/scale/kinds.hpp"
#include "tests/fleet/scale/places.hpp"
#include "tests/fleet/scale/test/reports.hpp"
#include "tests/fleet/scale/test/running_simfleet.hpp"

namespace cleanslate::testing {
namespace {

using simulated::Kind;
using simulated::RunningSimfleet;

Report report(const RunningSimfleet& fleet, const std::vector<std::string>& arguments) {
    return report_on(fleet.file("inventory.yaml"), {fleet.file("known_hosts")}, arguments);
}

std::map<std::string, std::string> verdicts(const Report& report) {
    std::map<std::string, std::string> all;
    if (!report.document.is_object()) ADD_FAILURE() << report.err;
    if (report.document.is_object())
        for (const auto& host : report.document["hosts"]) all[host["name"]] = host["verdict"];
    return all;
}

std::map<std::string, std::string> kinds_of(const RunningSimfleet& fleet) {
    std::ifstream file(fleet.file("kinds.txt"));
    std::map<std::string, std::string> kinds;
    for (std::string host, kind; file >> host >> kind;) kinds[host] = kind;
    return kinds;
}

#define NEEDS_SSH_KEYGEN() \
    if (std::system("command -v ssh-keygen >/dev/null") != 0) GTEST_SKIP() << "simfleet needs ssh-keygen"

TEST(Simfleet, HealthyHostsAreCleanAndEachIsVisitedOnce) {
    NEEDS_SSH_KEYGEN();
    RunningSimfleet fleet({"--hosts", "40", "--gpus", "4"});
    const auto checked = report(fleet, {"check"});
    EXPECT_EQ(checked.status, 0) << checked.err;
    EXPECT_EQ(verdicts(checked).size(), 40U);
    const auto served = json::parse(fleet.stop());
    EXPECT_EQ(served["connections"], 40);
    EXPECT_GE(served["peak"], 1);
    EXPECT_TRUE(served["more_than_one"].empty());
}

TEST(Simfleet, EachKindEndsAsItShould) {
    NEEDS_SSH_KEYGEN();
    const std::map<std::string, std::string> expected{{"dirty", "dirty"},
                                                      {"stubborn", "dirty"},
                                                      {"sick", "sick"},
                                                      {"black_hole", "unreachable"},
                                                      {"refused", "unreachable"},
                                                      {"no_banner", "unreachable"},
                                                      {"hang_login", "unreachable"},
                                                      {"deny", "unreachable"},
                                                      {"hang_exec", "unknown"},
                                                      {"cut_survey", "unknown"},
                                                      {"no_end", "unknown"},
                                                      {"slow", "clean"},
                                                      {"garbage", "unknown"},
                                                      {"lost_mid_kill", "dirty"}};
    std::vector<std::string> options{"--hosts", "20"};
    for (const auto& [kind, verdict] : expected) options.insert(options.end(), {"--share", kind + "=5"});
    RunningSimfleet fleet(options);
    const auto kinds = kinds_of(fleet);
    ASSERT_EQ(kinds.size(), expected.size());
    // Long enough for a slow host on a slow machine.
    const auto found = verdicts(report(fleet, {"check", "--connect-timeout", "5s", "--timeout", "15s"}));
    EXPECT_EQ(found.size(), 20U);
    for (const auto& [host, verdict] : found) {
        const auto kind = kinds.find(host);
        EXPECT_EQ(verdict, kind == kinds.end() ? "clean" : expected.at(kind->second))
            << host << " " << (kind == kinds.end() ? "healthy" : kind->second);
    }
}

TEST(Simfleet, AClearEndsTheLeakedWorkersAndLosesTheHostThatGoesAwayMeanwhile) {
    NEEDS_SSH_KEYGEN();
    RunningSimfleet fleet({"--hosts", "4", "--share", "dirty=25", "--share", "lost_mid_kill=25"});
    const auto cleared = verdicts(report(fleet, {"clear", "--yes", "-l", "all"}));
    for (const auto& [host, kind] : kinds_of(fleet))
        EXPECT_EQ(cleared.at(host), kind == "dirty" ? "clean" : "unknown") << kind;
}

TEST(Simfleet, WorkersComeBackWhereTheyAreToldTo) {
    NEEDS_SSH_KEYGEN();
    RunningSimfleet fleet({"--hosts", "1", "--share", "dirty=100", "--redirty", "8s"});
    EXPECT_EQ(report(fleet, {"clear", "--yes", "-l", "all"}).status, 0);
    EXPECT_TRUE(simulated::comes_true([&] { return report(fleet, {"check"}).status == 1; }))
        << "it did not become dirty again";
}

TEST(Simfleet, AtPortZeroItTakesAFreeOneAndSaysWhich) {
    NEEDS_SSH_KEYGEN();
    RunningSimfleet fleet({"--hosts", "1", "--port", "0"});  // the last of two counts
    EXPECT_EQ(report(fleet, {"check"}).status, 0);
    EXPECT_FALSE(simulated::is_free_port(std::stoi(contents(fleet.file("port")))));
}

TEST(Simfleet, AFarHostIsReachedAsWell) {
    NEEDS_SSH_KEYGEN();
    RunningSimfleet fleet({"--hosts", "2", "--rtt", "40ms", "--threads", "2"});
    const auto checked = report(fleet, {"check"});
    EXPECT_EQ(checked.status, 0) << checked.err;
    // Version, keys, service, login, channel, command: none of them can be told before the one before it
    // came.
    EXPECT_GE(checked.took, std::chrono::milliseconds(4 * 40));
}

TEST(Simfleet, ItsConfigurationServesSsh) {
    NEEDS_ROOT();
    RunningSimfleet fleet({"--hosts", "3"});
    const auto name = simulated::run({"ssh", "-F", fleet.file("ssh_config"), "sim00003", "hostname"});
    EXPECT_EQ(name.out, "sim00003\n");
    const auto status =
        simulated::run({"ssh", "-F", fleet.file("ssh_config_addresses"), "127.64.0.2", "exit 7"});
    EXPECT_EQ(status.status, 7) << status.out;
}

TEST(Simfleet, OptionsThatMakeNoSenseAreNamed) {
    const auto message = [](std::vector<std::string> arguments) {
        const auto options = simulated::read_fleet_options(arguments);
        return options ? std::string() : options.error().message;
    };
    EXPECT_EQ(message({"folder", "--hosts", "3"}), "");
    EXPECT_THAT(message({"--hosts", "3"}), ::testing::HasSubstr("FOLDER"));
    EXPECT_THAT(message({"folder"}), ::testing::HasSubstr("--hosts"));
    EXPECT_THAT(message({"folder", "--hosts", "0"}), ::testing::HasSubstr("--hosts 0"));
    EXPECT_THAT(message({"folder", "--hosts", "3", "--share", "ill=5"}), ::testing::HasSubstr("ill=5"));
    EXPECT_THAT(message({"folder", "--hosts", "3", "--rtt", "5"}), ::testing::HasSubstr("--rtt 5"));
    EXPECT_THAT(message({"folder", "--hosts", "3", "--share", "deny=60", "--share", "sick=60"}),
                ::testing::HasSubstr("100 %"));
}

}  // namespace
}  // namespace cleanslate::testing
