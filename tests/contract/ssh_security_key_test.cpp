// Keys on security keys (FIDO), held by an agent: here one that makes their signatures itself.
#include <openssl/evp.h>

#include <fstream>

#include "agentless/ssh/key_support.hpp"
#include "agentless/ssh/private_key.hpp"
#include "agentless/ssh/wire.hpp"
#include "tests/contract/fake_server.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

constexpr std::string_view application = "ssh:";

std::string sha256(std::string_view text) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
    return {reinterpret_cast<const char*>(digest), size};
}

// What a security key has: an ordinary key, of which it lends signatures over more than it was asked to sign.
class SecurityKey {
  public:
    SecurityKey(const std::string& file, std::string type)
        : type_(std::move(type)), key_(ssh::parse_private_key(read_text(file)).value().key) {
        ssh::put_text(blob_, type_);
        ssh::WireReader plain(key_->blob());
        plain_type_ = *plain.text();
        while (const auto field = plain.text()) ssh::put_text(blob_, *field);
        ssh::put_text(blob_, application);
    }
    const std::string& blob() const { return blob_; }
    std::string line() const { return type_ + " " + ssh::encode_base64(blob_) + " test\n"; }

    std::string sign(std::string_view data) const {
        std::string rest(1, '\1');  // somebody touched it
        ssh::put_number(rest, 7);   // counter
        std::string signature;
        ssh::put_text(signature, type_);
        ssh::put_text(signature, key_->sign(sha256(application) + rest + sha256(data), plain_type_));
        return signature + rest;
    }

    // Its agent, for one connection.
    void serve(int peer) const {
        std::string request;
        while (receive_message(peer, request)) {
            ssh::WireReader reader(request);
            reader.number();
            std::string answer;
            if (reader.byte() == 11) {
                answer = "\x0c";
                ssh::put_number(answer, 1);
                ssh::put_text(answer, blob_);
                ssh::put_text(answer, "test");
            } else {
                reader.text();
                answer = "\x0e";
                ssh::put_text(answer, sign(*reader.text()));
            }
            std::string message;
            ssh::put_text(message, answer);
            send_all(peer, message);
        }
    }

  private:
    std::string type_, plain_type_, blob_;
    std::shared_ptr<const ssh::SigningKey> key_;
};

using SshSecurityKey = SshTest;

TEST_F(SshSecurityKey, an_agents_security_key_lets_one_in_or_is_named_as_not_supported) {
    const Sshd sshd;
    const std::pair<const char*, const char*> kinds[] = {
        {"-t ed25519", "sk-ssh-ed25519@openssh.com"},
        {"-t ecdsa -b 256", "sk-ecdsa-sha2-nistp256@openssh.com"}};
    for (const auto& [arguments, type] : kinds) {
        SCOPED_TRACE(type);
        const SecurityKey key(sshd.make_key(type, arguments), type);
        std::ofstream(sshd.file("authorized_keys"), std::ios::app) << key.line();
        const FakeServer agent(sshd.file(std::string(type) + ".agent"),
                               [&key](int peer) { key.serve(peer); });
        SshOptions options = sshd.options();
        options.identity_files.clear();
        options.agent_socket = sshd.file(std::string(type) + ".agent");
        if (ssh::can_be_offered(type, ssh::library_age())) {
            expect_runs(options, sshd.endpoint());
            continue;
        }
        const Error error = expect_refused(options, sshd.endpoint(), "auth_failed", "auth");
        expect_says(error.message, std::string("key of type ") + type + ": not supported by libssh2");
    }
}

}  // namespace
}  // namespace cleanslate::agentless::contract
