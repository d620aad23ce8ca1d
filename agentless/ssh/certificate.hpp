#pragma once
// OpenSSH's certificates (PROTOCOL.certkeys): what a login has to know of one. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cleanslate::agentless::ssh {

struct Certificate {
    std::string plain_blob;  // the key that is certified, without the certificate
    bool for_users = false;  // else for hosts
    std::string key_id;
    std::uint64_t valid_from = 0, valid_until = 0;  // seconds since 1970; until: exclusive, ~0 for ever
};

bool is_certificate_type(std::string_view type);
// "ssh-ed25519" of "ssh-ed25519-cert-v01@openssh.com", "rsa-sha2-512" of its like; any other name as it is.
std::string plain_algorithm(std::string_view type);

// Absent: no certificate, of a type that is not known, or damaged.
std::optional<Certificate> read_certificate(std::string_view blob);

// "expired at TIME", "not valid before TIME"; empty while it is valid.
std::string validity_problem(const Certificate& certificate, std::uint64_t now);

}  // namespace cleanslate::agentless::ssh
