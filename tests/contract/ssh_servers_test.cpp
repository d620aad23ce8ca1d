// Other servers than OpenSSH's, and what stands between a server and /bin/sh: login shells of every kind,
// their files that print, sleep or fail, and servers that run something else than they were asked to.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "agentless/ssh/library.hpp"
#include "tests/contract/fake_server.hpp"
#include "tests/contract/jump_fixture.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

constexpr const char* home_of_its_own = "mount -t tmpfs -o mode=700 none /root; mkdir -m 700 /root/.ssh; ";

// Runs the same everywhere: a script over stdin, more output than one packet, both streams, a status.
const std::string script_text =
    "echo in\n"
    "i=0; while [ $i -lt 5000 ]; do echo 0123456789abcdef0123456789abcdef; i=$((i+1)); done\n"
    "echo err >&2\n"
    "exit 7\n";

class SshServers : public SshTest {
  protected:
    void SetUp() override {
        SshTest::SetUp();
        if (IsSkipped()) return;
        if (geteuid() != 0) GTEST_SKIP() << "needs root, for servers with a home of their own";
        files_ = std::make_unique<TemporaryFolder>();
        shell("ssh-keygen -q -t ed25519 -N '' -C test -f " + file("client"));
        port_ = free_port();
    }

    std::string file(const std::string& name) const { return files_->path(name); }
    Endpoint endpoint() const {
        return {.name = "host", .address = "127.0.0.77", .port = port_, .user = "root", .identity_file = {}};
    }
    SshOptions options(const std::string& host_key_line) const {
        SshOptions options;
        options.identity_files = {file("client")};
        write_file(file("known_hosts"), "[127.0.0.77]:" + std::to_string(port_) + " " + host_key_line + "\n");
        options.known_hosts = {file("known_hosts")};
        options.home = file("home");
        options.config_file = "none";
        return options;
    }

    void expect_whole_run(Connection& connection) {
        const Script script{"/bin/sh -s", script_text};
        const auto ran = await(io_, connection.run(script, Limits{in(60s)}));
        ASSERT_TRUE(ran) << ran.error().message;
        EXPECT_TRUE(ran->out.starts_with("in\n0123"));
        EXPECT_EQ(ran->out.size(), 3u + 5000u * 33u);
        EXPECT_EQ(ran->err, "err\n");
        EXPECT_EQ(ran->exit_status, 7);
    }

    std::unique_ptr<TemporaryFolder> files_;
    std::uint16_t port_ = 0;
};

class Dropbear : public SshServers {
  protected:
    void SetUp() override {
        SshServers::SetUp();
        if (IsSkipped()) return;
        if (access("/usr/sbin/dropbear", X_OK) != 0) GTEST_SKIP() << "needs dropbear (package dropbear-bin)";
    }
    // The public half of a host key of that type, as it stands in known_hosts.
    std::string start(const std::string& type) {
        const std::string told =
            shell("dropbearkey -t " + type + " -f " + file("host_" + type) + " 2>/dev/null");
        program_ = std::make_unique<Program>(
            in_own_mounts(home_of_its_own + ("cat " + file("client.pub") + " >/root/.ssh/authorized_keys"),
                          "/usr/sbin/dropbear -F -E -s -m -P " + file("pid") +
                              " -p 127.0.0.77:" + std::to_string(port_) + " -r " + file("host_" + type)));
        wait_for_server(*program_, port_);
        const auto from = told.find(type == "ecdsa" ? "ecdsa-sha2" : "ssh-");
        const auto blank = told.find(' ', told.find(' ', from) + 1);
        return told.substr(from, blank - from);
    }
    std::unique_ptr<Program> program_;
};

TEST_F(Dropbear, runs_scripts_one_after_another_in_one_session) {
    const std::string key = start("ed25519");
    const auto connection = open(options(key), endpoint());
    ASSERT_TRUE(connection) << connection.error().message;
    for (int i = 0; i < 3; ++i) expect_whole_run(**connection);
}

TEST_F(Dropbear, is_believed_by_a_key_of_each_type_that_it_has) {
    for (const char* type : {"ed25519", "ecdsa", "rsa"}) {
        if (std::string(type) == "rsa" && !ssh::rsa_works()) continue;
        port_ = free_port();
        const std::string key = start(type);
        const auto connection = open(options(key), endpoint());
        EXPECT_TRUE(connection) << type << ": " << connection.error().message;
    }
}

