#include "agentless/account_trouble.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/findings.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

struct Text {
    std::string_view part;  // in lower case
    std::string_view code;
};

// The first that a line has counts.
constexpr Text texts[] = {
    {"rather than the user \"root\"", "root-login-refused"},  // cloud images
    {"root login is not permitted", "root-login-refused"},
    {"root login rejected", "root-login-refused"},
    {"password has expired", "password-expired"},              // OpenSSH
    {"required to change your password", "password-expired"},  // pam_unix
    {"must change your password", "password-expired"},         // OpenSSH without PAM
    {"password change required", "password-expired"},          // OpenSSH, no terminal
    {"password is expired", "password-expired"},               // sudo, of both: the more frequent
    {"password expired", "password-expired"},                  // pam_sss
    {"account has expired", "account-expired"},                // pam_unix, OpenSSH
    {"account expired", "account-expired"},
    {"account is locked", "account-locked"},  // pam_faillock, dropbear
    {"account locked", "account-locked"},     // pam_tally2, sudo
    {"account temporarily locked", "account-locked"},
    {"account has been locked", "account-locked"},
    {"unprivileged users are not permitted to log in", "logins-closed"},  // systemd's /run/nologin
    {"see pam_nologin(8)", "logins-closed"},
    {"account is currently not available", "no-shell"},  // nologin
    {"allows sftp connections only", "no-shell"},        // ForceCommand internal-sftp
    {"account is restricted by rssh", "no-shell"},
};

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

struct Said {
    std::string_view code, line;
};

Said said_in(std::string_view text) {
    constexpr std::size_t most = 64u << 10;
    for (const std::string_view line : split(text.substr(0, most), '\n')) {
        const std::string small = lower(line);
        for (const Text& known : texts)
            if (small.find(known.part) != std::string::npos) return {known.code, trim(line)};
    }
    return {};
}

}  // namespace

std::string_view account_trouble(std::string_view text) { return said_in(text).code; }

Error account_error(std::string_view code, std::string_view because) {
    const auto kind = std::ranges::find(finding_kinds(), code, &FindingKind::code);
    std::string name(code);
    std::ranges::replace(name, '-', '_');
    return {std::move(name), "", fmt::format("{}; {}", kind->meaning, because), std::string(kind->remedy)};
}

std::optional<Error> account_error(std::initializer_list<std::string_view> printed) {
    for (const std::string_view text : printed) {
        const Said said = said_in(text);
        if (said.code.empty()) continue;
        return account_error(said.code,
                             fmt::format("the host says: {}", ellipsize(printable(said.line), 160)));
    }
    return std::nullopt;
}

std::string finding_code_of(const Error& error) {
    std::string code = error.kind;
    std::ranges::replace(code, '_', '-');
    return std::ranges::find(texts, code, &Text::code) != std::end(texts) ? code : std::string();
}

}  // namespace cleanslate::agentless
