#pragma once
// Private keys: read once for the whole fleet, then only asked to sign. The container of OpenSSH is read
// here, since OpenSSL 3 does not know it; PEM and PKCS#8 are OpenSSL's to read.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

// OpenSSL's own, kept out of this header.
using EVP_PKEY = struct evp_pkey_st;

namespace cleanslate::agentless::ssh {

struct FreeKey {
    void operator()(EVP_PKEY* key) const;
};
using KeyHandle = std::unique_ptr<EVP_PKEY, FreeKey>;

// A key that can sign. Immutable, shared by all threads.
class SigningKey {
  public:
    SigningKey(std::string blob, KeyHandle key) : blob_(std::move(blob)), key_(std::move(key)) {}
    const std::string& blob() const { return blob_; }

    // The inner signature as SSH carries it (without the algorithm's name before it). `algorithm` is the
    // key's type, for RSA rsa-sha2-256 or rsa-sha2-512, each also as its certificates name it. Empty where
    // that fits this key not, or where OpenSSL fails.
    std::string sign(std::string_view data, std::string_view algorithm) const;

  private:
    std::string blob_;
    KeyHandle key_;
};

// What a key file holds.
struct ParsedKey {
    std::string blob;                       // the public key; empty where an encrypted file does not tell it
    std::shared_ptr<const SigningKey> key;  // null: encrypted, or only a public key
    bool encrypted = false;                 // decrypt_private_key makes a key of it
    std::optional<Error> obstacle = {};     // why no passphrase will ever decrypt it here
    std::string comment = {};               // where it can be read
};

// Reads an OpenSSH or PEM private key, or a public key line ("ssh-ed25519 AAAA... comment"). Types: ed25519,
// ECDSA on nistp256, 384 and 521, RSA; public keys and certificates of any type. Errors have kind "identity".
Result<ParsedKey> parse_private_key(std::string_view text);

// Reads an encrypted one. Errors have kind "wrong_passphrase" or "identity". An OpenSSH key costs tenths of a
// second of computing: decrypt once.
Result<ParsedKey> decrypt_private_key(std::string_view text, std::string_view passphrase);

}  // namespace cleanslate::agentless::ssh
