#include "agentless/ssh/wire.hpp"

#include <gtest/gtest.h>

namespace cleanslate::agentless::ssh {
namespace {

using namespace std::string_literals;

TEST(SshWire, reads_back_what_it_wrote) {
    std::string bytes;
    put_number(bytes, 0x01020304);
    put_text(bytes, "hello");
    put_text(bytes, "");
    WireReader reader(bytes);
    EXPECT_EQ(reader.byte(), 1);
    reader = WireReader(bytes);
    EXPECT_EQ(reader.number(), 0x01020304u);
    EXPECT_EQ(reader.text(), "hello");
    EXPECT_EQ(reader.text(), "");
    EXPECT_TRUE(reader.at_end());
    EXPECT_FALSE(reader.text());
    EXPECT_FALSE(reader.byte());
}

TEST(SshWire, a_length_beyond_the_end_reads_nothing) {
    for (const std::string& bytes :
         {"\0\0\0\5four"s, "\xff\xff\xff\xff"s, "\xff\xff\xff\xffx"s, "\0\0\0"s, ""s}) {
        WireReader reader(bytes);
        EXPECT_FALSE(reader.text());
        EXPECT_EQ(reader.rest(), bytes) << "the reader stays where it was";
    }
}

TEST(SshWire, an_mpint_has_no_leading_zeros_and_is_never_negative) {
    const auto mpint = [](std::string magnitude) {
        std::string out;
        put_mpint(out, magnitude);
        return out;
    };
    EXPECT_EQ(mpint("\0\0\x7f"s), "\0\0\0\1\x7f"s);
    EXPECT_EQ(mpint("\x80"s), "\0\0\0\2\0\x80"s);
    EXPECT_EQ(mpint(""s), "\0\0\0\0"s);
    EXPECT_EQ(mpint("\0"s), "\0\0\0\0"s);
}

TEST(SshWire, base64_goes_both_ways) {
    const std::pair<std::string, std::string> known[] = {
        {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
        {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe\xfd"s, "//79"}};
    for (const auto& [bytes, text] : known) {
        EXPECT_EQ(encode_base64(bytes), text);
        EXPECT_EQ(decode_base64(text), bytes);
    }
}

TEST(SshWire, base64_refuses_what_is_not_base64) {
    for (const char* text :
         {"Z", "Zg", "Zg=", "Zg===", "Zm9v=", "Z=g=", "Zm9v\n", " Zm9v", "Zm9-", "====", "="}) {
        EXPECT_FALSE(decode_base64(text)) << text;
    }
}

TEST(SshWire, fingerprints_look_like_those_of_ssh_keygen) {
    // ssh-keygen -lf on the public key of tests/fuzz/corpus/private_key/ed25519 prints the same form.
    EXPECT_EQ(fingerprint(""), "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU");
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
