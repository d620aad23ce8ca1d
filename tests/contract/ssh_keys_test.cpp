// Keys of every type and format, as ssh-keygen writes them, at a real sshd; and whom they make ask what.
#include <sys/stat.h>

#include "agentless/ssh/library.hpp"
#include "agentless/ssh/private_key.hpp"
#include "agentless/ssh/ssh_context.hpp"
#include "agentless/ssh/wire.hpp"
#include "tests/contract/fake_server.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

class SshKeys : public SshdTest {
  protected:
    // Answers every question with the next of these, then with nothing.
    AskSecret answering(std::vector<std::string> answers) {
        questions_.clear();
        return
            [this, answers = std::move(answers)](const std::string& question) -> std::optional<std::string> {
                questions_.push_back(question);
                if (questions_.size() > answers.size()) return std::nullopt;
                return answers[questions_.size() - 1];
            };
    }

    // The context whose keys are unlocked for the host.
    Status unlock(const AskSecret& ask) {
        auto context = load_ssh_context(options_);
        if (!context) return std::unexpected(context.error());
        context_ = *context;
        const auto settings = ssh::settings_for(endpoint_, context_->options, context_->config);
        if (!settings) return std::unexpected(settings.error());
        return context_->identities->unlock({*settings, *settings}, ask);
    }

    Result<std::unique_ptr<Connection>> open_again() {
        transport_ = make_ssh_transport(io_, context_);
        return await(io_, transport_->open(endpoint_, in(60s)));
    }

    void expect_lets_in(const AskSecret& ask) {
        const Status unlocked = unlock(ask);
        ASSERT_TRUE(unlocked) << unlocked.error().message;
        const auto connection = open_again();
        EXPECT_TRUE(connection) << connection.error().message;
    }

    std::string make_home() {
        options_.identity_files.clear();
        options_.home = sshd_->file("home");
        mkdir(options_.home.c_str(), 0700);
        mkdir((options_.home + "/.ssh").c_str(), 0700);
        return "home/.ssh/";
    }

    std::vector<std::string> questions_;
};

TEST_F(SshKeys, each_type_in_each_format_encrypted_and_not) {
    const std::pair<std::string, std::string> types[] = {{"ed25519", "-t ed25519"},
                                                         {"ecdsa256", "-t ecdsa -b 256"},
                                                         {"ecdsa384", "-t ecdsa -b 384"},
                                                         {"ecdsa521", "-t ecdsa -b 521"},
                                                         {"rsa", "-t rsa -b 2048"}};
    for (const auto& [name, arguments] : types) {
        if (name == "rsa" && !ssh::rsa_works()) continue;  // refused with the reason: see ssh_login_test
        const std::string original = sshd_->make_key(name, arguments);
        sshd_->authorize(name);
        for (const char* format : {"RFC4716", "PEM", "PKCS8"}) {
            if (name == "ed25519" && format != std::string("RFC4716"))
                continue;  // ssh-keygen writes no other
            for (const char* passphrase : {"''", "'a b c'"}) {
                SCOPED_TRACE(name + " " + format + " " + passphrase);
                const std::string file = sshd_->file(name + format + (passphrase[1] == 'a' ? "locked" : ""));
                shell("cp " + original + " " + file + " && chmod 600 " + file +
                      " && ssh-keygen -q -p -a 2 -P '' -N " + passphrase + " -m " + format + " -f " + file);
                options_.identity_files = {file};
                expect_lets_in(answering({"a b c"}));
                EXPECT_EQ(questions_.size(), passphrase[1] == 'a' ? 1u : 0u);
            }
        }
    }
}

