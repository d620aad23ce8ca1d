#include "agentless/ssh/certificate.hpp"

#include <fmt/chrono.h>

#include "agentless/ssh/wire.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::string_view suffix = "-cert-v01@openssh.com";

// How many fields of the public key follow the nonce; 0 for a type that is not known.
int key_fields(std::string_view plain_type) {
    if (plain_type == "ssh-ed25519") return 1;                         // point
    if (plain_type == "ssh-rsa") return 2;                             // e, n
    if (plain_type == "sk-ssh-ed25519@openssh.com") return 2;          // point, application
    if (plain_type == "sk-ecdsa-sha2-nistp256@openssh.com") return 3;  // curve, point, application
    if (plain_type.starts_with("ecdsa-sha2-nistp")) return 2;          // curve, point
    return 0;
}

std::optional<std::uint64_t> long_number(WireReader& reader) {
    const auto high = reader.number();
    const auto low = reader.number();
    if (!high || !low) return std::nullopt;
    return std::uint64_t{*high} << 32 | *low;
}

std::string time_text(std::uint64_t seconds) {
    constexpr std::uint64_t last = 253402300799;  // 9999-12-31
    const auto time = static_cast<std::time_t>(std::min(seconds, last));
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time));
}

}  // namespace

bool is_certificate_type(std::string_view type) { return type.ends_with(suffix); }

std::string plain_algorithm(std::string_view type) {
    if (!is_certificate_type(type)) return std::string(type);
    const std::string plain(type.substr(0, type.size() - suffix.size()));
    return plain.starts_with("sk-") ? plain + "@openssh.com" : plain;
}

std::optional<Certificate> read_certificate(std::string_view blob) {
    WireReader reader(blob);
    const auto type = reader.text();
    if (!type || !is_certificate_type(*type) || !reader.text()) return std::nullopt;  // type, nonce
    Certificate certificate;
    const std::string plain_type = plain_algorithm(*type);
    const int fields = key_fields(plain_type);
    if (fields == 0) return std::nullopt;
    put_text(certificate.plain_blob, plain_type);
    for (int i = 0; i < fields; ++i) {
        const auto field = reader.text();
        if (!field) return std::nullopt;
        put_text(certificate.plain_blob, *field);
    }
    const auto serial = long_number(reader);
    const auto kind = reader.number();
    const auto key_id = reader.text();
    const auto principals = reader.text();
    const auto from = long_number(reader);
    const auto until = long_number(reader);
    if (!serial || !kind || !key_id || !principals || !from || !until) return std::nullopt;
    certificate.for_users = *kind == 1;
    certificate.key_id = *key_id;
    certificate.valid_from = *from;
    certificate.valid_until = *until;
    return certificate;
}

std::string validity_problem(const Certificate& certificate, std::uint64_t now) {
    if (now >= certificate.valid_until) return "expired at " + time_text(certificate.valid_until);
    if (now < certificate.valid_from) return "not valid before " + time_text(certificate.valid_from);
    return {};
}

}  // namespace cleanslate::agentless::ssh
