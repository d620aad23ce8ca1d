#include "agentless/ssh/hashed_names.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <string>

#include "agentless/ssh/wire.hpp"

namespace cleanslate::agentless::ssh {
namespace {

std::string salt_of(int number) {
    std::string salt(20, '\0');
    for (std::size_t i = 0; i < salt.size(); ++i) salt[i] = static_cast<char>(number * 31 + int(i) * 7);
    return salt;
}

// As OpenSSL hashes it.
std::string hashed(const std::string& name, const std::string& salt) {
    unsigned char hash[20];
    HMAC(EVP_sha1(), salt.data(), static_cast<int>(salt.size()),
         reinterpret_cast<const unsigned char*>(name.data()), name.size(), hash, nullptr);
    return "|1|" + encode_base64(salt) + "|" +
           encode_base64({reinterpret_cast<const char*>(hash), sizeof hash});
}

TEST(SshHashedNames, agree_with_openssl_for_names_of_every_length) {
    HashedNames names;
    // 55 bytes are the most that one block takes.
    for (int length = 1; length <= 130; ++length)
        ASSERT_TRUE(names.add(hashed(std::string(length, 'a'), salt_of(length)), length));
    for (const int length : {0, 1, 54, 55, 56, 64, 119, 120})
        EXPECT_EQ(hashed_name(std::string(length, 'a'), salt_of(length)),
                  hashed(std::string(length, 'a'), salt_of(length)));
    for (const int length : {1, 2, 3, 4, 20, 54, 55, 56, 63, 64, 65, 118, 119, 120, 128, 130})
        EXPECT_EQ(names.find(std::string(length, 'a')), std::vector<std::size_t>{std::size_t(length)});
    EXPECT_TRUE(names.find("b").empty());
    EXPECT_TRUE(names.find("").empty());
}

TEST(SshHashedNames, every_entry_of_a_name_is_found_in_order_however_many_there_are) {
    for (const int count : {1, 7, 8, 9, 16, 100}) {
        HashedNames names;
        for (int i = 0; i < count; ++i)
            ASSERT_TRUE(names.add(hashed(i % 3 == 0 ? "gpu01" : "gpu02", salt_of(i)), 1000 + i));
        std::vector<std::size_t> wanted;
        for (int i = 0; i < count; i += 3) wanted.push_back(1000 + i);
        EXPECT_EQ(names.find("gpu01"), wanted) << count;
    }
}

TEST(SshHashedNames, a_text_that_is_no_hashed_name_is_not_added) {
    const std::string good = hashed("gpu01", salt_of(1));
    HashedNames names;
    for (const std::string& bad :
         {std::string("|1|abc|def"), std::string("|1||"), std::string("|"), "x" + good, good + "|",
          "|2" + good.substr(2), good.substr(0, good.size() - 4), "|1|" + good.substr(good.rfind('|')),
          hashed("gpu01", std::string(21, 'x')), good + ",gpu02"})
        EXPECT_FALSE(names.add(bad, 0)) << bad;
    EXPECT_TRUE(names.find("gpu01").empty());
    EXPECT_TRUE(names.add(good, 5));
    EXPECT_EQ(names.find("gpu01"), std::vector<std::size_t>{5});
}

TEST(SshHashedNames, nothing_is_found_where_nothing_was_added) {
    EXPECT_TRUE(HashedNames().find("a").empty());
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
