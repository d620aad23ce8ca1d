#include "agentless/ssh/key_cipher.hpp"

#include <botan/pwdhash.h>
#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/err.h>

#include <array>
#include <exception>

#include "agentless/ssh/wire.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

enum class Mode { plain, gcm, chacha };

struct Cipher {
    std::string_view name;
    const char* openssl_name;
    std::size_t key_size, iv_size, block_size, tag_size;
    Mode mode = Mode::plain;
};
constexpr Cipher ciphers[] = {
    {"aes256-ctr", "AES-256-CTR", 32, 16, 16, 0},
    {"aes192-ctr", "AES-192-CTR", 24, 16, 16, 0},
    {"aes128-ctr", "AES-128-CTR", 16, 16, 16, 0},
    {"aes256-cbc", "AES-256-CBC", 32, 16, 16, 0},
    {"aes192-cbc", "AES-192-CBC", 24, 16, 16, 0},
    {"aes128-cbc", "AES-128-CBC", 16, 16, 16, 0},
    {"3des-cbc", "DES-EDE3-CBC", 24, 8, 8, 0},
    {"aes256-gcm@openssh.com", "AES-256-GCM", 32, 12, 16, 16, Mode::gcm},
    {"aes128-gcm@openssh.com", "AES-128-GCM", 16, 12, 16, 16, Mode::gcm},
    {"chacha20-poly1305@openssh.com", "ChaCha20", 64, 0, 8, 16, Mode::chacha},
};

const Cipher* cipher_of(std::string_view name) {
    for (const Cipher& cipher : ciphers) {
        if (cipher.name == name) return &cipher;
    }
    return nullptr;
}

struct KdfOptions {
    std::string_view salt;
    std::uint32_t rounds = 0;
};
std::optional<KdfOptions> read_options(std::string_view text) {
    WireReader reader(text);
    const auto salt = reader.text();
    const auto rounds = reader.number();
    if (!salt || salt->empty() || salt->size() > 256 || !rounds || *rounds == 0 || !reader.at_end())
        return std::nullopt;
    return KdfOptions{*salt, *rounds};
}

std::unexpected<Error> damaged(std::string what) {
    ERR_clear_error();
    return fail("identity", "the private key is damaged: " + std::move(what));
}
std::unexpected<Error> wrong_passphrase() {
    ERR_clear_error();
    return fail("wrong_passphrase", "the passphrase is wrong");
}

