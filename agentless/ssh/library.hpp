#pragma once
// What the libssh2 that runs here lacks, in words. Which one that is, is known at run time alone: a program
// that was built with one may be run with another.

#include <string>
#include <string_view>

namespace cleanslate::agentless::ssh {

enum class LibraryAge {
    before_1_11,  // no SHA-2 signatures by RSA keys, no encrypt-then-MAC
    is_1_11_0,    // no chacha20-poly1305; announces nothing of its own accord beside a list of key exchanges
    newer,
};

LibraryAge library_age();

// "1.11.1"
std::string library_version();

// One line for --version; empty where nothing is to be said.
std::string_view limits_of(LibraryAge age);

// What to do where it has no algorithm in common with a host.
std::string no_common_algorithm(LibraryAge age, std::string_view version);

// RSA keys sign with SHA-2 from libssh2 1.11 on; older ones cannot log in with them at OpenSSH 8.8 and newer.
bool rsa_works();

}  // namespace cleanslate::agentless::ssh
