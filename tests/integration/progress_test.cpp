// The line that a terminal shows while a sweep runs, and Enter, over hosts that accept a connection and say
// nothing.

#include <fstream>

#include "tests/integration/program.hpp"
#include "tests/integration/silent_host.hpp"

namespace cleanslate::testing {
namespace {

class Watched : public ::testing::Test {
  protected:
    Watched() {
        std::ofstream(folder_ / "hosts.yaml")
            << "all: {vars: {user: root, host: 127.0.0.1, port: " << silence_.port()
            << "}, hosts: {'gpu[1-3]': }}\n";
        std::ofstream(folder_ / "id");
    }
    std::map<std::string, std::string> environment(std::map<std::string, std::string> more = {}) const {
        more.insert({{"HOME", folder_.path()},
                     {"XDG_STATE_HOME", folder_ / "state"},
                     {"SSH_AUTH_SOCK", ""},
                     {"TERM", "xterm"},
                     {"XTERM_VERSION", ""},
                     {"PS1", "$ "},
                     {"NO_COLOR", "1"}});
        return more;
    }
    std::string check() const {
        return program() + " check --no-history -F none --host-key-check off --connect-timeout 100s -i " +
               (folder_ / "hosts.yaml");
    }
    // `script` under a bash whose jobs are controlled, as at a login.
    void open(const std::string& script, const std::map<std::string, std::string>& more = {}) {
        terminal_.emplace(std::vector<std::string>{"bash", "-c", script}, environment(more));
    }
    void open_shell() {
        terminal_.emplace(std::vector<std::string>{"bash", "--norc", "--noprofile", "-i"}, environment());
        ASSERT_TRUE(terminal_->wait_for("$ ")) << screen();
    }
    bool sees(const std::string& text) { return terminal_->wait_for(text); }
    void end_by_interrupts() {
        terminal_->type("\x03");
        ASSERT_TRUE(sees("once more to cut them")) << screen();
        terminal_->type("\x03");
    }
    const std::string& screen() const { return terminal_->screen(); }

