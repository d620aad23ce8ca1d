// Property: any text is a key or an error in words; a key that was read signs under its own type, and its
// public half begins with that type. Any data is decrypted to as much, or refused in words.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "agentless/ssh/certificate.hpp"
#include "agentless/ssh/key_cipher.hpp"
#include "agentless/ssh/private_key.hpp"
#include "agentless/ssh/wire.hpp"

namespace {

using namespace cleanslate::agentless::ssh;

// With one round, which costs some ms: at every sixteenth size.
void decrypt_anything(std::string_view data) {
    constexpr std::string_view ciphers[] = {"aes256-ctr", "aes128-cbc", "3des-cbc", "aes256-gcm@openssh.com",
                                            "chacha20-poly1305@openssh.com"};
    if (data.empty() || data.size() % 16 != 0) return;
    std::string options;
    put_text(options, "salt");
    put_number(options, 1);
    const std::string_view cipher = ciphers[static_cast<unsigned char>(data.front()) % std::size(ciphers)];
    const std::size_t tag = cipher.ends_with("@openssh.com") ? 16 : 0;
    SecretText plain;
    const std::string_view body = data.substr(0, data.size() - tag);
    const auto done =
        decrypt_key({cipher, "bcrypt", options}, "secret", body, data.substr(body.size()), plain);
    if (done ? plain.view().size() != body.size() : done.error().message.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    decrypt_anything(text);
    const auto parsed = parse_private_key(text);
    if (!parsed) {
        if (parsed.error().kind != "identity" || parsed.error().message.empty()) std::abort();
        return 0;
    }
    if (const auto certificate = read_certificate(parsed->blob);
        certificate && certificate->plain_blob.empty())
        std::abort();
    if (parsed->encrypted && parsed->key) std::abort();
    if (!parsed->key) return 0;
    const std::string_view type = key_type(parsed->blob);
    if (type.empty() || parsed->key->blob() != parsed->blob) std::abort();
    if (type != "ssh-rsa" && parsed->key->sign("data", type).empty()) std::abort();
    return 0;
}
