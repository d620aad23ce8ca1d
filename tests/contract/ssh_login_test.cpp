#include <sys/stat.h>

#include "agentless/ssh/library.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

class SshLogin : public SshdTest {};

TEST_F(SshLogin, each_kind_of_key_lets_one_in) {
    const std::pair<const char*, const char*> kinds[] = {
        {"ed", "-t ed25519"},
        {"ec256", "-t ecdsa -b 256"},
        {"ec384", "-t ecdsa -b 384"},
        {"ec521", "-t ecdsa -b 521"},
        {"pem256", "-t ecdsa -b 256 -m PEM"},
        {"pem521", "-t ecdsa -b 521 -m PEM"},
        {"pk8", "-t ecdsa -m PKCS8"},
    };
    for (const auto& [name, arguments] : kinds) {
        SCOPED_TRACE(arguments);
        options_.identity_files = {sshd_->make_key(name, arguments)};
        sshd_->authorize(name);
        expect_runs(options_, endpoint_);
    }
}

TEST_F(SshLogin, rsa_lets_one_in_or_is_refused_with_the_reason) {
    const std::pair<const char*, const char*> kinds[] = {
        {"rsa", "-t rsa -b 2048"},
        {"rsapem", "-t rsa -b 2048 -m PEM"},
        {"rsapk8", "-t rsa -b 2048 -m PKCS8"},
    };
    for (const auto& [name, arguments] : kinds) {
        SCOPED_TRACE(arguments);
        options_.identity_files = {sshd_->make_key(name, arguments)};
        sshd_->authorize(name);
        if (ssh::rsa_works()) {
            expect_runs(options_, endpoint_);
            continue;
        }
        const auto context = load_ssh_context(options_);
        ASSERT_FALSE(context);
        EXPECT_EQ(context.error().kind, "identity");
        expect_says(context.error().message, "RSA keys need libssh2 1.11");
        expect_says(context.error().remedy, "ed25519");
    }
}

TEST_F(SshLogin, keys_are_tried_one_after_another) {
    options_.identity_files.insert(options_.identity_files.begin(),
                                   sshd_->make_key("stranger", "-t ed25519"));
    expect_runs(options_, endpoint_);
}

TEST_F(SshLogin, a_refused_key_is_named_and_not_tried_again) {
    options_.identity_files = {sshd_->make_key("stranger", "-t ed25519")};
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, options_.identity_files.front());
    expect_says(error.message, "SHA256:");
    expect_says(error.remedy, "authorized_keys");
    const std::string log = sshd_->log();
    EXPECT_EQ(log.find("Failed publickey"), log.rfind("Failed publickey")) << log;
}

TEST_F(SshLogin, not_more_than_five_keys_are_offered) {
    options_.identity_files.clear();
    for (int i = 0; i < 7; ++i) {
        options_.identity_files.push_back(sshd_->make_key("stranger" + std::to_string(i), "-t ed25519"));
    }
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, "stranger4");
    EXPECT_EQ(error.message.find("stranger5"), std::string::npos) << error.message;
}

TEST_F(SshLogin, a_hosts_own_identity_file_is_the_only_one_tried) {
    endpoint_.identity_file = options_.identity_files.front();
    options_.identity_files = {sshd_->make_key("stranger", "-t ed25519")};
    expect_runs(options_, endpoint_);
    std::swap(endpoint_.identity_file, options_.identity_files.front());
    expect_refused(options_, endpoint_, "auth_failed", "auth");
}

TEST_F(SshLogin, a_hosts_own_identity_file_that_is_not_there_is_that_hosts_error) {
    endpoint_.identity_file = sshd_->file("absent");
    const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(error.message, "absent");
}

TEST_F(SshLogin, default_keys_of_the_home_are_found) {
    options_.identity_files.clear();
    options_.home = sshd_->file("home");
    mkdir(options_.home.c_str(), 0700);
    mkdir((options_.home + "/.ssh").c_str(), 0700);
    const Error none = expect_refused(options_, endpoint_, "auth_failed", "auth");
    expect_says(none.message, "no key to offer");
    sshd_->make_key("home/.ssh/id_ecdsa", "-t ecdsa");
    sshd_->authorize("home/.ssh/id_ecdsa");
    expect_runs(options_, endpoint_);
    EXPECT_TRUE(ssh_notes(*context_).empty());
}

TEST_F(SshLogin, a_default_key_that_cannot_be_used_is_noted) {
    options_.identity_files.clear();
    options_.home = sshd_->file("home");
    mkdir(options_.home.c_str(), 0700);
    mkdir((options_.home + "/.ssh").c_str(), 0700);
    sshd_->make_key("home/.ssh/id_ed25519", "-t ed25519 -N secret");
    expect_refused(options_, endpoint_, "auth_failed", "auth");
    ASSERT_EQ(ssh_notes(*context_).size(), 1u);
    expect_says(ssh_notes(*context_).front(), "id_ed25519");
}

TEST_F(SshLogin, a_key_that_others_may_read_is_refused_before_any_connection) {
    chmod(options_.identity_files.front().c_str(), 0640);
    const auto context = load_ssh_context(options_);
    ASSERT_FALSE(context);
    EXPECT_EQ(context.error().kind, "identity");
    expect_says(context.error().message, "0640");
    expect_says(context.error().remedy, "chmod 600 ");
}

TEST_F(SshLogin, a_key_file_that_is_not_there_is_refused_before_any_connection) {
    options_.identity_files = {sshd_->file("absent")};
    const auto context = load_ssh_context(options_);
    ASSERT_FALSE(context);
    EXPECT_EQ(context.error().kind, "identity");
}

}  // namespace
}  // namespace cleanslate::agentless::contract