    SilentHost silence_;
    TemporaryFolder folder_;
    std::optional<Terminal> terminal_;
};

TEST_F(Watched, ATerminalShowsABarAndWhoItWaitsFor) {
    open(check());
    EXPECT_TRUE(sees("] 0/3 hosts; 0 s")) << screen();
    EXPECT_TRUE(sees("waiting for gpu1: connect (")) << screen();
    end_by_interrupts();
    EXPECT_EQ(terminal_->wait_end(), 130) << screen();
}

TEST_F(Watched, AfterAResizeNoLineIsWiderThanTheTerminal) {
    open(check());
    ASSERT_TRUE(sees("waiting for gpu1")) << screen();
    terminal_->resize(20);
    ASSERT_TRUE(sees("\x1b[J")) << "the wrapped line is erased as a whole: " << screen();
    terminal_->forget();
    ASSERT_TRUE(sees("\r\x1b[K0/3 hosts; ")) << screen();
    terminal_->resize(200);
    ASSERT_TRUE(sees("gpu1: connect (")) << screen();
    ASSERT_TRUE(sees("gpu3: connect (")) << screen();
    const std::string narrow = screen().substr(0, screen().find('[', 5));
    for (std::size_t at = narrow.find("0/3"); at != std::string::npos; at = narrow.find("0/3", at + 1))
        EXPECT_LE(std::min(narrow.find('\r', at), narrow.size()) - at, 19u) << narrow;
    end_by_interrupts();
    EXPECT_EQ(terminal_->wait_end(), 130) << screen();
}

TEST_F(Watched, EnterSaysWhoIsUnfinishedAndTheBarGoesOn) {
    open(check());
    ASSERT_TRUE(sees("0/3 hosts")) << screen();
    for (int again = 0; again < 2; ++again) {
        terminal_->forget();
        terminal_->type("\n");
        ASSERT_TRUE(sees("3 hosts under way:\r\n  connect, ")) << screen();
        ASSERT_TRUE(sees("gpu[1-3] (3)\r\n")) << screen();
        ASSERT_TRUE(sees("0/3 hosts")) << screen();
    }
    end_by_interrupts();
    EXPECT_EQ(terminal_->wait_end(), 130) << screen();
}

TEST_F(Watched, WordsThatAreTypedAreLeftToTheShell) {
    open(check() + " --deadline 6s; read -r line; echo \"the shell got <$line>\"");
    ASSERT_TRUE(sees("0/3 hosts")) << screen();
    terminal_->type("uptime\n");
    EXPECT_TRUE(sees("the shell got <uptime>")) << screen();
    EXPECT_EQ(screen().find("under way:"), std::string::npos) << screen();
}

TEST_F(Watched, InTheBackgroundItReadsAndDrawsNothingAndIsNotStopped) {
    open_shell();
    terminal_->type(check() + "\n");
    ASSERT_TRUE(sees("0/3 hosts")) << screen();
    terminal_->type("\x1a");
    ASSERT_TRUE(sees("Stopped")) << screen();
    terminal_->type("bg\n");
    ASSERT_TRUE(sees("&\r\n")) << screen();
    // The shell has the terminal and reads what is typed; longer than the program looks away from it.
    terminal_->type("\n\nsleep 1; echo slept-$((40 + 2))\n");
    ASSERT_TRUE(sees("slept-42")) << screen();
    terminal_->forget();
    terminal_->type("jobs; sleep 1; echo slept-$((40 + 3))\n");
    ASSERT_TRUE(sees("Running")) << screen();
    ASSERT_TRUE(sees("slept-43")) << screen();
    EXPECT_EQ(screen().find("0/3"), std::string::npos) << "drawn over the shell's lines: " << screen();
    EXPECT_EQ(screen().find("under way"), std::string::npos) << screen();
    terminal_->forget();
    terminal_->type("fg\n");
    ASSERT_TRUE(sees("0/3")) << screen();
    terminal_->type("\n");
    ASSERT_TRUE(sees("3 hosts under way")) << screen();
    end_by_interrupts();
    terminal_->type("exit\n");
    terminal_->wait_end();
}

TEST_F(Watched, APipeGetsNothingOfIt) {
    open(check() + " --deadline 4s 2>&1 >/dev/null | cat >" + (folder_ / "err"));
    ASSERT_TRUE(terminal_->wait_end() == 0) << screen();
    const std::string err = contents(folder_ / "err");
    EXPECT_EQ(err.find("0/3"), std::string::npos) << err;
    EXPECT_EQ(err.find('\x1b'), std::string::npos) << err;
    EXPECT_EQ(screen(), "");
}

TEST_F(Watched, QuietShowsNothingOfIt) {
    open(check() + " --deadline 4s --quiet");
    EXPECT_EQ(terminal_->wait_end(), 4) << screen();
    EXPECT_EQ(screen().find("0/3"), std::string::npos) << screen();
    EXPECT_EQ(screen().find("waiting for"), std::string::npos) << screen();
}

TEST_F(Watched, ADumbTerminalSeesNoEscapeCodeButStillAnswersEnter) {
    open(check(), {{"TERM", "dumb"}});
    // Nothing says that it is ready: Enter is typed until it is.
    for (int tries = 0; tries < 100 && screen().find("3 hosts under way") == std::string::npos; ++tries) {
        terminal_->type("\n");
        terminal_->wait_for("3 hosts under way", std::chrono::seconds(1));
    }
    EXPECT_NE(screen().find("3 hosts under way"), std::string::npos) << screen();
    end_by_interrupts();
    EXPECT_EQ(terminal_->wait_end(), 130) << screen();
    EXPECT_EQ(screen().find('\x1b'), std::string::npos) << screen();
}

}  // namespace
}  // namespace cleanslate::testing
