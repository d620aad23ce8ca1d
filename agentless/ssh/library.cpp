#include "agentless/ssh/library.hpp"

#include <fmt/format.h>
#include <libssh2.h>

namespace cleanslate::agentless::ssh {

LibraryAge library_age() {
    if (libssh2_version(0x010b01) != nullptr) return LibraryAge::newer;
    if (libssh2_version(0x010b00) != nullptr) return LibraryAge::is_1_11_0;
    return LibraryAge::before_1_11;
}

std::string library_version() { return libssh2_version(0); }

std::string_view limits_of(LibraryAge age) {
    switch (age) {
        case LibraryAge::before_1_11:
            return "This libssh2 is older than 1.11: no RSA keys at OpenSSH 8.8 and newer, no hosts with "
                   "only -etm "
                   "MACs or only an RSA key, no ed25519 certificates";
        case LibraryAge::is_1_11_0:
            return "This libssh2 is older than 1.11.1: no hosts with only chacha20-poly1305, no RSA "
                   "certificates at "
                   "OpenSSH 8.8 and newer";
        case LibraryAge::newer:
            break;
    }
    return {};
}

std::string no_common_algorithm(LibraryAge age, std::string_view version) {
    switch (age) {
        case LibraryAge::before_1_11:
            return fmt::format("this is libssh2 {}; hosts with only -etm MACs or only an RSA key need 1.11",
                               version);
        case LibraryAge::is_1_11_0:
            return fmt::format("this is libssh2 {}; hosts with only chacha20-poly1305 need 1.11.1", version);
        case LibraryAge::newer:
            break;
    }
    return fmt::format(
        "this is libssh2 {}, which has no umac MACs and no post-quantum key exchanges: allow others there, "
        "such as "
        "hmac-sha2-256 and curve25519-sha256",
        version);
}

bool rsa_works() { return library_age() != LibraryAge::before_1_11; }

}  // namespace cleanslate::agentless::ssh
