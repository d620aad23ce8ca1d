// Hosts where nobody logs in as root: through a real sudo, with and without a password, and with no sudo.

#include <fcntl.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/integration/logins.hpp"
#include "tests/integration/program.hpp"

namespace cleanslate::testing {
namespace {

using simulated::comes_true;
using simulated::Descriptions;

const std::string secret = "Xyzzy-plugh-90210";  // alice's, on every host; stands nowhere else

// Looks at every command line of the machine until it goes.
class CommandLineWatch {
  public:
    CommandLineWatch() : thread_([this] { watch(); }) {}
    ~CommandLineWatch() { stop(); }
    // The command line that had the secret; empty: none.
    std::string found() {
        stop();
        return found_;
    }
    int looks() const { return looks_; }

  private:
    void watch() {
        while (!ended_) {
            std::error_code error;
            for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
                const auto text = read(entry.path() / "cmdline");
                if (text.find(secret) != std::string::npos) found_ = text;
            }
            ++looks_;
        }
    }
    // One that ends while it is read has no command line any more.
    static std::string read(const std::string& file) {
        std::string text(8192, '\0');
        const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) return {};
        const ssize_t count = ::read(fd, text.data(), text.size());
        ::close(fd);
        text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        return text;
    }
    void stop() {
        ended_ = true;
        if (thread_.joinable()) thread_.join();
    }
    std::atomic<bool> ended_ = false;
    std::atomic<int> looks_ = 0;
    std::string found_;
    std::thread thread_;
};

class Become : public ::testing::Test {
  protected:
    void SetUp() override {
        SKIP_WITHOUT_ROOT();
        if (access("/usr/bin/sudo", X_OK) != 0) GTEST_SKIP() << "needs sudo (package sudo)";
    }
    // Hosts where alice logs in and bob has a worker at GPU 1, alice one at GPU 0.
    void up(const std::vector<std::string>& names, const std::string& sudoers) {
        const Descriptions hosts;
        for (const auto& name : names)
            hosts.add(name,
                      "gpus 2\ninventory ansible_user alice\n"
                      "process own\n    exe /opt/serve/bin/python3\n    user alice\n    memory 0=2000\n"
                      "process other\n    exe /opt/serve/bin/python3\n    user bob\n    memory 1=3000\n");
        fleet_.emplace(std::vector<std::string>{hosts.folder()});
        ASSERT_EQ(fleet_->started().status, 0) << fleet_->started().out;
        operator_.emplace(*fleet_);
        for (const auto& name : names) {
            const auto done = fleet_->on(name, prepare(sudoers));
            ASSERT_EQ(done.status, 0) << done.out;
        }
    }
    // The host's own sudoers and password.
    static std::string prepare(const std::string& sudoers) {
        return give_sudoers(sudoers) + "hash=$(printf '%s\\n' '" + secret +
               "' | openssl passwd -6 -stdin); "
               "sed \"s|^alice:[^:]*:|alice:$hash:|\" /etc/shadow >/run/shadow; cat /run/shadow "
               ">/etc/shadow";
    }
    bool lives(const std::string& host, const std::string& name) const {
        for (const auto& process : fleet_->processes())
            if (process.host == host && process.name == name && process.state != 'Z') return true;
        return false;
    }
    // At a terminal, where the password is asked for.
    std::unique_ptr<Terminal> typing(const std::string& password, std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--become", "--ask-become-pass", "--color", "never"});
        auto terminal = std::make_unique<Terminal>(operator_->command(arguments), operator_->environment());
        EXPECT_TRUE(terminal->wait_for("Password of sudo")) << terminal->screen();
        terminal->type(password + "\n");
        return terminal;
    }
    // Everything that the program left: report and messages on the screen, audit log, history.
    void expect_no_secret(const std::string& screen, const std::string& what = secret) {
        EXPECT_EQ(screen.find(what), std::string::npos) << screen;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(operator_->home().path())) {
            if (!entry.is_regular_file()) continue;
            EXPECT_EQ(contents(entry.path()).find(what), std::string::npos) << entry.path();
        }
    }
    int attempts(const std::string& host) const {
        const auto log = fleet_->on(host, "cat /var/log/sudo.log 2>/dev/null; true").out;
        int count = 0;
        for (auto at = log.find("incorrect password"); at != std::string::npos;
             at = log.find("incorrect password", at + 1))
            ++count;
        return count;
    }

    std::optional<RunningFleet> fleet_;
    std::optional<Operator> operator_;
};

