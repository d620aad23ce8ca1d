#pragma once
// Keys as numbers: what SSH's wire format says of a key, and what OpenSSL makes of it. Types: ed25519, ECDSA
// on nistp256, 384 and 521, RSA.

#include <string>
#include <string_view>

#include "agentless/ssh/private_key.hpp"
#include "agentless/ssh/wire.hpp"

namespace cleanslate::agentless::ssh {

struct Curve {
    std::string_view type;  // as a key type
    std::string_view name;  // as SSH names the curve
    const char* openssl_name;
    const char* digest;
};
// Null for a type that is not ECDSA.
const Curve* curve_of(std::string_view type);

// The public key's blob, for formats that do not carry it; empty for a type or curve that SSH has not.
std::string public_blob_of(EVP_PKEY* key);

bool is_supported_type(std::string_view type);
// The fields that follow a supported type in the private part of an OpenSSH container. Null where they make
// no key.
KeyHandle read_private_fields(std::string_view type, WireReader& fields);

}  // namespace cleanslate::agentless::ssh
