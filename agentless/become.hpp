#pragma once
// Running as root through sudo, over any transport. docs/become.md says how it looks to an operator.

#include <memory>
#include <optional>
#include <string>

#include "agentless/secret_turn.hpp"

namespace cleanslate::agentless {

// What `script` becomes: the same input behind a gate, as root. A login that is root already needs no sudo.
// Every login shell understands the command alike, and neither the marker nor the prompt stands in it as it
// will be printed, so that no shell can show them by showing its command. `secret` null: sudo -n.
Script through_sudo(const Script& script, const SharedSecret* secret, std::shared_ptr<SecretTurn> turn);

// Why a run never came through its gate. Settles the turn. `barred`: the secret was not offered to sudo at
// all, and why.
Error explain_become(const RunOutput& output, SecretTurn& turn, const SharedSecret* secret,
                     const std::optional<std::string>& barred);

// The same transport, where every run on an endpoint with `become` goes through sudo; `secret` null: sudo -n.
// Errors of kind "become_failed" and phase "become" over and above the transport's own.
std::unique_ptr<Transport> becoming(std::unique_ptr<Transport> inner, std::shared_ptr<SharedSecret> secret);

}  // namespace cleanslate::agentless
