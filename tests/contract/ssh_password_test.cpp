// Passwords, what a server takes, and accounts that may not log in: against a real sshd with accounts of its
// own, with and without PAM.

#include <unistd.h>

#include "agentless/account_trouble.hpp"
#include "agentless/shared_secret.hpp"
#include "agentless/ssh/library.hpp"
#include "tests/contract/jump_fixture.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

constexpr const char* password = "Xyzzy-plugh-90210";

// An account beside the machine's own: pat, with this password; fields 3 to 8 of /etc/shadow are `aging`.
std::string account(const std::string& aging = "19000:0:99999:7::", const std::string& hash = {}) {
    const std::string made = hash.empty() ? "$(openssl passwd -6 " + std::string(password) + ")" : hash;
    return "mount -t tmpfs none /mnt; cp -p /etc/passwd /etc/shadow /mnt; "
           "echo 'pat:x:4242:65534::/:/bin/sh' >>/mnt/passwd; echo \"pat:" +
           made + ":" + aging +
           ":\" >>/mnt/shadow; mount --bind /mnt/passwd /etc/passwd; mount --bind /mnt/shadow /etc/shadow; "
           "printf 'auth required pam_unix.so nodelay\\naccount required pam_nologin.so\\n"
           "account required pam_unix.so\\npassword required pam_unix.so\\nsession required "
           "pam_permit.so\\n' "
           ">/mnt/pam; mount --bind /mnt/pam /etc/pam.d/sshd; ";
}

const std::string with_passwords = "PasswordAuthentication yes\n";
const std::string with_pam = "UsePAM yes\nKbdInteractiveAuthentication yes\n";

class SshPassword : public SshTest {
  protected:
    void SetUp() override {
        SshTest::SetUp();
        if (IsSkipped()) return;
        if (geteuid() != 0) GTEST_SKIP() << "needs root, for a server with accounts of its own";
        if (access("/usr/bin/openssl", X_OK) != 0) GTEST_SKIP() << "needs openssl";
    }
    // pat logs in by a password alone, unless a test adds the client's key.
    void serve(const std::string& settings, const std::string& set_up = account()) {
        sshd_ = std::make_unique<Sshd>(settings, set_up + ":");
        shell("chmod 711 " + sshd_->file("") + "; chmod 644 " + sshd_->file("authorized_keys"));
        options_ = sshd_->options();
        endpoint_ = sshd_->endpoint();
        endpoint_.user = "pat";
        key_ = options_.identity_files.front();
        options_.identity_files.clear();
    }
    void knows(const std::string& text) { options_.password = std::make_shared<SharedSecret>(text); }
    void has_its_key() { options_.identity_files = {key_}; }
    static int count(const std::string& text, const std::string& part) {
        int found = 0;
        for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
        return found;
    }
    void expect_no_secret(const Error& error) {
        EXPECT_EQ(error.message.find(password), std::string::npos) << error.message;
    }

    std::unique_ptr<Sshd> sshd_;
    SshOptions options_;
    Endpoint endpoint_;
    std::string key_;
};

TEST_F(SshPassword, lets_one_in_by_the_method_password) {
    serve(with_passwords);
    knows(password);
    expect_runs(options_, endpoint_);
    EXPECT_EQ(count(sshd_->log(), "Accepted password for pat"), 1) << sshd_->log();
}

TEST_F(SshPassword, lets_one_in_by_keyboard_interactive) {
    serve(with_pam);
    knows(password);
    expect_runs(options_, endpoint_);
    EXPECT_EQ(count(sshd_->log(), "Accepted keyboard-interactive/pam for pat"), 1) << sshd_->log();
}

TEST_F(SshPassword, is_not_used_where_a_key_will_do) {
    serve(with_passwords);
    knows("wrong");
    has_its_key();
    expect_runs(options_, endpoint_);
    EXPECT_EQ(count(sshd_->log(), "Failed password"), 0) << sshd_->log();
}

TEST_F(SshPassword, that_is_refused_is_given_once_and_to_no_other_host) {
    for (const std::string& settings : {with_passwords, with_pam, with_passwords + with_pam}) {
        SCOPED_TRACE(settings);
        serve(settings);
        const auto secret = std::make_shared<SharedSecret>("Wrong-plover-31337");
        options_.password = secret;
        const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
        expect_says(error.message, "the password of pat was refused");
        expect_says(error.message, "the server takes: publickey");
        expect_says(error.remedy, "it was given to no further host");
        EXPECT_EQ(count(sshd_->log(), "Failed "), 1) << sshd_->log();

        const std::string first = "127.0.0.77:" + std::to_string(sshd_->port());
        serve(settings);
        options_.password = secret;
        const Error other = expect_refused(options_, endpoint_, "auth_failed", "auth");
        expect_says(other.message, "the password of pat was refused on " + first + ": not tried here");
        EXPECT_EQ(count(sshd_->log(), "Failed "), 0) << sshd_->log();
    }
}

