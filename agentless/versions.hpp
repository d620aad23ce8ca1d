#pragma once
// Which libraries the SSH side runs on, for --version and for bug reports.

#include <string>

namespace cleanslate::agentless {

// As loaded at run time where the library can tell: "libssh2 1.10.0 (the system's), OpenSSL 3.0.17,
// Boost 1.81.0". A second line says what an old libssh2 lacks.
std::string ssh_library_versions();

}  // namespace cleanslate::agentless
