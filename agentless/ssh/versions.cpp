#include "agentless/versions.hpp"

#include <fmt/core.h>
#include <openssl/crypto.h>

#include <boost/version.hpp>

#include "agentless/ssh/library.hpp"

namespace cleanslate::agentless {

// Of the source package that was built and linked in (cmake/build_libssh2.sh).
#ifdef CLEANSLATE_LIBSSH2_PACKAGE
constexpr const char* origin = "built from Debian's " CLEANSLATE_LIBSSH2_PACKAGE;
#else
constexpr const char* origin = "the system's";
#endif

std::string ssh_library_versions() {
    const std::string_view limits = ssh::limits_of(ssh::library_age());
    return fmt::format("libssh2 {} ({}), {}, Boost {}.{}.{}{}{}", ssh::library_version(), origin,
                       OpenSSL_version(OPENSSL_VERSION), BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000,
                       BOOST_VERSION % 100, limits.empty() ? "" : "\n", limits);
}

}  // namespace cleanslate::agentless
