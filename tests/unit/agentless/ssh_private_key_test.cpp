#include "agentless/ssh/private_key.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <fstream>
#include <sstream>

#include "agentless/ssh/wire.hpp"

namespace cleanslate::agentless::ssh {
namespace {

// Keys that were made for these tests, by ssh-keygen and openssl.
std::string sample(const std::string& name) {
    std::ifstream file(std::string(CLEANSLATE_SOURCE_DIR) + "/tests/fuzz/corpus/private_key/" + name);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_FALSE(text.str().empty()) << name;
    return text.str();
}

std::string public_blob(const std::string& name) {
    const std::string line = sample(name + ".pub");
    const std::size_t from = line.find(' ') + 1;
    return decode_base64(line.substr(from, line.find(' ', from) - from)).value();
}

bool verifies_ed25519(const std::string& blob, const std::string& data, const std::string& signature) {
    WireReader reader(blob);
    reader.text();
    const std::string_view point = reader.text().value();
    const auto bytes = [](std::string_view text) {
        return reinterpret_cast<const unsigned char*>(text.data());
    };
    EVP_PKEY* key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes(point), point.size());
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    EVP_DigestVerifyInit(context, nullptr, nullptr, nullptr, key);
    const int answer =
        EVP_DigestVerify(context, bytes(signature), signature.size(), bytes(data), data.size());
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return answer == 1;
}

TEST(SshPrivateKey, reads_each_kind_that_ssh_keygen_writes) {
    for (const char* name : {"ed25519", "ecdsa256", "ecdsa384", "ecdsa521", "pem_ecdsa256", "pem_ecdsa384",
                             "pem_ecdsa521", "pkcs8_ecdsa256", "rsa2048", "pem_rsa2048"}) {
        const auto parsed = parse_private_key(sample(name));
        ASSERT_TRUE(parsed) << name << ": " << parsed.error().message;
        ASSERT_TRUE(parsed->key) << name;
        EXPECT_TRUE(parsed->blob == public_blob(name)) << name;
        EXPECT_TRUE(parsed->key->blob() == parsed->blob) << name;
    }
    const auto pkcs8 = parse_private_key(sample("pkcs8_ed25519"));
    ASSERT_TRUE(pkcs8 && pkcs8->key);
    EXPECT_EQ(key_type(pkcs8->blob), "ssh-ed25519");
}

TEST(SshPrivateKey, signs_what_the_public_key_verifies) {
    const auto parsed = parse_private_key(sample("ed25519"));
    ASSERT_TRUE(parsed && parsed->key);
    const std::string signature = parsed->key->sign("some data", "ssh-ed25519");
    EXPECT_EQ(signature.size(), 64u);
    EXPECT_TRUE(verifies_ed25519(parsed->blob, "some data", signature));
    EXPECT_FALSE(verifies_ed25519(parsed->blob, "other data", signature));
}

TEST(SshPrivateKey, an_ecdsa_signature_is_two_numbers) {
    for (const char* name : {"ecdsa256", "ecdsa384", "ecdsa521"}) {
        const auto parsed = parse_private_key(sample(name));
        ASSERT_TRUE(parsed && parsed->key);
        const std::string signature = parsed->key->sign("data", std::string(key_type(parsed->blob)));
        WireReader reader(signature);
        EXPECT_TRUE(reader.text() && reader.text() && reader.at_end()) << name;
    }
}

TEST(SshPrivateKey, rsa_signs_with_sha2_only) {
    const auto parsed = parse_private_key(sample("rsa2048"));
    ASSERT_TRUE(parsed && parsed->key);
    EXPECT_EQ(parsed->key->sign("data", "rsa-sha2-512").size(), 256u);
    EXPECT_EQ(parsed->key->sign("data", "rsa-sha2-256").size(), 256u);
    EXPECT_EQ(parsed->key->sign("data", "ssh-rsa"), "");
}

TEST(SshPrivateKey, does_not_sign_by_another_algorithm_than_its_own) {
    const auto parsed = parse_private_key(sample("ed25519"));
    ASSERT_TRUE(parsed && parsed->key);
    EXPECT_EQ(parsed->key->sign("data", "ecdsa-sha2-nistp256"), "");
}

TEST(SshPrivateKey, an_encrypted_openssh_key_still_tells_its_public_half) {
    const auto parsed = parse_private_key(sample("encrypted_ed25519"));
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_FALSE(parsed->key);
    EXPECT_TRUE(parsed->blob == public_blob("encrypted_ed25519"));
}

TEST(SshPrivateKey, an_encrypted_pem_key_tells_nothing_and_asks_for_nothing) {
    for (const char* name : {"encrypted_pem_ecdsa256", "encrypted_pkcs8_ecdsa256"}) {
        const auto parsed = parse_private_key(sample(name));
        ASSERT_TRUE(parsed) << parsed.error().message;
        EXPECT_FALSE(parsed->key);
        EXPECT_TRUE(parsed->blob.empty());
    }
}

TEST(SshPrivateKey, a_public_key_line_is_a_key_that_an_agent_has) {
    const auto parsed = parse_private_key(sample("ed25519.pub"));
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_FALSE(parsed->key);
    EXPECT_TRUE(parsed->blob == public_blob("ed25519"));
}

TEST(SshPrivateKey, crlf_line_ends_do_no_harm) {
    std::string text;
    for (const char character : sample("ed25519")) {
        if (character == '\n') text += '\r';
        text += character;
    }
    const auto parsed = parse_private_key(text);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_TRUE(parsed->key);
}

TEST(SshPrivateKey, a_file_that_is_cut_anywhere_is_refused) {
    const std::string whole = sample("ecdsa256");
    const std::size_t end = whole.find("-----END");
    for (std::size_t size = 0; size < end; size += 3) {
        EXPECT_FALSE(parse_private_key(whole.substr(0, size)));
        EXPECT_FALSE(parse_private_key(whole.substr(0, size) + "\n-----END OPENSSH PRIVATE KEY-----\n"));
    }
}

// A container whose private half is another key's than its public half.
TEST(SshPrivateKey, halves_of_two_keys_make_no_key) {
    const auto container = [](const std::string& name) {
        std::string base64;
        std::istringstream lines(sample(name));
        for (std::string line; std::getline(lines, line);) {
            if (line.find("---") == line.npos) base64 += line;
        }
        return decode_base64(base64).value();
    };
    const std::string blob = public_blob("ed25519");
    std::string other = blob;
    other.back() ^= 1;
    std::string bytes = container("ed25519");
    bytes.replace(bytes.find(blob), blob.size(), other);
    const auto parsed = parse_private_key("-----BEGIN OPENSSH PRIVATE KEY-----\n" + encode_base64(bytes) +
                                          "\n-----END OPENSSH PRIVATE KEY-----\n");
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().kind, "identity");
}

TEST(SshPrivateKey, what_is_no_key_is_refused_in_words) {
    for (const char* text :
         {"", "hello", "ssh-ed25519", "ssh-ed25519 !!!!", "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIA==",
          "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n",
          "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"}) {
        const auto parsed = parse_private_key(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().kind, "identity");
        EXPECT_FALSE(parsed.error().message.empty());
    }
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
