// What `trust` does: looks at host keys without a login, and writes the new ones down.
#include "agentless/key_scan.hpp"

#include <gmock/gmock.h>

#include "agentless/ssh/known_hosts.hpp"
#include "tests/contract/fake_server.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using Standing = ShownHostKey::Standing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KeyScanTest : public SshTest {
  protected:
    void SetUp() override {
        SshTest::SetUp();
        if (IsSkipped()) return;
        sshd_ = std::make_unique<Sshd>();
        known_hosts_ = sshd_->file("known_hosts");
        name_ = ssh::known_hosts_name(sshd_->endpoint().address, sshd_->port());
        reach_.known_hosts = {known_hosts_};
        reach_.ssh_config = "none";
        reach_.connect_timeout = Milliseconds{60'000};
    }
    inventory::Host host(const std::string& name = "gpu01") const {
        inventory::Host host;
        host.name = name;
        host.address = sshd_->endpoint().address;
        host.port = sshd_->port();
        return host;
    }
    ScanResult scan(std::vector<inventory::Host> hosts, SweepLimits limits = {}) {
        scan_ = std::make_unique<KeyScan>(std::move(hosts), reach_, limits);
        auto result = scan_->run();
        EXPECT_TRUE(result) << result.error().message;
        return result.value_or(ScanResult{});
    }
    std::string fingerprint(const std::string& key) const {
        const std::string line = shell("ssh-keygen -lf " + sshd_->file(key));
        const auto at = line.find("SHA256:");
        return line.substr(at, line.find(' ', at) - at);
    }

    std::unique_ptr<Sshd> sshd_;
    std::string known_hosts_, name_;
    Reach reach_;
    std::unique_ptr<KeyScan> scan_;
};

TEST_F(KeyScanTest, shows_each_key_of_a_new_host_and_logs_in_nowhere) {
    write_file(known_hosts_, "");
    const ScanResult result = scan({host()});
    ASSERT_EQ(result.hosts.size(), 1u);
    const ScannedHost& seen = result.hosts.front();
    EXPECT_FALSE(seen.error);
    ASSERT_EQ(seen.keys.size(), 2u);
    EXPECT_EQ(seen.keys[0].type, "ssh-ed25519");
    EXPECT_EQ(seen.keys[0].fingerprint, fingerprint("host_ed25519"));
    EXPECT_EQ(seen.keys[1].type, "ecdsa-sha2-nistp256");
    EXPECT_EQ(seen.keys[1].fingerprint, fingerprint("host_ecdsa"));
    for (const ShownHostKey& key : seen.keys) EXPECT_EQ(key.standing, Standing::unknown);
    EXPECT_EQ(read_text(known_hosts_), "") << "nothing is written before somebody says so";
    EXPECT_EQ(sshd_->log().find("Accepted"), std::string::npos);
}

TEST_F(KeyScanTest, a_known_host_is_looked_at_once) {
    const ScanResult result = scan({host()});
    ASSERT_EQ(result.hosts.front().keys.size(), 1u);
    EXPECT_EQ(result.hosts.front().keys[0].standing, Standing::known);
    EXPECT_EQ(result.hosts.front().keys[0].place, known_hosts_ + ":1");
}

TEST_F(KeyScanTest, what_was_added_lets_one_in) {
    write_file(known_hosts_, "");
    ScanResult result = scan({host(), host("the-same-machine")});
    EXPECT_THAT(scan_->add(result), IsEmpty());
    for (const ScannedHost& seen : result.hosts)
        for (const ShownHostKey& key : seen.keys) EXPECT_TRUE(key.added) << seen.name;
    const std::string text = read_text(known_hosts_);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
    SshOptions options = sshd_->options();
    expect_runs(options, sshd_->endpoint());
    EXPECT_EQ(scan({host()}).hosts.front().keys[0].standing, Standing::known);
}

