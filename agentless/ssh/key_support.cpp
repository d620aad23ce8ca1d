#include "agentless/ssh/key_support.hpp"

#include <fmt/format.h>

#include "agentless/ssh/certificate.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {

bool can_be_offered(std::string_view type, LibraryAge age) {
    const std::string plain = plain_algorithm(type);
    const bool is_certificate = is_certificate_type(type);
    for (const std::string_view curve : {"256", "384", "521"})
        if (plain.starts_with("ecdsa-sha2-nistp") && plain.ends_with(curve)) return true;
    if (plain == "ssh-ed25519") return !is_certificate || age != LibraryAge::before_1_11;
    if (plain == "ssh-rsa") return is_certificate ? age == LibraryAge::newer : age != LibraryAge::before_1_11;
    if (plain == "sk-ssh-ed25519@openssh.com" || plain == "sk-ecdsa-sha2-nistp256@openssh.com")
        return age != LibraryAge::before_1_11;
    return false;
}

std::string not_supported(std::string_view type, std::string_view version) {
    return fmt::format("{} of type {}: not supported by libssh2 {}",
                       is_certificate_type(type) ? "certificate" : "key", printable(ellipsize(type, 60)),
                       version);
}

}  // namespace cleanslate::agentless::ssh
