// Configurations made at random from a small grammar: ssh and cleanslate decide the same for each host.
#include <gtest/gtest.h>

#include <random>

#include "tests/contract/ssh_config_judge.hpp"
#include "tests/contract/sshd.hpp"

namespace cleanslate::agentless::contract {
namespace {

constexpr int configurations = 200;

class Grammar {
  public:
    explicit Grammar(unsigned seed) : random_(seed) {}

    // `files` are the names that an Include may choose from.
    std::string file(const std::vector<std::string>& files) {
        std::string text;
        for (unsigned lines = 2 + below(14); lines > 0; --lines) text += indent() + line(files) + end();
        return text;
    }
    Asked asked() {
        return {one_of({"gpu01", "gpu02", "GPU01", "login1", "real.example.com", "10.0.0.1"}),
                one_of({"", "", "", "alice", "root"}), static_cast<std::uint16_t>(below(4) == 0 ? 2200 : 0)};
    }

  private:
    unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
    std::string one_of(const std::vector<std::string>& choices) {
        return choices[below(static_cast<unsigned>(choices.size()))];
    }

    std::string indent() { return one_of({"", "", " ", "\t", "   "}); }
    std::string end() { return one_of({"\n", "\n", "\n", " \n", "\r\n", "\n\n", "\n# a comment\n"}); }

    std::string line(const std::vector<std::string>& files) {
        switch (below(10)) {
            case 0:
            case 1:
                return host();
            case 2:
                return match();
            case 3:
                if (!files.empty()) return "Include " + one_of(files);
                [[fallthrough]];
            default:
                return setting();
        }
    }

    std::string pattern() {
        return one_of(
            {"*", "gpu*", "gpu0?", "gpu01", "GPU01", "login1", "*1", "real*", "*.example.com", "x"});
    }
    std::string host() {
        std::string text = one_of({"Host ", "host ", "Host\t", "Host = "});
        for (unsigned n = 1 + below(3); n > 0; --n) text += one_of({"", "", "", "!"}) + pattern() + " ";
        return text + one_of({"", "", "# gpu01"});
    }
    std::string match() {
        if (below(6) == 0) return one_of({"Match all", "Match final", "Match !final", "Match canonical"});
        std::string text = "Match";
        for (unsigned n = 1 + below(2); n > 0; --n) {
            const std::string criterion = one_of({"host", "originalhost", "user", "localuser", "Host"});
            const bool user = criterion.find("user") != std::string::npos;
            text += one_of({" ", " !"}) + criterion + one_of({" ", "=", " = "});
            text += user ? one_of({"root", "alice", "*,!alice", "\"alice,bob\"", "r*"})
                         : pattern() + one_of({"", ",x", ",!gpu02"});
        }
        return text;
    }

    std::string setting() {
        static const std::vector<std::pair<std::string, std::vector<std::string>>> settings{
            {"HostName", {"real.example.com", "%h.example.com", "10.0.0.2", "REAL", "a%%b"}},
            {"User", {"alice", "bob", "\"a b\"", "'c'd"}},
            {"Port", {"23", "2200", "ssh"}},
            {"IdentityFile", {"k1", "~/k2", "/k/%h-%r", "none", "\"a key\"", "${HOME}/k"}},
            {"CertificateFile", {"c1", "~/c-%n"}},
            {"IdentitiesOnly", {"yes", "no", "True"}},
            {"IdentityAgent", {"none", "/agent", "~/%u.sock", "$HOME", "SSH_AUTH_SOCK"}},
            {"UserKnownHostsFile", {"none", "a b", "~/k-%k", "/h/%p"}},
            {"GlobalKnownHostsFile", {"none", "/g1 /g2"}},
            {"StrictHostKeyChecking", {"yes", "no", "ask", "off", "accept-new"}},
            {"HostKeyAlias", {"Alias", "b"}},
            {"ConnectTimeout", {"5", "1m", "none", "0"}},
            {"ServerAliveInterval", {"15", "1m30s", "0"}},
            {"ServerAliveCountMax", {"0", "5"}},
            {"ProxyJump", {"a", "alice@b:2200,c", "none", "%r@jump"}},
            {"ProxyCommand", {"nc %h %p", "none", "relay \"%n\" # %%", "= x"}},
            {"PreferredAuthentications", {"publickey", "password,publickey"}},
            {"PasswordAuthentication", {"yes", "no"}},
            {"KbdInteractiveAuthentication", {"yes", "no"}},
            {"BatchMode", {"no", "yes"}},
            {"HashKnownHosts", {"yes", "no"}},
            {"AddressFamily", {"any", "inet", "inet6"}},
            {"BindAddress", {"127.0.0.1", "::1"}},
            {"ForwardAgent", {"yes"}},
            {"SendEnv", {"LANG LC_*"}},
        };
        const auto& [keyword, values] = settings[below(static_cast<unsigned>(settings.size()))];
        return keyword + one_of({" ", " ", "\t", "=", " = "}) + one_of(values);
    }

    std::mt19937 random_;
};

TEST(SshConfigAtRandom, SshAndCleanslateDecideTheSame) {
    const std::string why_not = no_ssh_here();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    const TemporaryFolder folder;
    const std::string file = folder.path("config");
    const Decided plain = decided_by_ssh("none", {"gpu01"});
    int taken = 0, told = 0;
    for (unsigned seed = 1; seed <= configurations; ++seed) {
        Grammar grammar(seed);
        write_file(folder.path("deep"), grammar.file({}));
        write_file(folder.path("one"), grammar.file({folder.path("deep")}));
        write_file(folder.path("two"), grammar.file({}));
        write_file(file, grammar.file({folder.path("one"), folder.path("two"), folder.path("t*")}));
        for (int n = 0; n < 2; ++n) {
            const Asked asked = grammar.asked();
            const Decided by_ssh = decided_by_ssh(file, asked);
            std::string why;
            const Decided here = decided_by_cleanslate(file, asked, why);
            SCOPED_TRACE("seed " + std::to_string(seed) + ", host " + asked.host + ", user " + asked.user +
                         "\n" + read_text(file) + "--- one\n" + read_text(folder.path("one")) + "--- deep\n" +
                         read_text(folder.path("deep")) + "--- two\n" + read_text(folder.path("two")));
            ASSERT_EQ(here.has_value(), by_ssh.has_value()) << why;
            if (!here) continue;
            ASSERT_EQ(*here, *by_ssh);
            ++taken;
            told += *by_ssh == *plain ? 0 : 1;
        }
    }
    EXPECT_GT(taken, configurations) << "ssh refuses nearly all of them";
    EXPECT_GT(told, configurations / 2) << "nearly none of them changes anything";
}

}  // namespace
}  // namespace cleanslate::agentless::contract