TEST_F(KeyScanTest, a_changed_or_revoked_key_is_never_added) {
    sshd_->make_key("old", "-t ed25519");
    for (const std::string& text :
         {sshd_->known_hosts_line(name_, "old"), "@revoked " + sshd_->known_hosts_line("*")}) {
        write_file(known_hosts_, text);
        ScanResult result = scan({host()});
        ASSERT_FALSE(result.hosts.front().keys.empty());
        const ShownHostKey key = result.hosts.front().keys.front();
        EXPECT_EQ(key.standing, text[0] == '@' ? Standing::revoked : Standing::changed);
        EXPECT_EQ(key.place, known_hosts_ + ":1");
        ASSERT_TRUE(key.problem);
        EXPECT_THAT(scan_->add(result), IsEmpty());
        EXPECT_FALSE(result.hosts.front().keys.front().added);
        EXPECT_EQ(read_text(known_hosts_), text);
    }
}

TEST_F(KeyScanTest, a_host_of_an_authority_is_new_with_a_word_about_it) {
    sshd_->make_key("ca", "-t ed25519");
    write_file(known_hosts_, "@cert-authority " + sshd_->known_hosts_line("*", "ca"));
    ScanResult result = scan({host()});
    const ShownHostKey key = result.hosts.front().keys.front();
    EXPECT_EQ(key.standing, Standing::unknown);
    ASSERT_TRUE(key.problem);
    EXPECT_THAT(key.problem->message, HasSubstr("authority"));
    EXPECT_THAT(scan_->add(result), IsEmpty());
    EXPECT_TRUE(result.hosts.front().keys.front().added);
    expect_runs(sshd_->options(), sshd_->endpoint());
}

TEST_F(KeyScanTest, what_could_not_be_written_is_told_and_not_added) {
    reach_.known_hosts = {"/proc/none/known_hosts"};
    ScanResult result = scan({host()});
    EXPECT_EQ(scan_->add(result).size(), 1u);
    for (const ShownHostKey& key : result.hosts.front().keys) EXPECT_FALSE(key.added);
}

TEST_F(KeyScanTest, a_host_that_cannot_be_reached_harms_no_other) {
    inventory::Host nobody = host("nobody");
    nobody.port = 1;
    const ScanResult result = scan({nobody, host(), nobody});
    ASSERT_EQ(result.hosts.size(), 3u);
    ASSERT_TRUE(result.hosts[0].error);
    EXPECT_EQ(result.hosts[0].error->kind, "connect_refused");
    EXPECT_EQ(result.hosts[1].keys.size(), 1u);
    EXPECT_TRUE(result.hosts[2].error);
}

TEST_F(KeyScanTest, sees_a_host_behind_a_jump_host_whose_key_is_known) {
    const Sshd jump;
    const std::string config = sshd_->file("ssh_config");
    write_file(config, "IdentityFile " + jump.file("client") + "\nIdentitiesOnly yes\n");
    reach_.ssh_config = config;
    write_file(known_hosts_, read_text(jump.file("known_hosts")));
    inventory::Host behind = host();
    behind.proxy_jump = jump.endpoint().address + ":" + std::to_string(jump.port());
    ScanResult result = scan({behind});
    ASSERT_FALSE(result.hosts.front().error) << result.hosts.front().error->message;
    ASSERT_EQ(result.hosts.front().keys.size(), 2u);
    EXPECT_EQ(result.hosts.front().keys[0].fingerprint, fingerprint("host_ed25519"));
    EXPECT_THAT(jump.log(), HasSubstr("Accepted publickey"));

    write_file(known_hosts_, "");
    result = scan({behind});
    ASSERT_TRUE(result.hosts.front().error);
    EXPECT_THAT(result.hosts.front().error->message, HasSubstr("known_hosts"));
}

TEST_F(KeyScanTest, the_deadline_ends_it_and_each_host_says_so) {
    FakeServer silent([](int peer) { wait_for_close(peer); });
    inventory::Host host;
    host.name = "silent";
    host.address = silent.endpoint().address;
    host.port = silent.endpoint().port;
    SweepLimits limits;
    limits.fanout = 1;
    limits.deadline = Milliseconds{300};
    const ScanResult result = scan({host, host}, limits);
    EXPECT_TRUE(result.deadline_passed);
    ASSERT_EQ(result.hosts.size(), 2u);
    ASSERT_TRUE(result.hosts[0].error);
    ASSERT_TRUE(result.hosts[1].error);
    EXPECT_EQ(result.hosts[1].error->kind, "not_tried");
}

}  // namespace
}  // namespace cleanslate::agentless::contract
