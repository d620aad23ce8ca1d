#pragma once
// Why a host's key is not believed, in words. Pure.

#include <string>
#include <string_view>

#include "agentless/ssh/host_settings.hpp"
#include "agentless/ssh/known_hosts.hpp"
#include "base/result.hpp"

namespace cleanslate::agentless::ssh {

// Each has the phase "host-key". `match` is what match_host_key() said, and not `known`.
Error host_key_error(const HostSettings& settings, const HostKeyMatch& match, std::string_view blob);

// Another key than the one that was believed a moment ago, in the same sweep.
Error changed_meanwhile(std::string_view blob, std::string_view believed);

// "ssh-ed25519 SHA256:..."
std::string describe_key(std::string_view blob);

// For a host whose keys are not checked: that it showed another key than the one that is known.
std::string changed_unchecked(const HostSettings& settings, const KnownKey& known, std::string_view blob);

}  // namespace cleanslate::agentless::ssh
