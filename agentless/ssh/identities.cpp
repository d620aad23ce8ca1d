#include "agentless/ssh/identities.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/run_errors.hpp"
#include "agentless/ssh/library.hpp"
#include "agentless/ssh/wire.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

// Why this key can never be used with this libssh2; absent where it can.
std::optional<Error> obstacle_of(const KeyFile& key) {
    if (key_type(key.blob) != "ssh-rsa" || rsa_works()) return std::nullopt;
    return Error{
        "identity", "auth",
        printable(key.file) +
            ": RSA keys need libssh2 1.11: older ones sign with SHA-1, which OpenSSH 8.8 and newer refuse",
        "use an ed25519 key (ssh-keygen -t ed25519)"};
}

// Why it cannot be used at this host: nobody can sign.
Error nobody_signs(const KeyFile& key) {
    const std::string file = printable(key.file);
    if (key.locked) {
        return {"identity", "auth", file + ": this key is encrypted, and there is no agent",
                fmt::format("load it into the agent (ssh-add {}, SSH_AUTH_SOCK set)", file)};
    }
    return {"identity", "auth", file + ": this is a public key, and there is no agent that could sign for it",
            "name the private key, or load it into the agent (ssh-add, SSH_AUTH_SOCK set)"};
}

Error as_refusal(Error error) {
    return {"auth_failed", "auth", std::move(error.message), std::move(error.remedy)};
}

}  // namespace

Result<std::unique_ptr<Identities>> Identities::load(const SshOptions& options) {
    std::unique_ptr<Identities> identities(new Identities);
    identities->flagged_ = options.identity_files;
    for (const std::string& file : options.identity_files) {
        const Result<KeyFile>& key = identities->entry(file).key;
        if (!key) return std::unexpected(in_phase(key.error(), "auth"));
        if (auto obstacle = obstacle_of(*key)) return std::unexpected(std::move(*obstacle));
    }
    return identities;
}

Result<Credentials> Identities::credentials_for(const HostSettings& settings) {
    const std::lock_guard lock(mutex_);
    Credentials credentials;
    credentials.user = settings.user;
    credentials.only_these = settings.identities_only;
    credentials.agent_socket = settings.agent_socket;
    credentials.agent_lists = agent_lists_;
    credentials.methods = settings.methods;
    for (const std::string& file : settings.identity_files) {
        if (is_passed_over(file, settings)) continue;
        const Entry& entry = this->entry(file);
        std::optional<Error> why;
        if (!entry.key) {
            why = entry.key.error();
        } else if (auto obstacle = obstacle_of(*entry.key)) {
            why = std::move(obstacle);
        } else if (!entry.key->key && settings.agent_socket.empty()) {
            why = entry.refusal ? *entry.refusal : nobody_signs(*entry.key);
        }
        if (!why) {
            add_key(*entry.key, settings, credentials);
        } else if (settings.identities_named) {
            return std::unexpected(as_refusal(std::move(*why)));
        } else {
            note(*why);
        }
    }
    add_other_certificates(settings, credentials);
    return credentials;
}

// The key, and before it the certificates that are for it.
void Identities::add_key(const KeyFile& key, const HostSettings& settings, Credentials& credentials) {
    std::vector<std::string> files = settings.certificate_files;
    const std::string beside = key.file + "-cert.pub";
    if (certificates_.contains(beside) || file_exists(beside)) files.push_back(beside);
    for (const std::string& file : files) {
        const Result<CertificateFile>* certificate = this->certificate(file);
        if (!*certificate) {
            note(certificate->error());
        } else if ((*certificate)->certificate.plain_blob == key.blob) {
            credentials.identities.push_back({file, (*certificate)->blob, key.key, key.locked});
        } else if (file == beside && !key.blob.empty()) {
            note({"identity", "auth", printable(file) + ": this certificate is for another key", ""});
        }
    }
    if (!key.blob.empty()) credentials.identities.push_back({key.file, key.blob, key.key, key.locked});
}

// Those whose key only the agent may have.
void Identities::add_other_certificates(const HostSettings& settings, Credentials& credentials) {
    if (settings.agent_socket.empty()) return;
    for (const std::string& file : settings.certificate_files) {
        const Result<CertificateFile>* certificate = this->certificate(file);
        if (!*certificate) {
            note(certificate->error());
            continue;
        }
        const std::string& blob = (*certificate)->blob;
        const bool there = std::ranges::any_of(credentials.identities,
                                               [&](const Identity& other) { return other.blob == blob; });
        if (!there) credentials.identities.insert(credentials.identities.begin(), {file, blob, nullptr});
    }
}

std::vector<std::string> Identities::notes() const {
    const std::lock_guard lock(mutex_);
    return notes_;
}

bool Identities::is_passed_over(const std::string& file, const HostSettings& settings) const {
    return !settings.identities_named && !keys_.contains(file) && !file_exists(file);
}

Identities::Entry& Identities::entry(const std::string& file) {
    const auto known = keys_.find(file);
    if (known != keys_.end()) return known->second;
    return keys_.emplace(file, Entry{read_key_file(file), false, {}}).first->second;
}

const Result<CertificateFile>* Identities::certificate(const std::string& file) {
    auto known = certificates_.find(file);
    if (known == certificates_.end()) known = certificates_.emplace(file, read_certificate_file(file)).first;
    return &known->second;
}

void Identities::note(const Error& error) {
    std::string text = "not used: " + error.message;
    if (!error.remedy.empty()) text += " (" + error.remedy + ")";
    if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(std::move(text));
}

}  // namespace cleanslate::agentless::ssh
