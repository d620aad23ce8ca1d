#include <sys/stat.h>

#include <filesystem>

#include "agentless/ssh/known_hosts.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

class SshHostKey : public SshTest {
  protected:
    void SetUp() override {
        SshTest::SetUp();
        if (IsSkipped()) return;
        sshd_ = std::make_unique<Sshd>();
        options_ = sshd_->options();
        options_.config_file = "none";
        known_hosts_ = sshd_->file("known_hosts");
        name_ = ssh::known_hosts_name(sshd_->endpoint().address, sshd_->port());
    }
    std::string host_fingerprint(const std::string& key) const {
        const std::string line = shell("ssh-keygen -lf " + sshd_->file(key));
        return line.substr(line.find("SHA256:"), line.find(' ', line.find("SHA256:")) - line.find("SHA256:"));
    }

    std::unique_ptr<Sshd> sshd_;
    SshOptions options_;
    std::string known_hosts_, name_;
};

TEST_F(SshHostKey, a_known_host_lets_one_in) { expect_runs(options_, sshd_->endpoint()); }

TEST_F(SshHostKey, an_unknown_host_is_refused_with_its_fingerprint_and_what_to_do) {
    write_file(known_hosts_, "");
    const Error error = expect_refused(options_, sshd_->endpoint(), "host_key_unknown", "host-key");
    expect_says(error.message, host_fingerprint("host_ed25519"));
    expect_says(error.remedy, "`cleanslate trust`");
    expect_says(error.remedy, "--host-key-check accept-new");
}

TEST_F(SshHostKey, known_hosts_that_is_not_there_knows_nobody) {
    options_.known_hosts = {sshd_->file("absent")};
    expect_refused(options_, sshd_->endpoint(), "host_key_unknown", "host-key");
}

TEST_F(SshHostKey, a_changed_key_is_refused_with_the_place_of_the_old_one_and_both_fingerprints) {
    const std::string old = sshd_->make_key("old", "-t ed25519");
    write_file(known_hosts_, "# fleet\n" + sshd_->known_hosts_line(name_, "old"));
    for (const HostKeyPolicy policy : {HostKeyPolicy::strict, HostKeyPolicy::accept_new}) {
        options_.host_keys = policy;
        const Error error = expect_refused(options_, sshd_->endpoint(), "host_key_changed", "host-key");
        expect_says(error.message, known_hosts_ + ":2");
        expect_says(error.message, host_fingerprint("host_ed25519"));
        expect_says(error.message, host_fingerprint("old"));
        expect_says(error.remedy, "ssh-keygen -l -F '" + name_ + "' -f '" + known_hosts_ + "'");
        expect_says(error.remedy, "ssh-keygen -R '" + name_ + "' -f '" + known_hosts_ + "'");
    }
    EXPECT_EQ(read_text(known_hosts_), "# fleet\n" + sshd_->known_hosts_line(name_, "old"))
        << "nothing is written";
}

TEST_F(SshHostKey, a_revoked_key_is_refused_even_where_checking_is_off) {
    write_file(known_hosts_, sshd_->known_hosts_line(name_) + "@revoked " + sshd_->known_hosts_line("*"));
    for (const HostKeyPolicy policy :
         {HostKeyPolicy::strict, HostKeyPolicy::accept_new, HostKeyPolicy::off}) {
        options_.host_keys = policy;
        const Error error = expect_refused(options_, sshd_->endpoint(), "host_key_revoked", "host-key");
        expect_says(error.message, known_hosts_ + ":2");
    }
}

TEST_F(SshHostKey, a_hashed_name_is_known) {
    shell("ssh-keygen -q -H -f " + known_hosts_);
    EXPECT_EQ(read_text(known_hosts_).substr(0, 3), "|1|");
    expect_runs(options_, sshd_->endpoint());
}

