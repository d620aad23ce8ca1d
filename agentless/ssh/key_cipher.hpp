#pragma once
// How an OpenSSH private key is encrypted: bcrypt-pbkdf makes a key of the passphrase, one of some ciphers
// uses it.

#include <string_view>

#include "agentless/ssh/openssl_handles.hpp"
#include "base/result.hpp"

namespace cleanslate::agentless::ssh {

// ssh-keygen's default is 16 to 24 rounds, some 10 ms each.
constexpr std::uint32_t max_kdf_rounds = 4096;

// What the container says, in plain.
struct KeyEncryption {
    std::string_view cipher, kdf, kdf_options;
};

// Why this cannot be decrypted whatever the passphrase is: a cipher or derivation that is not supported, too
// many rounds, options that make no sense. Errors have kind "identity".
Status check_encryption(const KeyEncryption& how);

// Decrypts `data`, of which `tag` is the rest of the container (empty, or what authenticates it). Errors
// have kind "identity"; "wrong_passphrase" where the tag shows that it is wrong.
Status decrypt_key(const KeyEncryption& how, std::string_view passphrase, std::string_view data,
                   std::string_view tag, SecretText& plain);

}  // namespace cleanslate::agentless::ssh