TEST_F(Become, ChecksAndClearsThroughASudoThatAsksForNothing) {
    for (const std::string pty : {"Defaults use_pty", "Defaults !use_pty"}) {
        up({"free"}, pty + "' 'alice ALL=(ALL) NOPASSWD: ALL");
        const auto checked = operator_->report({"check", "-l", "all", "--become"});
        EXPECT_EQ(checked.status, 1) << checked.err;
        EXPECT_EQ(checked.verdict("free"), "dirty") << checked.err;
        EXPECT_FALSE(checked.has_finding("free", "holders-not-visible"));
        const auto cleared = operator_->report({"clear", "-l", "all", "--become", "--yes"});
        EXPECT_EQ(cleared.status, 0) << cleared.err << cleared.document.dump(1);
        EXPECT_EQ(cleared.verdict("free"), "clean");
        EXPECT_FALSE(lives("free", "own"));
        EXPECT_FALSE(lives("free", "other"));
        const auto ran = operator_->run({"run", "-l", "all", "--become", "--yes", "--", "echo $(id -u)x"});
        EXPECT_NE(ran.out.find(" 0x\n"), std::string::npos) << ran.out;
    }
}

// sudo, its monitor and the shells above the script: whatever a playbook says, nobody saws at his own branch.
TEST_F(Become, SudoAndWhatElseStandsAboveTheScriptIsNoTarget) {
    for (const std::string pty : {"Defaults use_pty", "Defaults !use_pty"}) {
        up({"free"}, pty + "' 'alice ALL=(ALL) NOPASSWD: ALL");
        const std::string playbook = operator_->home() / "saw.yaml";
        std::ofstream(playbook) << "version: 1\nsteps:\n  - signal: KILL\n    match:\n      exe: "
                                   "'/(sudo|sh|dash|sshd)$'\n    wait: 1s\n";
        const auto cleared = operator_->report({"clear", "-l", "all", "--become", "--yes", "-p", playbook});
        EXPECT_FALSE(cleared.host("free").contains("error") && !cleared.host("free")["error"].is_null())
            << cleared.document.dump(1);
        EXPECT_TRUE(cleared.host("free")["actions"].empty()) << cleared.host("free")["actions"].dump(1);
        EXPECT_NE(cleared.document.dump().find("own ancestor"), std::string::npos)
            << "nothing of it was even seen: " << cleared.document.dump(1);
    }
}

TEST_F(Become, ChecksAndClearsWithAPasswordThatStandsNowhere) {
    up({"asks1", "asks2"}, "alice ALL=(ALL) ALL");
    CommandLineWatch watch;
    const auto checking = typing(secret, {"check", "-l", "all", "-vv"});
    EXPECT_EQ(checking->wait_end(), 1) << checking->screen();
    EXPECT_NE(checking->screen().find("dirty"), std::string::npos) << checking->screen();
    const auto clearing = typing(secret, {"clear", "-l", "all", "--yes", "-vv"});
    EXPECT_EQ(clearing->wait_end(), 0) << clearing->screen();
    EXPECT_EQ(watch.found(), "");
    EXPECT_GT(watch.looks(), 1);
    for (const std::string host : {"asks1", "asks2"}) {
        EXPECT_FALSE(lives(host, "own"));
        EXPECT_FALSE(lives(host, "other"));
        EXPECT_EQ(attempts(host), 0);
        EXPECT_EQ(fleet_->on(host, "grep -c COMMAND= /var/log/sudo.log").status, 0) << "sudo ran nothing";
        EXPECT_NE(fleet_->on(host, "grep -rF " + secret + " /var/log /run /tmp /home").status, 0);
    }
    EXPECT_FALSE(operator_->audit().empty());
    expect_no_secret(checking->screen() + clearing->screen());
}

