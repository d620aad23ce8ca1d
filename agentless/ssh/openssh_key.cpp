#include "agentless/ssh/openssh_key.hpp"

#include <openssl/err.h>

#include "agentless/ssh/key_cipher.hpp"
#include "agentless/ssh/key_numbers.hpp"
#include "agentless/ssh/openssl_handles.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::string_view first_line = "-----BEGIN OPENSSH PRIVATE KEY-----";
constexpr std::string_view last_line = "-----END OPENSSH PRIVATE KEY-----";
constexpr std::string_view magic("openssh-key-v1\0", 15);

std::unexpected<Error> damaged(std::string_view what) {
    ERR_clear_error();
    return fail("identity", "the private key is damaged: " + std::string(what));
}

struct Container {
    KeyEncryption encryption;
    std::string_view public_blob, private_part, tag;
};

// The views are into `decoded`.
Result<Container> read_container(std::string_view decoded) {
    if (!decoded.starts_with(magic)) return damaged("it is no OpenSSH container");
    WireReader reader(decoded.substr(magic.size()));
    const auto cipher = reader.text();
    const auto kdf = reader.text();
    const auto kdf_options = reader.text();
    const auto count = reader.number();
    const auto public_blob = reader.text();
    const auto private_part = reader.text();
    if (!cipher || !kdf || !kdf_options || !count || !public_blob || !private_part)
        return damaged("it is cut short");
    if (*count != 1) return damaged("it does not hold exactly one key");
    return Container{{*cipher, *kdf, *kdf_options}, *public_blob, *private_part, reader.rest()};
}

// Two equal numbers come first: others mean that it was decrypted with a wrong passphrase.
bool check_numbers_agree(WireReader& fields) {
    const auto first = fields.number();
    const auto second = fields.number();
    return first && first == second;
}

// After the check numbers: type and fields, comment, padding 1 2 3 ...
Result<ParsedKey> read_private_part(WireReader fields, std::string_view public_blob) {
    const auto type = fields.text();
    if (!type || *type != key_type(public_blob)) return damaged("its two halves are of different types");
    if (!is_supported_type(*type)) {
        return fail("identity", "keys of type " + printable(ellipsize(*type, 40)) + " are not supported",
                    type->starts_with("sk-") ? "load it into the agent (ssh-add)"
                                             : "use an ed25519 key (ssh-keygen -t ed25519)");
    }
    KeyHandle key = read_private_fields(*type, fields);
    if (!key) return damaged("its numbers make no key");
    if (public_blob_of(key.get()) != public_blob) return damaged("its two halves do not belong together");
    const auto comment = fields.text();
    if (!comment) return damaged("it is cut short");
    const std::string_view padding = fields.rest();
    for (std::size_t i = 0; i < padding.size(); ++i) {
        if (static_cast<unsigned char>(padding[i]) != ((i + 1) & 0xff))
            return damaged("its padding is wrong");
    }
    ParsedKey parsed{std::string(public_blob), nullptr};
    parsed.key = std::make_shared<SigningKey>(parsed.blob, std::move(key));
    parsed.comment = *comment;
    return parsed;
}

Result<ParsedKey> decrypt(const Container& container, std::string_view passphrase) {
    SecretText plain;
    const Status decrypted =
        decrypt_key(container.encryption, passphrase, container.private_part, container.tag, plain);
    if (!decrypted) return std::unexpected(decrypted.error());
    WireReader fields(plain.view());
    if (!check_numbers_agree(fields)) return fail("wrong_passphrase", "the passphrase is wrong");
    return read_private_part(fields, container.public_blob);
}

}  // namespace

bool is_openssh_key(std::string_view text) { return text.find(first_line) != std::string_view::npos; }

Result<ParsedKey> read_openssh_key(std::string_view text, const std::string_view* passphrase) {
    const std::size_t from = text.find(first_line) + first_line.size();
    const std::size_t to = text.find(last_line, from);
    if (to == std::string_view::npos) return damaged("it is cut short");
    SecretText base64;
    base64.text().reserve(to - from);  // else a copy of it would stay behind where it grows
    for (const char character : text.substr(from, to - from)) {
        if (character != '\n' && character != '\r' && character != ' ') base64.text().push_back(character);
    }
    SecretText decoded(decode_base64(base64.view()).value_or(std::string()));
    const auto container = read_container(decoded.view());
    if (!container) return std::unexpected(container.error());
    if (container->encryption.cipher != "none") {
        if (passphrase != nullptr) return decrypt(*container, *passphrase);
        ParsedKey locked{std::string(container->public_blob), nullptr, true};
        if (auto possible = check_encryption(container->encryption); !possible)
            locked.obstacle = possible.error();
        return locked;
    }
    WireReader fields(container->private_part);
    if (!check_numbers_agree(fields)) return damaged("its check numbers differ");
    return read_private_part(fields, container->public_blob);
}

}  // namespace cleanslate::agentless::ssh