// Empty where Botan cannot do it.
bool derive(std::string_view passphrase, const KdfOptions& options, std::string& key) {
    try {
        const auto family = Botan::PasswordHashFamily::create("Bcrypt-PBKDF");
        if (!family) return false;
        const auto hash = family->from_params(options.rounds);
        hash->derive_key(bytes(key), key.size(), passphrase.data(), passphrase.size(), bytes(options.salt),
                         options.salt.size());
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

// The cipher over `data`, and its end, which fails where a tag does not fit.
bool run_cipher(const char* name, std::string_view key, std::string_view iv, std::string_view data,
                std::string_view tag, std::string& plain) {
    const Handle<EVP_CIPHER_CTX> context(EVP_CIPHER_CTX_new());
    const EVP_CIPHER* cipher = EVP_get_cipherbyname(name);
    int size = 0, rest = 0;
    plain.assign(data.size(), '\0');
    if (!context || cipher == nullptr ||
        EVP_DecryptInit_ex(context.get(), cipher, nullptr, bytes(key), bytes(iv)) != 1) {
        return false;
    }
    EVP_CIPHER_CTX_set_padding(context.get(), 0);
    std::string expected(tag);
    if (!tag.empty() && EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG,
                                            static_cast<int>(tag.size()), expected.data()) != 1) {
        return false;
    }
    return EVP_DecryptUpdate(context.get(), bytes(plain), &size, bytes(data),
                             static_cast<int>(data.size())) == 1 &&
           EVP_DecryptFinal_ex(context.get(), bytes(plain) + size, &rest) == 1 &&
           static_cast<std::size_t>(size + rest) == data.size();
}

bool poly1305(std::string_view key, std::string_view data, std::array<unsigned char, 16>& tag) {
    const Handle<EVP_MAC> mac(EVP_MAC_fetch(nullptr, "POLY1305", nullptr));
    const Handle<EVP_MAC_CTX> context(mac ? EVP_MAC_CTX_new(mac.get()) : nullptr);
    std::size_t size = 0;
    return context && EVP_MAC_init(context.get(), bytes(key), key.size(), nullptr) == 1 &&
           EVP_MAC_update(context.get(), bytes(data), data.size()) == 1 &&
           EVP_MAC_final(context.get(), tag.data(), &size, tag.size()) == 1 && size == tag.size();
}

// OpenSSH's own construction (PROTOCOL.chacha20poly1305) with sequence number 0 and nothing beside the data:
// block 0 of the key stream is Poly1305's key, the data is from block 1 on. OpenSSL takes the block's number
// as the first 8 bytes of the initial vector.
Status decrypt_chacha(std::string_view key, std::string_view data, std::string_view tag, std::string& plain) {
    const std::string_view main_key = key.substr(0, 32);
    const std::string block0(16, '\0');
    std::string block1 = block0;
    block1[0] = 1;
    SecretText mac_key;
    const std::string zeros(32, '\0');
    std::array<unsigned char, 16> expected{};
    if (!run_cipher("ChaCha20", main_key, block0, zeros, {}, mac_key.text()) ||
        !poly1305(mac_key.view(), data, expected)) {
        return damaged("this OpenSSL has no ChaCha20 with Poly1305");
    }
    if (CRYPTO_memcmp(expected.data(), tag.data(), expected.size()) != 0) return wrong_passphrase();
    if (!run_cipher("ChaCha20", main_key, block1, data, {}, plain)) return damaged("it cannot be decrypted");
    return {};
}

}  // namespace

Status check_encryption(const KeyEncryption& how) {
    const Cipher* cipher = cipher_of(how.cipher);
    if (cipher == nullptr) {
        return fail("identity",
                    fmt::format("it is encrypted with {}, which is not supported",
                                printable(ellipsize(how.cipher, 40))),
                    "encrypt it anew (ssh-keygen -p -Z aes256-ctr), or use the agent");
    }
    if (how.kdf != "bcrypt") {
        return fail("identity",
                    fmt::format("its passphrase is stretched by {}, which is not supported",
                                printable(ellipsize(how.kdf, 40))),
                    "encrypt it anew (ssh-keygen -p), or use the agent");
    }
    const auto options = read_options(how.kdf_options);
    if (!options) return damaged("what it says of its encryption makes no sense");
    if (options->rounds > max_kdf_rounds) {
        return fail("identity",
                    fmt::format("its passphrase is stretched by {} rounds, at most {} are supported",
                                options->rounds, max_kdf_rounds),
                    "encrypt it anew (ssh-keygen -p -a 100), or use the agent");
    }
    return {};
}

Status decrypt_key(const KeyEncryption& how, std::string_view passphrase, std::string_view data,
                   std::string_view tag, SecretText& plain) {
    if (auto possible = check_encryption(how); !possible) return possible;
    const Cipher& cipher = *cipher_of(how.cipher);
    if (data.size() % cipher.block_size != 0 || tag.size() != cipher.tag_size)
        return damaged("its encrypted part has no possible size");
    SecretText derived(cipher.key_size + cipher.iv_size);
    if (!derive(passphrase, *read_options(how.kdf_options), derived.text()))
        return damaged("its passphrase cannot be stretched");
    const std::string_view key = derived.view().substr(0, cipher.key_size);
    const std::string_view iv = derived.view().substr(cipher.key_size);
    if (cipher.mode == Mode::chacha) return decrypt_chacha(key, data, tag, plain.text());
    if (run_cipher(cipher.openssl_name, key, iv, data, tag, plain.text())) return {};
    if (cipher.mode == Mode::gcm) return wrong_passphrase();
    return damaged("it cannot be decrypted");
}

}  // namespace cleanslate::agentless::ssh