TEST_F(Become, AWrongPasswordIsSeenByOneHostAlone) {
    const std::vector<std::string> hosts{"w1", "w2", "w3", "w4", "w5", "w6"};
    up(hosts, "alice ALL=(ALL) ALL");
    const std::string wrong = "Wrong-plover-31337";
    const auto clearing = typing(wrong, {"clear", "-l", "all", "--yes", "-vv"});
    EXPECT_EQ(clearing->wait_end(), 3) << clearing->screen();
    int sum = 0;
    for (const auto& host : hosts) {
        sum += attempts(host);
        EXPECT_TRUE(lives(host, "own"));
        EXPECT_TRUE(lives(host, "other"));
    }
    EXPECT_EQ(sum, 1);
    EXPECT_NE(clearing->screen().find("not tried here"), std::string::npos) << clearing->screen();
    EXPECT_NE(clearing->screen().find("sudo refused the password"), std::string::npos) << clearing->screen();
    expect_no_secret(clearing->screen(), wrong);
}

TEST_F(Become, AnAccountWithoutSudoRightsIsToldSo) {
    up({"none"}, "root ALL=(ALL) ALL");
    const auto silent = operator_->report({"check", "-l", "all", "--become"});
    EXPECT_EQ(silent.status, 3);
    const auto& error = silent.host("none")["error"];
    EXPECT_EQ(error["kind"], "become_failed") << error.dump();
    EXPECT_EQ(error["phase"], "become");
    EXPECT_FALSE(error["remedy"].get<std::string>().empty());
    const auto clearing = typing(secret, {"clear", "-l", "all", "--yes"});
    EXPECT_EQ(clearing->wait_end(), 3) << clearing->screen();
    EXPECT_NE(clearing->screen().find("may not use sudo"), std::string::npos) << clearing->screen();
    EXPECT_TRUE(lives("none", "own"));
    expect_no_secret(clearing->screen());
}

TEST_F(Become, ASudoThatAsksAndGetsNoPasswordNamesBothRemedies) {
    up({"asks"}, "alice ALL=(ALL) ALL");
    const auto report = operator_->report({"clear", "-l", "all", "--become", "--yes"});
    EXPECT_EQ(report.status, 3);
    const auto& error = report.host("asks")["error"];
    EXPECT_NE(error["message"].get<std::string>().find("a password is required"), std::string::npos);
    EXPECT_NE(error["remedy"].get<std::string>().find("NOPASSWD"), std::string::npos);
    EXPECT_NE(error["remedy"].get<std::string>().find("--ask-become-pass"), std::string::npos);
    EXPECT_TRUE(lives("asks", "own"));
    EXPECT_EQ(attempts("asks"), 0);
}

TEST_F(Become, AHostWithoutSudoIsToldSoAndARootLoginNeedsNone) {
    up({"bare"}, "alice ALL=(ALL) NOPASSWD: ALL");
    const auto hidden = fleet_->on(
        "bare",
        "mkdir /run/hide && mknod /run/hide/sudo c 0 0 && "
        "mount -t overlay overlay -o lowerdir=/run/hide:/usr/bin /usr/bin && ! test -e /usr/bin/sudo");
    if (hidden.status != 0) GTEST_SKIP() << "this machine cannot hide sudo from a host: " << hidden.out;
    const auto report = operator_->report({"check", "-l", "all", "--become"});
    EXPECT_EQ(report.status, 3) << report.err;
    EXPECT_NE(report.host("bare")["error"]["message"].get<std::string>().find("there is no sudo"),
              std::string::npos)
        << report.host("bare").dump(1);
    const auto root = operator_->report({"clear", "-l", "all", "--become", "--yes", "-u", "root"});
    EXPECT_EQ(root.status, 0) << root.err;
    EXPECT_EQ(root.verdict("bare"), "clean");
}