TEST_F(SshKeys, each_cipher_of_ssh_keygen_is_decrypted) {
    const std::string file = sshd_->make_key("key", "-t ed25519");
    const auto plain = ssh::parse_private_key(read_text(file));
    ASSERT_TRUE(plain);
    std::string before = "''";
    for (const char* cipher :
         {"aes256-ctr", "aes192-ctr", "aes128-ctr", "aes256-cbc", "aes192-cbc", "aes128-cbc", "3des-cbc",
          "aes256-gcm@openssh.com", "aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com"}) {
        SCOPED_TRACE(cipher);
        shell("ssh-keygen -q -p -a 1 -Z " + std::string(cipher) + " -P " + before + " -N secret -f " + file);
        before = "secret";
        const std::string text = read_text(file);
        const auto locked = ssh::parse_private_key(text);
        ASSERT_TRUE(locked) << locked.error().message;
        EXPECT_TRUE(locked->encrypted && !locked->key && !locked->obstacle);
        const auto read = ssh::decrypt_private_key(text, "secret");
        ASSERT_TRUE(read) << read.error().message;
        ASSERT_TRUE(read->key);
        EXPECT_TRUE(read->blob == plain->blob);
        EXPECT_TRUE(read->key->sign("data", "ssh-ed25519") == plain->key->sign("data", "ssh-ed25519"));
        const auto wrong = ssh::decrypt_private_key(text, "Secret");
        ASSERT_FALSE(wrong);
        EXPECT_EQ(wrong.error().kind, "wrong_passphrase") << wrong.error().message;
    }
}

TEST_F(SshKeys, a_passphrase_is_asked_for_once_for_all_hosts_and_logins) {
    options_.identity_files = {sshd_->make_key("secret", "-t ed25519 -a 2 -N secret")};
    sshd_->authorize("secret");
    expect_lets_in(answering({"secret"}));
    ASSERT_EQ(questions_.size(), 1u);
    EXPECT_EQ(questions_.front(), "passphrase for " + options_.identity_files.front() + " (test)");
    EXPECT_TRUE(open_again());
    const auto settings = ssh::settings_for(endpoint_, context_->options, context_->config);
    const auto first = context_->identities->credentials_for(*settings);
    const auto second = context_->identities->credentials_for(*settings);
    ASSERT_TRUE(first && second);
    EXPECT_TRUE(first->identities.at(0).key) << "decrypted";
    EXPECT_EQ(first->identities.at(0).key, second->identities.at(0).key) << "and only once";
}

