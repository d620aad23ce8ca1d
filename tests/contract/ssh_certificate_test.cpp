// User certificates at a real sshd that trusts an authority.
#include <fstream>

#include "agentless/ssh/key_support.hpp"
#include "agentless/ssh/ssh_context.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

class SshCertificates : public SshTest {
  protected:
    void SetUp() override {
        SshTest::SetUp();
        if (IsSkipped()) return;
        authority_ = folder_.path("authority");
        shell("ssh-keygen -q -t ed25519 -N '' -f " + authority_);
        sshd_ = std::make_unique<Sshd>("TrustedUserCAKeys " + authority_ + ".pub");
        options_ = sshd_->options();
        endpoint_ = sshd_->endpoint();
    }

    // A key that is not authorised, and its certificate beside it.
    std::string make_certified(const std::string& name, const std::string& arguments,
                               const std::string& validity = "-1h:+1h") {
        const std::string key = sshd_->make_key(name, arguments);
        shell("ssh-keygen -q -s " + authority_ + " -I somebody -n " + endpoint_.user + " -V " + validity +
              " " + key + ".pub");
        return key;
    }

    TemporaryFolder folder_;
    std::string authority_;
    std::unique_ptr<Sshd> sshd_;
    SshOptions options_;
    Endpoint endpoint_;
};

struct Kind {
    std::string name, arguments, type;
};
const Kind kinds[] = {{"ed25519", "-t ed25519", "ssh-ed25519-cert-v01@openssh.com"},
                      {"ecdsa256", "-t ecdsa -b 256", "ecdsa-sha2-nistp256-cert-v01@openssh.com"},
                      {"ecdsa521", "-t ecdsa -b 521", "ecdsa-sha2-nistp521-cert-v01@openssh.com"},
                      {"rsa", "-t rsa -b 2048", "ssh-rsa-cert-v01@openssh.com"}};

TEST_F(SshCertificates, the_certificate_beside_a_key_lets_one_in_or_is_named_as_not_supported) {
    for (const Kind& kind : kinds) {
        SCOPED_TRACE(kind.type);
        options_.identity_files = {make_certified(kind.name, kind.arguments)};
        if (ssh::can_be_offered(kind.type, ssh::library_age())) {
            expect_runs(options_, endpoint_);
        } else if (kind.name != "rsa" || ssh::rsa_works()) {
            const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
            expect_says(error.message, "certificate of type " + kind.type + ": not supported by libssh2");
        }
    }
}

TEST_F(SshCertificates, the_agent_signs_for_a_certificate) {
    for (const Kind& kind : kinds) {
        if (!ssh::can_be_offered(kind.type, ssh::library_age())) continue;
        SCOPED_TRACE(kind.type);
        const Agent agent;
        const std::string key = make_certified("a" + kind.name, kind.arguments);
        options_.agent_socket = agent.socket();
        agent.add(key);  // and the certificate with it
        options_.identity_files.clear();
        expect_runs(options_, endpoint_);
        shell("SSH_AUTH_SOCK=" + agent.socket() + " ssh-add -q -d " + key + "-cert.pub");
        shell("SSH_AUTH_SOCK=" + agent.socket() + " ssh-add -q -k " + key);
        options_.identity_files = {key + "-cert.pub"};  // a certificate alone, whose key the agent has
        expect_runs(options_, endpoint_);
    }
}

TEST_F(SshCertificates, a_certificate_of_the_configuration_is_offered_with_its_key) {
    const std::string key = make_certified("key", "-t ecdsa");
    const std::string elsewhere = folder_.path("elsewhere");
    shell("mv " + key + "-cert.pub " + elsewhere);
    options_.identity_files = {key};
    expect_refused(options_, endpoint_, "auth_failed", "auth");
    options_.config_file = folder_.path("config");
    write_file(*options_.config_file, "Host *\n CertificateFile " + elsewhere + "\n");
    expect_runs(options_, endpoint_);
    write_file(*options_.config_file, "Host *\n CertificateFile " + folder_.path("absent") + "\n");
    expect_refused(options_, endpoint_, "auth_failed", "auth");
    ASSERT_EQ(context_->identities->notes().size(), 1u);
    expect_says(context_->identities->notes().front(), "absent");
}

TEST_F(SshCertificates, one_that_is_not_valid_at_this_time_says_so) {
    const std::pair<const char*, const char*> cases[] = {{"20200101:20210101", "expired at 20"},
                                                         {"+1h:+2h", "not valid before 20"}};
    for (const auto& [validity, said] : cases) {
        SCOPED_TRACE(validity);
        options_.identity_files = {make_certified(std::string("k") + said[0], "-t ecdsa", validity)};
        const Error error = expect_refused(options_, endpoint_, "auth_failed", "auth");
        expect_says(error.message, said);
        expect_says(error.message, "-cert.pub");
    }
}

TEST_F(SshCertificates, one_for_another_key_or_for_hosts_is_noted) {
    const std::string key = make_certified("key", "-t ecdsa");
    const std::string other = make_certified("other", "-t ecdsa");
    shell("mv " + other + "-cert.pub " + key + "-cert.pub");
    sshd_->authorize("key");
    options_.identity_files = {key};
    expect_runs(options_, endpoint_);
    ASSERT_EQ(context_->identities->notes().size(), 1u);
    expect_says(context_->identities->notes().front(), "another key");
    shell("ssh-keygen -q -h -s " + authority_ + " -I host " + key + ".pub");
    expect_runs(options_, endpoint_);
    ASSERT_EQ(context_->identities->notes().size(), 1u);
    expect_says(context_->identities->notes().front(), "for hosts, not for users");
}

}  // namespace
}  // namespace cleanslate::agentless::contract