TEST_F(Dropbear, that_takes_no_more_logins_at_once_is_asked_by_a_few_at_a_time) {
    const std::string key = start("ed25519");
    auto context = load_ssh_context(options(key));
    ASSERT_TRUE(context) << context.error().message;
    transport_ = make_ssh_transport(io_, *context);
    const std::vector<Endpoint> hosts(20, endpoint());
    for (const Visit& visit : visit_all(io_, *transport_, hosts, Script{"echo in", ""}))
        EXPECT_TRUE(visit.ok("in\n")) << visit.problem();
}

TEST_F(Dropbear, that_refuses_the_key_is_told_by_its_fingerprint) {
    shell("ssh-keygen -q -t ed25519 -N '' -C test -f " + file("other"));
    SshOptions wrong = options(start("ed25519"));
    wrong.identity_files = {file("other")};
    const Error error = expect_refused(wrong, endpoint(), "auth_failed", "auth");
    expect_says(error.message, "SHA256:");
}

// Serves one connection on its standard streams: ed25519 and chacha20-poly1305 alone.
class Tinysshd : public SshServers {
  protected:
    void SetUp() override {
        SshServers::SetUp();
        if (IsSkipped()) return;
        for (const std::string& folder :
             {std::string(CLEANSLATE_SOURCE_DIR "/build/unpacked/usr/sbin"), std::string("/usr/sbin")})
            if (folder_.empty() && access((folder + "/tinysshd").c_str(), X_OK) == 0) folder_ = folder;
        if (folder_.empty()) GTEST_SKIP() << "needs tinysshd (unpacked by ./dev test)";
        if (!ssh::rsa_works()) GTEST_SKIP() << "needs libssh2 1.11: older ones have no chacha20-poly1305";
    }

    void serve(int peer) const {
        const pid_t child = fork();
        if (child == 0) {
            dup2(peer, 0);
            dup2(peer, 1);
            const auto command = in_own_mounts(
                home_of_its_own + ("cat " + file("client.pub") +
                                   " >/root/.ssh/authorized_keys; chmod 600 /root/.ssh/authorized_keys"),
                folder_ + "/tinysshd " + file("keys"));
            std::vector<char*> arguments;
            for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
            arguments.push_back(nullptr);
            execv(arguments[0], arguments.data());
            _exit(127);
        }
        waitpid(child, nullptr, 0);
    }
    std::string folder_;
};

// It serves one command a connection: enough for a survey, and the end of anything longer is never taken for
// an answer.
TEST_F(Tinysshd, runs_one_script_a_connection_and_is_lost_for_the_next) {
    shell("cd " + folder_ + " && ./tinysshd-makekey " + file("keys"));
    const std::string known = shell("cd " + folder_ + " && ./tinysshd-printkey " + file("keys"));
    const auto from = known.find("ssh-ed25519 ");
    ASSERT_NE(from, std::string::npos) << known;
    std::string key = known.substr(from);
    key.resize(key.find_last_not_of(" \n") + 1);
    FakeServer server([&](int peer) { serve(peer); });
    SshOptions with = options(key);
    write_file(file("known_hosts"),
               "[127.0.0.1]:" + std::to_string(*server.endpoint().port) + " " + key + "\n");
    Endpoint where = server.endpoint();
    where.user = "root";
    const auto connection = open(with, where);
    ASSERT_TRUE(connection) << connection.error().message;
    expect_whole_run(**connection);
    const Script script{"/bin/sh -s", "echo in\n"};
    const auto again = await(io_, (*connection)->run(script, Limits{in(60s)}));
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().kind, "connection_lost");
    expect_says(again.error().message, "after the command before");
}

// --- login shells

struct LoginShell {
    std::string name, path, package;
    std::string rc_file = {};      // read by it for a command of ssh; empty: none
    bool rc_file_may_exit = true;  // `exit` there ends the shell; else the file alone
};

const LoginShell with_file[] = {
    {"bash", "/bin/bash", "bash", ".bashrc"},
    {"csh", "/bin/csh", "tcsh", ".cshrc", false},
    {"tcsh", "/usr/bin/tcsh", "tcsh", ".tcshrc", false},
    {"zsh", "/bin/zsh", "zsh", ".zshenv"},
    {"fish", "/usr/bin/fish", "fish", ".config/fish/config.fish", false},
};
const LoginShell without_file[] = {
    {"dash", "/bin/dash", "dash"},
    {"mksh", "/bin/mksh", "mksh"},
    {"ksh93", "/bin/ksh93", "ksh93u+m"},
};
std::string name_of(const testing::TestParamInfo<LoginShell>& instance) { return instance.param.name; }