TEST_F(SshKeys, a_wrong_passphrase_is_asked_for_again_three_times_in_all) {
    options_.identity_files = {sshd_->make_key("secret", "-t ecdsa -a 2 -N secret")};
    sshd_->authorize("secret");
    expect_lets_in(answering({"no", "no", "secret"}));
    EXPECT_EQ(questions_.size(), 3u);
    expect_says(questions_.at(1), "wrong");
    const Status refused = unlock(answering({"no", "no", "no", "secret"}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(questions_.size(), 3u);
    EXPECT_EQ(refused.error().kind, "identity");
    expect_says(refused.error().message, "wrong three times");
    expect_says(refused.error().remedy, "ssh-add ");
}

TEST_F(SshKeys, an_encrypted_key_that_nobody_unlocks_is_an_error_with_the_remedy) {
    for (const char* arguments : {"-t ed25519 -a 2 -N secret", "-t ecdsa -m PEM -N secret"}) {
        SCOPED_TRACE(arguments);
        options_.identity_files = {sshd_->make_key(std::string("e") + arguments[4], arguments)};
        const Status nobody = unlock(nullptr);
        ASSERT_FALSE(nobody);
        EXPECT_EQ(nobody.error().kind, "identity");
        expect_says(nobody.error().message, "nobody can be asked");
        expect_says(nobody.error().remedy, "ssh-add " + options_.identity_files.front());
        for (const auto& answers : {std::vector<std::string>{}, std::vector<std::string>{""}}) {
            const Status refused = unlock(answering(answers));
            ASSERT_FALSE(refused);
            EXPECT_EQ(questions_.size(), 1u);
            expect_says(refused.error().message, "no passphrase was given");
        }
    }
}

TEST_F(SshKeys, a_key_of_the_inventory_that_stays_locked_is_its_hosts_error) {
    endpoint_.identity_file = sshd_->make_key("secret", "-t ed25519 -a 2 -N secret");
    ASSERT_TRUE(unlock(answering({})));
    const auto connection = open_again();
    ASSERT_FALSE(connection);
    EXPECT_EQ(connection.error().kind, "auth_failed");
    expect_says(connection.error().message, "no passphrase was given");
}

TEST_F(SshKeys, nobody_is_asked_for_a_key_that_the_agent_holds) {
    const Agent agent;
    const std::string key = sshd_->make_key("secret", "-t ed25519");
    sshd_->authorize("secret");
    agent.add(key);
    shell("ssh-keygen -q -p -a 2 -P '' -N secret -f " + key);
    options_.agent_socket = agent.socket();
    options_.identity_files = {key};
    expect_lets_in(answering({"secret"}));
    EXPECT_TRUE(questions_.empty());
}

TEST_F(SshKeys, default_keys_that_are_not_there_are_not_worth_a_word) {
    make_home();
    ASSERT_TRUE(unlock(answering({"secret"})));
    EXPECT_FALSE(open_again()) << "there is no key at all";
    EXPECT_TRUE(questions_.empty());
    EXPECT_TRUE(context_->identities->notes().empty()) << context_->identities->notes().front();
}

TEST_F(SshKeys, default_keys_are_asked_for_only_where_nothing_else_could_be_offered) {
    const std::string ssh = make_home();
    sshd_->make_key(ssh + "id_ed25519", "-t ed25519 -a 2 -N secret");
    sshd_->make_key(ssh + "id_ecdsa", "-t ecdsa -a 2 -N secret");
    sshd_->authorize(ssh + "id_ed25519");
    expect_lets_in(answering({"secret", "secret"}));
    EXPECT_EQ(questions_.size(), 1u) << "the second key is not needed";
    ASSERT_TRUE(unlock(answering({"", ""})));
    EXPECT_EQ(questions_.size(), 2u);
    ASSERT_EQ(context_->identities->notes().size(), 2u);
    expect_says(context_->identities->notes().front(), "id_ed25519: this key is encrypted");
    const Agent agent;
    agent.add(sshd_->file("client"));
    options_.agent_socket = agent.socket();
    expect_lets_in(answering({"secret"}));
    EXPECT_TRUE(questions_.empty()) << "the agent has a key to offer";
}

TEST_F(SshKeys, an_agent_that_hangs_costs_two_seconds_before_a_passphrase_is_asked_for) {
    const FakeServer hanging(sshd_->file("hanging"), [](int peer) { wait_for_close(peer); });
    options_.agent_socket = sshd_->file("hanging");
    options_.identity_files = {sshd_->make_key("secret", "-t ed25519 -a 2 -N secret")};
    sshd_->authorize("secret");
    const auto begun = Clock::now();
    expect_lets_in(answering({"secret"}));
    EXPECT_LT(Clock::now() - begun, 20s);
    EXPECT_EQ(hanging.connections(), 1) << "asked once";
}

TEST_F(SshKeys, a_key_that_no_passphrase_can_decrypt_is_not_asked_for) {
    const std::string file = sshd_->make_key("slow", "-t ed25519 -a 5 -N secret");
    std::string text = read_text(file);
    const auto base64 = [](std::string lines) {
        std::erase(lines, '\n');
        return lines;
    };
    const std::size_t from = text.find('\n') + 1, to = text.find("-----END");
    std::string bytes = *ssh::decode_base64(base64(text.substr(from, to - from)));
    const std::size_t rounds = bytes.find(std::string("\0\0\0\5", 4));
    ASSERT_NE(rounds, std::string::npos);
    bytes.replace(rounds, 4, std::string("\0\x7f\0\0", 4));
    write_file(file, text.substr(0, from) + ssh::encode_base64(bytes) + "\n" + text.substr(to));
    options_.identity_files = {file};
    const Status refused = unlock(answering({"secret"}));
    ASSERT_FALSE(refused);
    EXPECT_TRUE(questions_.empty());
    expect_says(refused.error().message, "rounds");
    expect_says(refused.error().remedy, "ssh-keygen -p");
}

TEST_F(SshKeys, an_rsa_key_does_not_spoil_the_login_with_another_where_the_host_takes_no_rsa) {
    if (!ssh::rsa_works()) GTEST_SKIP() << "this libssh2 offers no RSA keys";
    const Sshd strict("PubkeyAcceptedAlgorithms ssh-ed25519");
    options_ = strict.options();
    endpoint_ = strict.endpoint();
    options_.identity_files.insert(options_.identity_files.begin(), strict.make_key("rsa", "-t rsa -b 2048"));
    strict.authorize("rsa");
    expect_runs(options_, endpoint_);
    options_.identity_files.pop_back();
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, options_.identity_files.front());
}

}  // namespace
}  // namespace cleanslate::agentless::contract
