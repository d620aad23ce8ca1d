// Where this machine, or whoever reads what is printed, is short of something: bounded, said, and nothing
// lost. Over hosts that one process simulates (tests/fleet/scale/).

#include "tests/integration/program.hpp"

namespace cleanslate::testing {
namespace {

using namespace std::chrono_literals;

// `serve N`: a fleet of N hosts in $FOLDER, ready; it ends with its standard input, and so with the shell,
// even where that is killed. `cleanslate VERB ...`: over them.
constexpr const char* words = R"(
set -eu
serve() {
    exec 8> >(exec "$BIN/fleet/simfleet" "$FOLDER" --port 0 --hosts "$@" >"$FOLDER.log" 2>&1)
    server=$!
    trap 'kill $server; wait $server || true' EXIT
    until [ -e "$FOLDER/ready" ]; do kill -0 $server || { cat "$FOLDER.log"; exit 99; }; sleep 0.05; done
}
over() { verb=$1; shift
    "$BIN/cleanslate" $verb --known-hosts "$FOLDER/known_hosts" --identity "$FOLDER/id" -F none "$@" 8>&-; }
fleet() { over "$@" -i "$FOLDER/inventory.yaml" -l all; }
)";

class Overload : public ::testing::Test {
  protected:
    void SetUp() override {
        SKIP_WITHOUT_ROOT();
        if (!std::filesystem::exists(binary("fleet/simfleet")))
            GTEST_SKIP() << "simfleet is not built: libssh-dev";
        std::filesystem::create_directory(folder_ / "fleet");
    }
    static std::string binary(const std::string& name) {
        return std::string(CLEANSLATE_BINARY_DIR) + "/" + name;
    }
    // Under bash, `before` in front of it.
    Ended shell(const std::string& script, std::vector<std::string> before = {}) const {
        before.insert(before.end(), {"bash", "-c", words + script});
        return testing::run({before, "", environment(), 120s});
    }
    std::map<std::string, std::string> environment() const {
        return {{"BIN", CLEANSLATE_BINARY_DIR},
                {"FOLDER", folder_ / "fleet"},
                {"HOME", folder_.path()},
                {"XDG_STATE_HOME", folder_ / "state"},
                {"SSH_AUTH_SOCK", ""}};
    }
    // Hosts that all have the same address, in a network of their own, so that their connections compete for
    // ports.
    void write_inventory(const std::string& name, const std::string& host_variables,
                         const std::string& last) const {
        std::ofstream(folder_ / name) << "all:\n  vars:\n    user: root\n    port: 2200\n    gpus: 8\n"
                                      << host_variables << "  hosts:\n    one[001-" << last << "]:\n";
    }
    static std::size_t count(const std::string& text, const std::string& part) {
        std::size_t found = 0;
        for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
        return found;
    }
    TemporaryFolder folder_;
};

TEST_F(Overload, SixtyFourOpenFilesAreEnoughForAHundredHosts) {
    const auto ended = shell("serve 100\nulimit -n 64\nfleet check --format json");
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(json::parse(ended.out)["summary"]["hosts"]["clean"], 100);
    EXPECT_NE(ended.err.find("ulimit"), std::string::npos) << ended.err;
}

TEST_F(Overload, HostsWaitForAFreePortToConnectFrom) {
    write_inventory("one-address.yaml", "    host: 127.64.0.1\n", "100");
    const auto ended = shell(
        "serve 1 --port 2200\nover check -i " + (folder_ / "one-address.yaml") + " -l all --format json",
        {binary("fleet/lonely"), "--ports", "40000-40007"});
    EXPECT_EQ(ended.status, 0) << ended.err << ended.out;
    EXPECT_EQ(json::parse(ended.out)["summary"]["hosts"]["clean"], 100);
}

TEST_F(Overload, PortsThatOthersHoldForGoodEndTheSweepInTimeAndAreNamed) {
    write_inventory("one-address.yaml", "    host: 127.64.0.1\n",
                    "005");  // as many as log in at one server at a time
    const auto ended = shell(
        "serve 1 --port 2200\n"
        "while { exec {held}<>/dev/tcp/127.64.0.1/2200; } 2>/dev/null; do :; done\n"
        "over check -i " +
            (folder_ / "one-address.yaml") + " -l all --format json --deadline 3s",
        {binary("fleet/lonely"), "--ports", "40000-40007"});
    EXPECT_EQ(ended.status, 4) << ended.err << ended.out;
    const auto report = json::parse(ended.out);
    ASSERT_EQ(report["hosts"].size(), 5u);
    for (const auto& host : report["hosts"])
        EXPECT_NE(host["error"]["message"].get<std::string>().find("no port was free to connect from"),
                  std::string::npos)
            << host;
    EXPECT_LT(ended.took, 60s);
}

// More names than there are threads to look them up, each of which waits longer than a connect may take.
TEST_F(Overload, ANameServerThatIsSlowCostsTimeAndNoHost) {
    write_inventory("by-name.yaml", "", "600");
    const auto ended = shell("serve 1 --port 2200\nover check -i " + (folder_ / "by-name.yaml") +
                                 " -l all --format json --host-key-check off",
                             {binary("fleet/lonely"), "--slow-dns", "1000", "127.64.0.1"});
    EXPECT_EQ(ended.status, 0) << ended.err << ended.out;
    EXPECT_EQ(json::parse(ended.out)["summary"]["hosts"]["clean"], 600);
}

TEST_F(Overload, ANameServerThatIsTooSlowIsNamedAndEndsWithItsDeadline) {
    write_inventory("by-name.yaml", "", "060");
    const auto ended = shell("serve 1 --port 2200\nover check -i " + (folder_ / "by-name.yaml") +
                                 " -l all --format json --connect-timeout 1s --host-key-check off",
                             {binary("fleet/lonely"), "--slow-dns", "10000", "127.64.0.1"});
    EXPECT_EQ(ended.status, 3) << ended.err << ended.out;
    EXPECT_EQ(json::parse(ended.out)["summary"]["hosts"]["unreachable"], 60);
    EXPECT_EQ(count(ended.out, "the name servers did not answer in time"), 60u) << ended.out;
    EXPECT_LT(ended.took, 30s);
}

// A reader that holds the pipe open and never reads, and a pipe in which there is no room left.
constexpr const char* full_pipe = R"(
mkfifo "$FOLDER/full"
exec 9<>"$FOLDER/full"
dd if=/dev/zero of="$FOLDER/full" oflag=nonblock bs=4096 2>/dev/null && exit 98
dd if=/dev/zero of="$FOLDER/full" oflag=nonblock bs=1 count=1 2>/dev/null && exit 98
)";

