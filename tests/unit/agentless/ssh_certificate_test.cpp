#include "agentless/ssh/certificate.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "agentless/ssh/key_support.hpp"
#include "agentless/ssh/private_key.hpp"

namespace cleanslate::agentless::ssh {
namespace {

std::string blob_of(const std::string& name) {
    std::ifstream file(std::string(CLEANSLATE_SOURCE_DIR) + "/tests/fuzz/corpus/private_key/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return parse_private_key(text.str()).value().blob;
}

TEST(SshCertificate, tells_its_key_and_its_time) {
    for (const std::string name : {"ed25519", "ecdsa256", "ecdsa521", "rsa2048"}) {
        SCOPED_TRACE(name);
        const auto certificate = read_certificate(blob_of(name + "-cert.pub"));
        ASSERT_TRUE(certificate);
        EXPECT_TRUE(certificate->plain_blob == blob_of(name + ".pub"));
        EXPECT_TRUE(certificate->for_users);
        EXPECT_EQ(certificate->key_id, "somebody");
        EXPECT_EQ(certificate->valid_from, 1704067200u);
        EXPECT_EQ(certificate->valid_until, 1735689600u);
    }
}

TEST(SshCertificate, says_when_it_is_not_valid) {
    const auto certificate = read_certificate(blob_of("ed25519-cert.pub")).value();
    EXPECT_EQ(validity_problem(certificate, 1704067199), "not valid before 2024-01-01T00:00:00Z");
    EXPECT_EQ(validity_problem(certificate, 1704067200), "");
    EXPECT_EQ(validity_problem(certificate, 1735689599), "");
    EXPECT_EQ(validity_problem(certificate, 1735689600), "expired at 2025-01-01T00:00:00Z");
    Certificate for_ever;
    for_ever.valid_until = ~std::uint64_t{0};
    EXPECT_EQ(validity_problem(for_ever, 1735689600), "");
    for_ever.valid_from = ~std::uint64_t{1};
    EXPECT_EQ(validity_problem(for_ever, 0), "not valid before 9999-12-31T23:59:59Z");
}

TEST(SshCertificate, one_that_is_cut_anywhere_is_none) {
    const std::string whole = blob_of("ecdsa256-cert.pub");
    const auto complete = read_certificate(whole);
    ASSERT_TRUE(complete);
    int absent = 0;
    for (std::size_t size = 0; size < 250; ++size) {
        const auto cut = read_certificate(std::string_view(whole).substr(0, size));
        absent += !cut;
        if (cut) {
            EXPECT_EQ(cut->valid_until, complete->valid_until) << size;
        }
    }
    EXPECT_GT(absent, 100);
    EXPECT_FALSE(read_certificate(blob_of("ed25519.pub")));
}

TEST(SshCertificate, its_algorithm_is_its_keys) {
    EXPECT_EQ(plain_algorithm("ssh-ed25519-cert-v01@openssh.com"), "ssh-ed25519");
    EXPECT_EQ(plain_algorithm("rsa-sha2-512-cert-v01@openssh.com"), "rsa-sha2-512");
    EXPECT_EQ(plain_algorithm("sk-ssh-ed25519-cert-v01@openssh.com"), "sk-ssh-ed25519@openssh.com");
    EXPECT_EQ(plain_algorithm("sk-ssh-ed25519@openssh.com"), "sk-ssh-ed25519@openssh.com");
    EXPECT_EQ(plain_algorithm("ssh-rsa"), "ssh-rsa");
}

TEST(SshKeySupport, what_an_old_libssh2_cannot_offer_is_known) {
    constexpr auto old = LibraryAge::before_1_11, middle = LibraryAge::is_1_11_0, recent = LibraryAge::newer;
    for (const char* type : {"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp521",
                             "ecdsa-sha2-nistp384-cert-v01@openssh.com"}) {
        for (const LibraryAge age : {old, middle, recent}) EXPECT_TRUE(can_be_offered(type, age)) << type;
    }
    for (const char* type : {"ssh-rsa", "ssh-ed25519-cert-v01@openssh.com", "sk-ssh-ed25519@openssh.com",
                             "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com"}) {
        EXPECT_FALSE(can_be_offered(type, old)) << type;
        EXPECT_TRUE(can_be_offered(type, middle)) << type;
        EXPECT_TRUE(can_be_offered(type, recent)) << type;
    }
    EXPECT_FALSE(can_be_offered("ssh-rsa-cert-v01@openssh.com", middle));
    EXPECT_TRUE(can_be_offered("ssh-rsa-cert-v01@openssh.com", recent));
    for (const char* type : {"ssh-dss", "", "ssh-xmss@openssh.com", "ecdsa-sha2-nistp224"})
        EXPECT_FALSE(can_be_offered(type, recent)) << type;
    EXPECT_EQ(not_supported("ssh-dss", "1.10.0"), "key of type ssh-dss: not supported by libssh2 1.10.0");
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
