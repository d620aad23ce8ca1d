#pragma once
// Which libraries the SSH side runs on, for --version and for bug reports.

#include <string>

namespace cleanslate::agentless {

// One line, as loaded at run time where the library can tell: "libssh2 1.11.0, OpenSSL 3.0.17, Boost 1.81".
std::string ssh_library_versions();

}  // namespace cleanslate::agentless