TEST_F(Overload, AReportThatNobodyReadsSaysSoAndASignalGivesItUp) {
    const auto ended = shell(std::string("serve 200\n") + full_pipe + R"(
fleet check --format json >"$FOLDER/full" 2>"$FOLDER/err" &
until grep -q 'waits for somebody to read' "$FOLDER/err"; do kill -0 $!; sleep 0.1; done
pid=$(pgrep -P $! cleanslate || echo $!)
kill -TERM $pid
wait $! && status=0 || status=$?
echo "status $status"
cat "$FOLDER/err")");
    EXPECT_NE(ended.out.find("status 5"), std::string::npos) << ended.out << ended.err;
    EXPECT_NE(ended.out.find("could not be written: nobody reads it"), std::string::npos) << ended.out;
}

TEST_F(Overload, DetailsThatNobodyReadsHoldUpNoHost) {
    const auto ended = shell(std::string("serve 100\n") + full_pipe + R"(
fleet check -vv --format json 2>"$FOLDER/full")");
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(json::parse(ended.out)["summary"]["hosts"]["clean"], 100);
}

TEST_F(Overload, ATerminalThatIsGoneEndsTheSweepAndTheAuditSaysWhy) {
    const RunningFleet fleet({"demo/hosts/gpu02.host"});  // its worker ignores TERM
    ASSERT_EQ(fleet.started().status, 0) << fleet.started().out;
    const Operator person(fleet);
    Terminal terminal(person.command({"clear", "-l", "all", "--yes"}), person.environment());
    ASSERT_TRUE(terminal.wait_for("TERM")) << terminal.screen();
    terminal.hang_up();
    EXPECT_EQ(terminal.wait_end(30s), 5) << "its report could not be written";
    EXPECT_NE(person.audit().find("interrupted"), std::string::npos) << person.audit();
    EXPECT_EQ(person.audit().find("KILL"), std::string::npos) << "no new step once nobody is there";
}

}  // namespace
}  // namespace cleanslate::testing
