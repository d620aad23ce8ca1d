#include "agentless/ssh/host_key_errors.hpp"

#include <fmt/format.h>

#include "agentless/ssh/host_keys.hpp"
#include "agentless/ssh/wire.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::string_view compare_first =
    "compare the fingerprint, then add the key with `cleanslate trust`";

Error not_believed(std::string kind, std::string message, std::string remedy) {
    return {std::move(kind), "host-key", std::move(message), std::move(remedy)};
}

// Where one looks whose host has an alias.
std::string under_alias(const HostSettings& settings) {
    if (settings.host_key_alias.empty()) return {};
    return fmt::format(" under its HostKeyAlias {}", printable(ellipsize(settings.host_key_alias, 100)));
}

Error unknown_key(const HostSettings& settings, std::string_view blob) {
    return not_believed(
        "host_key_unknown",
        fmt::format("its host key {} is in no known_hosts file{}", describe_key(blob), under_alias(settings)),
        std::string(compare_first) + ", or use --host-key-check accept-new");
}

Error other_type(const KnownKey& known, std::string_view blob) {
    return not_believed(
        "host_key_unknown",
        fmt::format("it showed the host key {}, while only a key of type {} is known ({})",
                    describe_key(blob), printable(ellipsize(known.type, 60)), printable(known.place())),
        "compare the fingerprint, then add this key to known_hosts by hand (ssh-keyscan prints it)");
}

Error changed_key(const HostSettings& settings, const KnownKey& known, std::string_view blob) {
    const std::string name = printable(known_hosts_name(settings)), file = printable(*known.file);
    return not_believed(
        "host_key_changed",
        fmt::format("its host key has changed: now {}, known is {} ({})", describe_key(blob),
                    fingerprint(known.blob), printable(known.place())),
        fmt::format("look at it: ssh-keygen -l -F '{0}' -f '{1}'; only if the host was reinstalled: "
                    "ssh-keygen -R '{0}' -f '{1}'; if it was not, somebody may be in between",
                    name, file));
}

Error authority_alone(const KnownKey& authority, std::string_view blob) {
    return not_believed(
        "host_key_unknown",
        fmt::format("it is known by a certificate authority alone ({}), and certificates of hosts cannot be "
                    "checked (libssh2 does not read them); its plain key is {}",
                    printable(authority.place()), describe_key(blob)),
        std::string(compare_first));
}

Error revoked_key(const KnownKey& revoked, std::string_view blob) {
    return not_believed(
        "host_key_revoked",
        fmt::format("its host key {} is revoked ({})", describe_key(blob), printable(revoked.place())),
        "do not log in there until the host has a new key");
}

}  // namespace

std::string describe_key(std::string_view blob) {
    return fmt::format("{} {}", printable(ellipsize(key_type(blob), 60)), fingerprint(blob));
}

Error host_key_error(const HostSettings& settings, const HostKeyMatch& match, std::string_view blob) {
    switch (match.answer) {
        case HostKeyMatch::Answer::revoked:
            return revoked_key(*match.key, blob);
        case HostKeyMatch::Answer::changed:
            return changed_key(settings, *match.key, blob);
        case HostKeyMatch::Answer::other_type:
            return other_type(*match.key, blob);
        case HostKeyMatch::Answer::authority:
            return authority_alone(*match.key, blob);
        case HostKeyMatch::Answer::known:
        case HostKeyMatch::Answer::unknown:
            break;
    }
    return unknown_key(settings, blob);
}

Error changed_meanwhile(std::string_view blob, std::string_view believed) {
    return not_believed("host_key_changed",
                        fmt::format("its host key has changed: now {}, a moment ago it was {}",
                                    describe_key(blob), describe_key(believed)),
                        "several machines answer at this address, or somebody is in between");
}

std::string changed_unchecked(const HostSettings& settings, const KnownKey& known, std::string_view blob) {
    return fmt::format("{}: its host key was not checked, and it is {} while {} {} is known ({})",
                       printable(settings.alias), describe_key(blob), printable(ellipsize(known.type, 60)),
                       fingerprint(known.blob), printable(known.place()));
}

}  // namespace cleanslate::agentless::ssh
