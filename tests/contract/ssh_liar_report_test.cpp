// What reaches the operator: the program itself against servers that lie.

#include <fmt/format.h>

#include <algorithm>

#include "tests/contract/liar_sweep.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;
using liar::Fault;
using liar::Stage;

class SshLiarReport : public testing::Test {
  protected:
    std::string target(const liar::Liar& liar) {
        write_file(file("known_hosts"), read_text(file("known_hosts")) + liar.known_hosts_line());
        return fmt::format("nobody@127.0.0.1:{}", *liar.endpoint().port);
    }
    // Its output, its messages and its exit status.
    std::string check(const std::string& targets) {
        write_file(file("id"), liar::Key().pem());
        return shell(
            fmt::format("HOME={0} XDG_STATE_HOME={0}/state SSH_AUTH_SOCK= {1}/cleanslate check -H {2} "
                        "--identity {0}/id --known-hosts {0}/known_hosts --connect-timeout 5s "
                        "--timeout 5s 2>&1; echo status $?",
                        folder_.path(""), CLEANSLATE_BINARY_DIR, targets));
    }
    std::string file(const std::string& name) const { return folder_.path(name); }
    static void expect_says(const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << "it does not say \"" << part << "\":\n" << text;
    }

    TemporaryFolder folder_;
};

TEST_F(SshLiarReport, a_server_that_does_not_lie_is_clean) {
    const liar::Liar honest;
    const std::string report = check(target(honest));
    expect_says(report, "status 0");
}

TEST_F(SshLiarReport, host_phase_cause_and_remedy_are_named_and_the_exit_code_is_3) {
    struct Cell {
        Stage stage;
        Fault fault;
        std::vector<std::string> says;
    };
    const std::vector<Cell> cells{
        {Stage::greeting, Fault::stalls, {"unreachable", "handshake", "said nothing", "overloaded"}},
        {Stage::kexinit, Fault::disconnects, {"unreachable", "handshake", "fake: clean", "MaxStartups"}},
        {Stage::kex_reply,
         Fault::rubbish,
         {"unreachable", "handshake", "went wrong", "is this an SSH server"}},
        {Stage::auth_success, Fault::closes, {"unreachable", "auth", "closed the connection", "sshd"}},
        {Stage::exec, Fault::stalls, {"unknown", "survey", "the deadline passed", "--timeout"}},
        {Stage::rest, Fault::closes, {"unknown", "survey", "closed the connection", "cleanslate check"}},
    };
    for (const Cell& cell : cells) {
        SCOPED_TRACE(fmt::format("{}-{}", liar::name_of(cell.stage), liar::name_of(cell.fault)));
        const liar::Liar lying(liar::failing_at(cell.stage, cell.fault));
        const std::string report = check(target(lying));
        expect_says(report, "status 3");
        expect_says(report, "127.0.0.1 " + cell.says[0]);
        for (const std::string& part : cell.says) expect_says(report, part);
        EXPECT_TRUE(std::ranges::none_of(report, [](char c) { return c == '\x1b' || c == '\x07'; }));
    }
}

// One that was known yesterday and shows another key today.
TEST_F(SshLiarReport, a_key_that_changed_is_refused_and_the_known_one_named) {
    const liar::Key known;
    const liar::Liar other;
    const std::string name = fmt::format("[127.0.0.1]:{}", *other.endpoint().port);
    write_file(file("known_hosts"), known.known_hosts_line(name));
    const std::string report = check(fmt::format("nobody@127.0.0.1:{}", *other.endpoint().port));
    expect_says(report, "status 3");
    expect_says(report, "its host key has changed");
    expect_says(report, "known_hosts:1");
}

}  // namespace
}  // namespace cleanslate::agentless::contract