class LoginShells : public SshServers, public testing::WithParamInterface<LoginShell> {
  protected:
    void SetUp() override {
        SshServers::SetUp();
        if (IsSkipped()) return;
        if (access(GetParam().path.c_str(), X_OK) != 0)
            GTEST_SKIP() << "needs " << GetParam().path << " (package " << GetParam().package << ")";
    }
    // An sshd whose root has that login shell, and `rc` as the file that it reads first.
    void start(const std::string& rc = {}) {
        write_file(file("passwd"),
                   "root:x:0:0::/root:" + GetParam().path +
                       "\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n"
                       "nobody:x:65534:65534::/:/usr/sbin/nologin\n",
                   0644);
        std::string set_up = home_of_its_own + ("mount --bind " + file("passwd") + " /etc/passwd; ");
        if (!rc.empty()) {
            write_file(file("rc"), rc);
            const std::string rc_path = "/root/" + GetParam().rc_file;
            set_up += "mkdir -p " + std::filesystem::path(rc_path).parent_path().string() + "; cp " +
                      file("rc") + " " + rc_path + "; ";
        }
        sshd_ = std::make_unique<Sshd>("SetEnv SHELL_IN_TEST=1", set_up + ":");
    }
    std::unique_ptr<Connection> connect() {
        SshOptions with = sshd_->options();
        with.config_file = "none";
        auto connection = open(with, sshd_->endpoint());
        EXPECT_TRUE(connection) << connection.error().message;
        return connection ? std::move(*connection) : nullptr;
    }
    std::unique_ptr<Sshd> sshd_;
};

TEST_P(LoginShells, hand_the_script_to_sh_as_it_is) {
    start();
    const auto connection = connect();
    ASSERT_TRUE(connection);
    expect_whole_run(*connection);
}

class ShellFiles : public LoginShells {};

TEST_P(ShellFiles, that_print_put_that_before_the_scripts_own_output) {
    start("echo noise\n");
    const auto connection = connect();
    ASSERT_TRUE(connection);
    const Script script{"/bin/sh -s", "echo in\n"};
    const auto ran = await(io_, connection->run(script, Limits{in(60s)}));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "noise\nin\n");
}

TEST_P(ShellFiles, that_take_their_time_are_waited_for) {
    start("sleep 1\n");
    const auto connection = connect();
    ASSERT_TRUE(connection);
    expect_whole_run(*connection);
}

TEST_P(ShellFiles, that_never_end_end_with_the_deadline) {
    start("sleep 1000\n");
    const auto connection = connect();
    ASSERT_TRUE(connection);
    const Script script{"/bin/sh -s", "echo in\n"};
    const auto ran = await(io_, connection->run(script, Limits{in(2s)}));
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "timeout");
}

TEST_P(ShellFiles, that_exit_run_nothing_and_give_their_status) {
    start("exit 3\n");
    const auto connection = connect();
    ASSERT_TRUE(connection);
    const Script script{"/bin/sh -s", "echo in\n"};
    const auto ran = await(io_, connection->run(script, Limits{in(60s)}));
    ASSERT_TRUE(ran) << ran.error().message;
    const bool ends = GetParam().rc_file_may_exit;
    EXPECT_EQ(ran->out, ends ? "" : "in\n");
    EXPECT_EQ(ran->exit_status, ends ? 3 : 0);
}

INSTANTIATE_TEST_SUITE_P(WithFile, LoginShells, testing::ValuesIn(with_file), name_of);
INSTANTIATE_TEST_SUITE_P(WithoutFile, LoginShells, testing::ValuesIn(without_file), name_of);
INSTANTIATE_TEST_SUITE_P(WithFile, ShellFiles, testing::ValuesIn(with_file), name_of);

class ForcedCommands : public SshServers {};

TEST_F(ForcedCommands, that_run_something_else_are_no_answer_to_the_script) {
    const Sshd sshd("ForceCommand echo go away; exit 9");
    const auto connection = open(sshd.options(), sshd.endpoint());
    ASSERT_TRUE(connection) << connection.error().message;
    const Script script{"/bin/sh -s", "echo in\n"};
    const auto ran = await(io_, (*connection)->run(script, Limits{in(60s)}));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "go away\n");
    EXPECT_EQ(ran->exit_status, 9);
}

}  // namespace
}  // namespace cleanslate::agentless::contract
