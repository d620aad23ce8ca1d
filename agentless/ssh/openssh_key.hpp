#pragma once
// The container that ssh-keygen writes ("openssh-key-v1", PROTOCOL.key).

#include <string_view>

#include "agentless/ssh/private_key.hpp"

namespace cleanslate::agentless::ssh {

bool is_openssh_key(std::string_view text);

// Reads one; without a passphrase (null), an encrypted one gives its public half alone. Errors as of
// parse_private_key and decrypt_private_key.
Result<ParsedKey> read_openssh_key(std::string_view text, const std::string_view* passphrase);

}  // namespace cleanslate::agentless::ssh