// csh, tcsh and fish read a command in their own ways.
class BecomeIn : public Become, public ::testing::WithParamInterface<const char*> {};

TEST_P(BecomeIn, ALoginShellOfAnyKind) {
    const std::string shell = GetParam();
    if (access(shell.c_str(), X_OK) != 0) GTEST_SKIP() << "needs " << shell;
    up({"shell"}, "alice ALL=(ALL) ALL");
    const auto changed = fleet_->on("shell", "sed 's|^\\(alice:.*\\):[^:]*$|\\1:" + shell +
                                                 "|' /etc/passwd >/run/p && cat /run/p >/etc/passwd && grep "
                                                 "^alice: /etc/passwd");
    ASSERT_NE(changed.out.find(shell), std::string::npos) << changed.out;
    const auto checking = typing(secret, {"check", "-l", "all"});
    EXPECT_EQ(checking->wait_end(), 1) << checking->screen();
    EXPECT_EQ(attempts("shell"), 0);
    const auto silent = operator_->report({"check", "-l", "all", "--become"});
    EXPECT_EQ(silent.host("shell")["error"]["kind"], "become_failed");
}

INSTANTIATE_TEST_SUITE_P(Shells, BecomeIn,
                         ::testing::Values("/bin/csh", "/usr/bin/tcsh", "/usr/bin/fish", "/bin/bash",
                                           "/bin/mksh", "/bin/ksh93"),
                         [](const auto& shell) {
                             const std::string path = shell.param;
                             return path.substr(path.rfind('/') + 1);
                         });

// No sudo asked for: an ordinary user ends what is his own, and is told whose the rest is.
TEST_F(Become, APlainUserEndsHisOwnProcessesAndOthersAreListedWithTheirOwner) {
    up({"plain"}, "root ALL=(ALL) ALL");
    const auto checked = operator_->report({"check", "-l", "all"});
    EXPECT_EQ(checked.status, 1) << checked.err << checked.document.dump(1);
    EXPECT_EQ(checked.verdict("plain"), "dirty");
    EXPECT_TRUE(checked.has_finding("plain", "holders-not-visible")) << checked.document.dump(1);
    EXPECT_NE(checked.host("plain").dump().find("\"bob\""), std::string::npos) << checked.host("plain");
    const auto cleared = operator_->report({"clear", "-l", "all", "--yes"});
    EXPECT_EQ(cleared.status, 1) << cleared.err;
    EXPECT_EQ(cleared.verdict("plain"), "dirty");
    EXPECT_TRUE(comes_true([&] { return !lives("plain", "own"); }));
    EXPECT_TRUE(lives("plain", "other"));
    const auto& spared = cleared.host("plain")["spared"];
    ASSERT_EQ(spared.size(), 1u) << spared.dump(1);
    EXPECT_EQ(spared[0]["code"], "not-permitted");
    EXPECT_EQ(spared[0]["user"], "bob");
}

// What is not visible is clean only by the driver's word, and with --require-holders not even then.
TEST_F(Become, APlainUserSeesACleanHostByTheDriversOwnList) {
    up({"plain"}, "root ALL=(ALL) ALL");
    for (const auto& process : fleet_->processes())
        if (process.name == "own" || process.name == "other") kill(process.outer, SIGKILL);
    ASSERT_TRUE(comes_true([&] {
        const auto apps = fleet_->smi("plain", "--query-compute-apps=pid --format=csv,noheader");
        return apps.empty() && !lives("plain", "own") && !lives("plain", "other");
    }));
    const auto checked = operator_->report({"check", "-l", "all"});
    EXPECT_EQ(checked.status, 0) << checked.err << checked.document.dump(1);
    EXPECT_TRUE(checked.has_finding("plain", "holders-not-visible"));
    const auto strict = operator_->report({"check", "-l", "all", "--require-holders"});
    EXPECT_EQ(strict.status, 3);
    EXPECT_EQ(strict.verdict("plain"), "unknown");
}

}  // namespace
}  // namespace cleanslate::testing
