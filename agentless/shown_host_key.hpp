#pragma once
// A key that a host has shown, beside what is known of the host. Plain data.

#include <optional>
#include <string>

#include "base/result.hpp"

namespace cleanslate::agentless {

struct ShownHostKey {
    enum class Standing {
        known,
        unknown,  // nothing is known of this host, or an authority alone (then `problem` says so)
        changed,  // another key is known, of this type or of others
        revoked,
    };
    std::string type;         // "ssh-ed25519"
    std::string fingerprint;  // "SHA256:..."
    std::string blob;
    Standing standing = Standing::unknown;
    std::string place;              // "file:line" of the known_hosts entry behind the standing; empty: none
    std::string known_fingerprint;  // of that entry
    std::optional<Error> problem;   // as a login would have it
    bool added = false;             // known since a moment ago
};

}  // namespace cleanslate::agentless