TEST_F(SshPassword, that_is_refused_ends_all_who_wait_for_it) {
    // Without PAM the server names keyboard-interactive, and refuses it without a question.
    for (const std::string& settings :
         {with_passwords + "KbdInteractiveAuthentication yes\n", with_passwords, with_pam}) {
        SCOPED_TRACE(settings);
        serve(settings);
        knows("Wrong-plover-31337");
        auto context = load_ssh_context(options_);
        ASSERT_TRUE(context) << context.error().message;
        transport_ = make_ssh_transport(io_, *context);
        int refused = 0, withheld = 0;
        for (const Visit& visit :
             visit_all(io_, *transport_, std::vector<Endpoint>(4, endpoint_), Script{"echo in", ""})) {
            refused += visit.problem().find("the password of pat was refused;") != std::string::npos;
            withheld += visit.problem().find("not tried here") != std::string::npos;
        }
        EXPECT_EQ(refused, 1);
        EXPECT_EQ(withheld, 3);
        EXPECT_EQ(count(sshd_->log(), "Failed password") + count(sshd_->log(), "Failed keyboard"), 1)
            << sshd_->log();
    }
}

TEST_F(SshPassword, that_nobody_asked_for_is_the_remedy) {
    serve("PubkeyAuthentication no\n" + with_passwords);
    has_its_key();
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, "the server takes: password");
    expect_says(error.remedy, "give --ask-pass");
}

TEST_F(SshPassword, and_key_are_given_where_the_host_wants_both) {
    for (const std::string methods : {"publickey,password", "password,publickey"}) {
        SCOPED_TRACE(methods);
        serve(with_passwords + "AuthenticationMethods " + methods + "\n");
        has_its_key();
        knows(password);
        expect_runs(options_, endpoint_);
    }
    serve(with_pam + "AuthenticationMethods publickey,keyboard-interactive\n");
    has_its_key();
    knows(password);
    expect_runs(options_, endpoint_);
}

TEST_F(SshPassword, is_named_as_what_is_missing_where_the_key_was_taken) {
    serve(with_passwords + "AuthenticationMethods publickey,password\n");
    has_its_key();
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, "the host took the key and wants more");
    expect_says(error.message, "the server takes: password");
    EXPECT_EQ(error.remedy, "give --ask-pass");
}

TEST_F(SshPassword, is_not_the_fault_where_the_host_takes_it_and_wants_a_key_too) {
    serve(with_passwords + "AuthenticationMethods password,publickey\n");
    knows(password);
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, "the host took the password and wants more");
    EXPECT_FALSE(options_.password->barred("another", "pat"));
}

TEST_F(SshPassword, that_has_expired_is_its_own_error) {
    serve(with_pam, account("0:0:99999:7::"));
    knows(password);
    const Error asked = expect_refused(options_, endpoint_, "password_expired", "auth");
    EXPECT_FALSE(asked.remedy.empty());
    expect_no_secret(asked);

    options_.password = nullptr;
    has_its_key();
    const auto connection = open(options_, endpoint_);
    ASSERT_TRUE(connection) << connection.error().message;
    const Script script{"/bin/sh -s", "echo in"};
    const auto ran = await(io_, (*connection)->run(script, Limits{in(std::chrono::seconds(60))}));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out.find("in\n"), std::string::npos) << ran->out;
    const auto said = account_error({ran->err, ran->out});
    ASSERT_TRUE(said) << ran->err << ran->out;
    EXPECT_EQ(said->kind, "password_expired");
}

TEST_F(SshPassword, no_account_that_has_expired_is_let_in) {
    serve(with_pam, account("19000:0:99999:7::1"));
    has_its_key();
    if (ssh::rsa_works()) {
        const Error error = expect_refused(options_, endpoint_, "account_expired", "auth");
        expect_says(error.message, "Your account has expired");
    } else {  // libssh2 1.10 drops what the host says
        expect_refused(options_, endpoint_, "auth_failed", "auth");
    }
}

TEST_F(SshPassword, an_account_that_is_locked_is_refused_like_a_stranger) {
    serve(with_passwords, account("19000:0:99999:7::", "!"));
    has_its_key();
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, "user pat was refused; offered: ssh-ed25519");
    expect_says(error.remedy, "authorized_keys");
}

TEST_F(SshPassword, a_root_that_may_not_log_in_is_its_own_error) {
    serve("PermitRootLogin no\n");
    has_its_key();
    endpoint_.user = "root";
    const Error error = expect_refused(options_, endpoint_, "root_login_refused", "auth");
    expect_says(error.message, "offered: ssh-ed25519");
    expect_says(error.remedy, "PermitRootLogin");
}

TEST_F(SshPassword, a_stranger_s_root_key_is_refused_and_both_remedies_are_named) {
    serve("PermitRootLogin no\n");
    options_.identity_files = {sshd_->make_key("stranger", "-t ed25519")};
    endpoint_.user = "root";
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.remedy, "authorized_keys");
    expect_says(error.remedy, "PermitRootLogin may be no");
}

TEST_F(SshPassword, a_host_that_asks_for_nothing_lets_one_in) {
    serve(with_passwords + "PermitEmptyPasswords yes\n", account("19000:0:99999:7::", "$(printf '')"));
    expect_runs(options_, endpoint_);
}

TEST_F(SshPassword, a_key_that_will_do_costs_no_question_what_the_host_takes) {
    serve("LogLevel DEBUG\n");
    has_its_key();
    expect_runs(options_, endpoint_);
    EXPECT_EQ(count(sshd_->log(), "method none"), 0) << sshd_->log();
    EXPECT_GT(count(sshd_->log(), "method publickey"), 0);
}

}  // namespace
}  // namespace cleanslate::agentless::contract
