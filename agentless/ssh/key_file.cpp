#include "agentless/ssh/key_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "agentless/ssh/openssl_handles.hpp"
#include "agentless/ssh/wire.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::size_t max_key_file = 256u << 10;

std::unexpected<Error> refused(const std::string& file, std::string what, std::string remedy = {}) {
    return fail("identity", printable(file) + ": " + std::move(what), std::move(remedy));
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

// What FILE.pub says of a key that does not say it itself.
void add_public_half(KeyFile& key) {
    const auto text = read_file(key.file + ".pub", max_key_file);
    const auto half = text ? parse_private_key(*text) : std::unexpected(text.error());
    if (!half || half->encrypted || half->key) return;
    if (key.blob.empty()) key.blob = half->blob;
    if (key.blob == half->blob && key.comment.empty()) key.comment = half->comment;
}

}  // namespace

bool file_exists(const std::string& file) {
    struct stat status {};
    return stat(file.c_str(), &status) == 0 || errno != ENOENT;
}

Result<KeyFile> read_key_file(const std::string& file) {
    auto read = read_file(file, max_key_file);
    if (!read) return fail("identity", read.error().message, read.error().remedy);
    const SecretText text(std::move(*read));
    auto parsed = parse_private_key(text.view());
    if (!parsed) return std::unexpected(with_context(parsed.error(), printable(file)));
    if (text.view().find("PRIVATE KEY-----") != std::string_view::npos) {
        if (auto mode = check_mode(file); !mode) return std::unexpected(mode.error());
    }
    KeyFile key{file,
                std::move(parsed->blob),
                std::move(parsed->key),
                parsed->encrypted,
                std::move(parsed->obstacle),
                std::move(parsed->comment)};
    if (key.locked) add_public_half(key);
    return key;
}

Status unlock_key_file(KeyFile& key, std::string_view passphrase) {
    auto read = read_file(key.file, max_key_file);
    if (!read) return fail("identity", read.error().message, read.error().remedy);
    const SecretText text(std::move(*read));
    auto parsed = decrypt_private_key(text.view(), passphrase);
    if (!parsed) return std::unexpected(with_context(parsed.error(), printable(key.file)));
    if (!parsed->key) return refused(key.file, "it was replaced while it was read");
    key.blob = std::move(parsed->blob);
    key.key = std::move(parsed->key);
    key.locked = false;
    return {};
}

Result<CertificateFile> read_certificate_file(const std::string& file) {
    const auto text = read_file(file, max_key_file);
    if (!text) return fail("identity", text.error().message, text.error().remedy);
    auto parsed = parse_private_key(*text);
    if (!parsed) return std::unexpected(with_context(parsed.error(), printable(file)));
    auto certificate = read_certificate(parsed->blob);
    if (!certificate) return refused(file, "this is no certificate of a kind that is known here");
    if (!certificate->for_users)
        return refused(file, "this is a certificate for hosts, not for users",
                       "ssh-keygen -s CA -I ID KEY.pub");
    return CertificateFile{file, std::move(parsed->blob), std::move(*certificate)};
}

}  // namespace cleanslate::agentless::ssh