TEST_F(SshHostKey, the_type_that_is_known_is_asked_for) {
    write_file(known_hosts_, sshd_->known_hosts_line(name_, "host_ecdsa"));
    expect_runs(options_, sshd_->endpoint());
}

TEST_F(SshHostKey, a_host_that_lacks_the_known_type_is_not_a_new_host) {
    sshd_->make_key("other", "-t ecdsa -b 384");
    write_file(known_hosts_, sshd_->known_hosts_line(name_, "other"));
    options_.host_keys = HostKeyPolicy::accept_new;
    const Error error = expect_refused(options_, sshd_->endpoint(), "host_key_unknown", "host-key");
    expect_says(error.message, "ecdsa-sha2-nistp384");
    expect_says(error.message, known_hosts_ + ":1");
}

TEST_F(SshHostKey, accept_new_writes_the_key_down_once_and_for_the_owner_only) {
    options_.known_hosts = {sshd_->file("new") + "/known_hosts"};
    options_.host_keys = HostKeyPolicy::accept_new;
    expect_runs(options_, sshd_->endpoint());
    const auto again = await(io_, transport_->open(sshd_->endpoint(), in(std::chrono::seconds(60))));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_FALSE(std::filesystem::exists(options_.known_hosts.front())) << "not before the end of the sweep";
    EXPECT_TRUE(keep_host_keys(*context_).empty());
    EXPECT_TRUE(keep_host_keys(*context_).empty());

    const std::string host_key = read_text(sshd_->file("host_ed25519.pub"));
    const std::string without_comment = host_key.substr(0, host_key.rfind(' '));
    EXPECT_EQ(read_text(options_.known_hosts.front()), name_ + " " + without_comment + "\n");
    struct stat status {};
    ASSERT_EQ(stat(options_.known_hosts.front().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    EXPECT_TRUE(ssh_notes(*context_).empty());

    options_.host_keys = HostKeyPolicy::strict;
    expect_runs(options_, sshd_->endpoint());
}

TEST_F(SshHostKey, accept_new_leaves_an_unfinished_last_line_whole) {
    std::string unfinished = sshd_->known_hosts_line("another.host");
    unfinished.pop_back();
    write_file(known_hosts_, unfinished);
    options_.host_keys = HostKeyPolicy::accept_new;
    expect_runs(options_, sshd_->endpoint());
    keep_host_keys(*context_);
    EXPECT_EQ(read_text(known_hosts_).substr(0, unfinished.size() + 1), unfinished + "\n");
    options_.host_keys = HostKeyPolicy::strict;
    expect_runs(options_, sshd_->endpoint());
}

TEST_F(SshHostKey, accept_new_says_where_it_could_not_write) {
    options_.known_hosts = {"/proc/no/known_hosts"};
    options_.host_keys = HostKeyPolicy::accept_new;
    expect_runs(options_, sshd_->endpoint());
    EXPECT_EQ(keep_host_keys(*context_).size(), 1u);
    ASSERT_EQ(ssh_notes(*context_).size(), 1u);
    expect_says(ssh_notes(*context_).front(), "/proc/no/known_hosts");
}

TEST_F(SshHostKey, what_was_accepted_is_not_lost_where_nobody_asks_to_keep_it) {
    options_.known_hosts = {sshd_->file("accepted")};
    options_.host_keys = HostKeyPolicy::accept_new;
    expect_runs(options_, sshd_->endpoint());
    transport_.reset();
    context_.reset();
    options_.host_keys = HostKeyPolicy::strict;
    expect_runs(options_, sshd_->endpoint());
}

TEST_F(SshHostKey, accept_new_tells_of_another_key_that_somebody_wrote_meanwhile) {
    sshd_->make_key("other", "-t ed25519");
    write_file(known_hosts_, "");
    options_.host_keys = HostKeyPolicy::accept_new;
    expect_runs(options_, sshd_->endpoint());
    write_file(known_hosts_, sshd_->known_hosts_line(name_, "other"));
    const auto unwritten = keep_host_keys(*context_);
    ASSERT_EQ(unwritten.size(), 1u);
    expect_says(unwritten.front(), known_hosts_ + ":1");
    expect_says(unwritten.front(), host_fingerprint("other"));
    EXPECT_EQ(read_text(known_hosts_), sshd_->known_hosts_line(name_, "other"));
}

TEST_F(SshHostKey, a_host_that_is_known_by_an_authority_alone_is_refused_with_the_place) {
    sshd_->make_key("ca", "-t ed25519");
    write_file(known_hosts_, "# fleet\n@cert-authority " + sshd_->known_hosts_line("*", "ca"));
    for (const HostKeyPolicy policy : {HostKeyPolicy::strict, HostKeyPolicy::accept_new}) {
        options_.host_keys = policy;
        const Error error = expect_refused(options_, sshd_->endpoint(), "host_key_unknown", "host-key");
        expect_says(error.message, known_hosts_ + ":2");
        expect_says(error.message, host_fingerprint("host_ed25519"));
        expect_says(error.remedy, "`cleanslate trust`");
    }
    write_file(known_hosts_, read_text(known_hosts_) + sshd_->known_hosts_line(name_));
    expect_runs(options_, sshd_->endpoint());
}

TEST_F(SshHostKey, a_host_that_has_a_certificate_shows_the_plain_key_that_is_known) {
    const std::string ca = sshd_->make_key("ca", "-t ed25519");
    shell("ssh-keygen -q -s " + ca + " -I host -h " + sshd_->file("host_ed25519.pub"));
    const Sshd certified("HostCertificate " + sshd_->file("host_ed25519-cert.pub") + "\nHostKey " +
                         sshd_->file("host_ed25519"));
    const std::string name = ssh::known_hosts_name(certified.endpoint().address, certified.port());
    SshOptions options = certified.options();
    options.known_hosts = {sshd_->file("certified")};
    write_file(options.known_hosts.front(), "@cert-authority " + sshd_->known_hosts_line("*", "ca") +
                                                sshd_->known_hosts_line(name) +
                                                certified.known_hosts_line(name));
    expect_runs(options, certified.endpoint());
}

TEST_F(SshHostKey, off_believes_any_key_writes_nothing_and_says_so) {
    sshd_->make_key("old", "-t ed25519");
    const std::string before = sshd_->known_hosts_line(name_, "old");
    write_file(known_hosts_, before);
    options_.host_keys = HostKeyPolicy::off;
    expect_runs(options_, sshd_->endpoint());
    keep_host_keys(*context_);
    EXPECT_EQ(read_text(known_hosts_), before);
    EXPECT_EQ(unchecked_hosts(*context_), std::vector<std::string>{sshd_->endpoint().address});
    ASSERT_EQ(ssh_notes(*context_).size(), 1u);
    const std::string note = ssh_notes(*context_).front();
    expect_says(note, sshd_->endpoint().address);
    expect_says(note, known_hosts_ + ":1");
    expect_says(note, host_fingerprint("old"));
    expect_says(note, host_fingerprint("host_ed25519"));
}

TEST_F(SshHostKey, a_line_that_makes_no_sense_is_noted_and_not_fatal) {
    write_file(known_hosts_, "rubbish\n" + read_text(known_hosts_));
    expect_runs(options_, sshd_->endpoint());
    ASSERT_EQ(ssh_notes(*context_).size(), 1u);
    expect_says(ssh_notes(*context_).front(), known_hosts_ + ":1");
}

TEST_F(SshHostKey, known_hosts_that_cannot_be_read_stops_everything) {
    options_.known_hosts = {sshd_->file("")};  // a folder
    const auto context = load_ssh_context(options_);
    ASSERT_FALSE(context);
    EXPECT_EQ(context.error().kind, "known_hosts");
}

}  // namespace
}  // namespace cleanslate::agentless::contract
