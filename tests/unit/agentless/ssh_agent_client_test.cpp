#include "agentless/ssh/agent_client.hpp"

#include <gtest/gtest.h>

#include "agentless/ssh/publickey.hpp"
#include "agentless/ssh/wire.hpp"

namespace cleanslate::agentless::ssh {
namespace {

using namespace std::string_literals;

std::string signature_answer(const std::string& algorithm, const std::string& inner) {
    std::string signature, answer = "\x0e";
    put_text(signature, algorithm);
    put_text(signature, inner);
    put_text(answer, signature);
    return answer;
}

TEST(SshAgentClient, reads_a_list_of_keys) {
    std::string answer = "\x0c\0\0\0\2"s;
    for (const char* blob : {"one", "two"}) {
        put_text(answer, blob);
        put_text(answer, "comment");
    }
    EXPECT_EQ(read_identities_answer(answer).value(), (std::vector<std::string>{"one", "two"}));
    EXPECT_TRUE(read_identities_answer("\x0c\0\0\0\0"s).value().empty());
}

TEST(SshAgentClient, a_list_that_is_cut_anywhere_is_refused) {
    std::string answer = "\x0c\0\0\0\2"s;
    for (const char* text : {"one", "first", "two", "second"}) put_text(answer, text);
    for (std::size_t size = 0; size < answer.size(); ++size) {
        const auto keys = read_identities_answer(answer.substr(0, size));
        ASSERT_FALSE(keys) << size;
        EXPECT_EQ(keys.error().kind, "agent");
    }
}

TEST(SshAgentClient, a_count_beyond_reason_reserves_nothing) {
    EXPECT_FALSE(read_identities_answer("\x0c\xff\xff\xff\xff"s));
    EXPECT_FALSE(read_identities_answer("\x05"s));
}

TEST(SshAgentClient, reads_the_inner_signature) {
    EXPECT_EQ(read_sign_answer(signature_answer("ssh-ed25519", "S"), "ssh-ed25519").value(), "S");
}

TEST(SshAgentClient, a_signature_by_another_algorithm_is_refused) {
    const auto signature = read_sign_answer(signature_answer("ssh-rsa", "S"), "rsa-sha2-512");
    ASSERT_FALSE(signature);
    EXPECT_NE(signature.error().message.find("another algorithm"), std::string::npos);
}

TEST(SshAgentClient, a_failure_or_a_cut_signature_is_refused) {
    EXPECT_FALSE(read_sign_answer("\x05", "ssh-ed25519"));
    const std::string whole = signature_answer("ssh-ed25519", "S");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(read_sign_answer(whole.substr(0, size), "ssh-ed25519")) << size;
    }
}

TEST(SshAgentClient, a_security_keys_signature_goes_on_with_flags_and_counter) {
    const std::string type = "sk-ssh-ed25519@openssh.com", flags_and_counter("\1\0\0\0\7", 5);
    std::string signature, answer = "\x0e";
    put_text(signature, type);
    put_text(signature, "S");
    put_text(answer, signature + flags_and_counter);
    EXPECT_EQ(read_sign_answer(answer, type).value(), std::string("\0\0\0\1S", 5) + flags_and_counter);
    EXPECT_EQ(read_sign_answer(answer, "sk-ssh-ed25519-cert-v01@openssh.com").value().size(), 10u);
    for (const std::string& rest : {std::string(), std::string("\1"), flags_and_counter + "x"}) {
        std::string other = "\x0e";
        put_text(other, signature + rest);
        EXPECT_FALSE(read_sign_answer(other, type));
    }
}

TEST(SshAgentClient, a_certificates_signature_is_its_keys) {
    EXPECT_EQ(
        read_sign_answer(signature_answer("rsa-sha2-512", "S"), "rsa-sha2-512-cert-v01@openssh.com").value(),
        "S");
    EXPECT_FALSE(read_sign_answer(signature_answer("ssh-rsa", "S"), "rsa-sha2-512-cert-v01@openssh.com"));
}

TEST(SshLoginRequest, names_the_algorithm_that_is_asked_for) {
    std::string data;
    put_text(data, "session id");
    data += '\x32';
    for (const char* text : {"root", "ssh-connection", "publickey"}) put_text(data, text);
    data += '\1';
    put_text(data, "rsa-sha2-512");
    EXPECT_EQ(requested_algorithm(data), "rsa-sha2-512");
    for (std::size_t size = 0; size < data.size(); ++size)
        EXPECT_EQ(requested_algorithm(data.substr(0, size)), "");
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
