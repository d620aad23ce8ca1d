#include "agentless/ssh/identities.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agentless/ssh/session.hpp"
#include "agentless/ssh/wire.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::size_t max_key_file = 256u << 10;

std::unexpected<Error> refused(const std::string& file, std::string what, std::string remedy = {}) {
    return fail("identity", printable(file) + ": " + std::move(what), std::move(remedy));
}

bool exists(const std::string& file) {
    struct stat status {};
    return stat(file.c_str(), &status) == 0 || errno != ENOENT;
}

// ssh's rule: somebody else's file is their business, one's own key must be one's own alone.
Status check_mode(const std::string& file) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0) return refused(file, std::strerror(errno));
    if (status.st_uid == geteuid() && (status.st_mode & 077) != 0) {
        return refused(file,
                       fmt::format("others may read this private key (mode {:04o})", status.st_mode & 07777),
                       "chmod 600 " + printable(file));
    }
    return {};
}

// Why this key can never be used here; empty where it can.
Status check_usable(const Identity& identity, bool has_agent) {
    if (key_type(identity.blob) == "ssh-rsa" && !rsa_works()) {
        return refused(
            identity.file,
            "RSA keys need libssh2 1.11: older ones sign with SHA-1, which OpenSSH 8.8 and newer refuse",
            "use an ed25519 key (ssh-keygen -t ed25519)");
    }
    if (!identity.key && !has_agent) {
        return refused(
            identity.file, "this key is encrypted or public, and there is no agent",
            "encrypted keys: use the agent (ssh-add " + printable(identity.file) + ", SSH_AUTH_SOCK set)");
    }
    return {};
}

}  // namespace

Result<Identity> load_identity(const std::string& file) {
    const auto text = read_file(file, max_key_file);
    if (!text) return fail("identity", text.error().message, text.error().remedy);
    auto parsed = parse_private_key(*text);
    if (!parsed) return std::unexpected(with_context(parsed.error(), printable(file)));
    if (text->find("PRIVATE KEY-----") != std::string::npos) {
        if (auto mode = check_mode(file); !mode) return std::unexpected(mode.error());
    }
    if (parsed->blob.empty()) {  // encrypted PEM
        const auto public_text = read_file(file + ".pub", max_key_file);
        const auto public_half =
            public_text ? parse_private_key(*public_text) : std::unexpected(public_text.error());
        if (!public_half) {
            return refused(
                file, "the key is encrypted, and its public half is not beside it",
                fmt::format("encrypted keys: use the agent (ssh-add {0}), with the public half in {0}.pub",
                            printable(file)));
        }
        parsed->blob = public_half->blob;
    }
    return Identity{file, std::move(parsed->blob), std::move(parsed->key)};
}

Result<std::unique_ptr<Identities>> Identities::load(const SshOptions& options) {
    std::unique_ptr<Identities> identities(new Identities);
    for (const std::string& file : options.identity_files) {
        const auto identity = identities->of_file(file, !options.agent_socket.empty());
        if (!identity) return std::unexpected(in_phase(identity.error(), "auth"));
    }
    return identities;
}

Result<Credentials> Identities::credentials_for(const HostSettings& settings) {
    Credentials credentials;
    credentials.host = settings.alias;
    credentials.user = settings.user;
    credentials.only_these = settings.identities_only;
    credentials.agent_socket = settings.agent_socket;
    credentials.methods = settings.methods;
    for (const std::string& file : settings.identity_files) {
        if (!settings.identities_named && !exists(file)) continue;
        auto identity = of_file(file, !settings.agent_socket.empty());
        if (identity) {
            credentials.identities.push_back(std::move(*identity));
        } else if (settings.identities_named) {
            Error error = identity.error();
            return std::unexpected(
                Error{"auth_failed", "auth", std::move(error.message), std::move(error.remedy)});
        } else {
            const std::lock_guard lock(mutex_);
            std::string note = "not used: " + identity.error().message;
            if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(std::move(note));
        }
    }
    return credentials;
}

std::vector<std::string> Identities::notes() const {
    const std::lock_guard lock(mutex_);
    return notes_;
}

Result<Identity> Identities::of_file(const std::string& file, bool has_agent) {
    const std::lock_guard lock(mutex_);
    auto known = of_files_.find(file);
    if (known == of_files_.end()) known = of_files_.emplace(file, load_identity(file)).first;
    if (!known->second) return known->second;
    if (const auto usable = check_usable(*known->second, has_agent); !usable)
        return std::unexpected(usable.error());
    return known->second;
}

}  // namespace cleanslate::agentless::ssh
