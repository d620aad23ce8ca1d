#include "agentless/versions.hpp"

#include <fmt/core.h>
#include <libssh2.h>
#include <openssl/crypto.h>

#include <boost/version.hpp>

namespace cleanslate::agentless {

std::string ssh_library_versions() {
    const char* libssh2 = libssh2_version(0);
    return fmt::format("libssh2 {}, {}, Boost {}.{}.{}", libssh2 == nullptr ? "unknown" : libssh2,
                       OpenSSL_version(OPENSSL_VERSION), BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000,
                       BOOST_VERSION % 100);
}

}  // namespace cleanslate::agentless
