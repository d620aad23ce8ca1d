#include "agentless/ssh/key_cipher.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "agentless/ssh/private_key.hpp"
#include "agentless/ssh/wire.hpp"

namespace cleanslate::agentless::ssh {
namespace {

// Keys that were made for these tests; the passphrase is "secret".
std::string sample(const std::string& name) {
    std::ifstream file(std::string(CLEANSLATE_SOURCE_DIR) + "/tests/fuzz/corpus/private_key/" + name);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_FALSE(text.str().empty()) << name;
    return text.str();
}

TEST(SshKeyCipher, an_encrypted_key_is_the_same_key) {
    const std::pair<const char*, const char*> files[] = {
        {"locked_ctr", "ed25519"},      {"locked_cbc", "ed25519"},    {"locked_gcm", "ed25519"},
        {"locked_chacha20", "ed25519"}, {"locked_rounds", "ed25519"}, {"locked_pkcs8", "pkcs8_ecdsa256"},
        {"locked_pem", "pem_ecdsa256"},
    };
    for (const auto& [locked, plain] : files) {
        SCOPED_TRACE(locked);
        const auto expected = parse_private_key(sample(plain));
        ASSERT_TRUE(expected);
        const auto unread = parse_private_key(sample(locked));
        ASSERT_TRUE(unread) << unread.error().message;
        EXPECT_TRUE(unread->encrypted && !unread->key && !unread->obstacle);
        const auto read = decrypt_private_key(sample(locked), "secret");
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_TRUE(read->key && read->blob == expected->blob && !read->encrypted);
    }
}

TEST(SshKeyCipher, a_wrong_passphrase_is_told_from_a_damaged_file) {
    for (const char* name :
         {"locked_ctr", "locked_cbc", "locked_gcm", "locked_chacha20", "locked_pkcs8", "locked_pem"}) {
        SCOPED_TRACE(name);
        for (const char* passphrase : {"Secret", "secret ", ""}) {
            const auto read = decrypt_private_key(sample(name), passphrase);
            ASSERT_FALSE(read);
            EXPECT_EQ(read.error().kind, "wrong_passphrase") << read.error().message;
        }
    }
    const std::string whole = sample("locked_ctr");
    const auto cut = decrypt_private_key(whole.substr(0, whole.size() / 2), "secret");
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().kind, "identity");
}

TEST(SshKeyCipher, a_passphrase_that_is_stretched_without_end_is_refused_before_anybody_is_asked) {
    const auto pkcs8 = parse_private_key(sample("locked_pkcs8_rounds"));
    ASSERT_TRUE(pkcs8);
    ASSERT_TRUE(pkcs8->obstacle);
    EXPECT_NE(pkcs8->obstacle->message.find("too many rounds"), std::string::npos)
        << pkcs8->obstacle->message;
    EXPECT_FALSE(decrypt_private_key(sample("locked_pkcs8_rounds"), "secret"));

    std::string options;
    put_text(options, "0123456789abcdef");
    put_number(options, max_kdf_rounds + 1);
    const Status openssh = check_encryption({"aes256-ctr", "bcrypt", options});
    ASSERT_FALSE(openssh);
    EXPECT_NE(openssh.error().message.find("4097 rounds"), std::string::npos) << openssh.error().message;
    EXPECT_NE(openssh.error().remedy.find("ssh-keygen -p"), std::string::npos);
}

TEST(SshKeyCipher, what_is_not_known_is_named) {
    std::string options;
    put_text(options, "salt");
    put_number(options, 1);
    const Status cipher = check_encryption({"rot13\x1b", "bcrypt", options});
    ASSERT_FALSE(cipher);
    EXPECT_NE(cipher.error().message.find("rot13"), std::string::npos);
    EXPECT_EQ(cipher.error().message.find('\x1b'), std::string::npos);
    const Status kdf = check_encryption({"aes256-ctr", "argon2", options});
    ASSERT_FALSE(kdf);
    EXPECT_NE(kdf.error().message.find("argon2"), std::string::npos);
    for (const std::string_view bad : {std::string_view(), std::string_view(options).substr(0, 8),
                                       std::string_view("\0\0\0\0\0\0\0\1", 8)}) {
        const Status refused = check_encryption({"aes256-ctr", "bcrypt", bad});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().kind, "identity");
    }
}

TEST(SshKeyCipher, data_of_no_possible_size_is_refused) {
    std::string options;
    put_text(options, "salt");
    put_number(options, 1);
    SecretText plain;
    const std::string block(16, 'x');
    EXPECT_FALSE(decrypt_key({"aes256-ctr", "bcrypt", options}, "secret", block + "x", "", plain));
    EXPECT_FALSE(decrypt_key({"aes256-ctr", "bcrypt", options}, "secret", block, "tag", plain));
    EXPECT_FALSE(decrypt_key({"aes256-gcm@openssh.com", "bcrypt", options}, "secret", block, "", plain));
    EXPECT_TRUE(decrypt_key({"aes256-ctr", "bcrypt", options}, "secret", block, "", plain));
    EXPECT_EQ(plain.view().size(), block.size());
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
