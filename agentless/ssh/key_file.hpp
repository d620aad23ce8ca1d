#pragma once
// A key or certificate as it lies in a file.

#include <memory>
#include <optional>
#include <string>

#include "agentless/ssh/certificate.hpp"
#include "agentless/ssh/private_key.hpp"

namespace cleanslate::agentless::ssh {

struct KeyFile {
    std::string file;
    std::string blob;                       // the public half; empty where only a passphrase would tell it
    std::shared_ptr<const SigningKey> key;  // null: locked, or only a public key
    bool locked = false;                    // encrypted, and not decrypted yet
    std::optional<Error> obstacle;          // why no passphrase will ever decrypt it here
    std::string comment;                    // as far as it is known
};

// Refused, as by ssh: a private key that the caller owns and others may read. Errors have kind "identity".
Result<KeyFile> read_key_file(const std::string& file);

// Decrypts a locked key. Errors have kind "wrong_passphrase" or "identity".
Status unlock_key_file(KeyFile& key, std::string_view passphrase);

struct CertificateFile {
    std::string file, blob;
    Certificate certificate;
};
// Errors have kind "identity".
Result<CertificateFile> read_certificate_file(const std::string& file);

bool file_exists(const std::string& file);

}  // namespace cleanslate::agentless::ssh
