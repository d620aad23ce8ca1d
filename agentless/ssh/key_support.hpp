#pragma once
// Which kinds of keys and certificates a libssh2 can offer when somebody else signs. Pure.

#include <string>
#include <string_view>

#include "agentless/ssh/library.hpp"

namespace cleanslate::agentless::ssh {

// Before 1.11 it writes a certificate's name where the signature wants the key's (except for ECDSA), has no
// SHA-2 for RSA, and wraps the signature of a security key once too often; 1.11.0 names the certificates of
// RSA keys with SHA-1.
bool can_be_offered(std::string_view type, LibraryAge age);

// "certificate of type T: not supported by libssh2 V".
std::string not_supported(std::string_view type, std::string_view version);

}  // namespace cleanslate::agentless::ssh
