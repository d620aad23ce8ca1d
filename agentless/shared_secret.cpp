#include "agentless/shared_secret.hpp"

#include <fmt/format.h>

#include <string_view>

#include "base/secret.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

SharedSecret::~SharedSecret() { wipe(password_); }

std::string SharedSecret::hide_in(std::string text) const {
    constexpr std::string_view instead = "[password]";
    if (password_.empty()) return text;
    for (std::size_t at = 0; (at = text.find(password_, at)) != std::string::npos; at += instead.size())
        text.replace(at, password_.size(), instead);
    return text;
}

std::optional<std::string> SharedSecret::barred(const std::string& host, const std::string& whose) const {
    const std::lock_guard lock(mutex_);
    const auto account = accounts_.find(whose);
    if (account == accounts_.end() || account->second.accepted_by.contains(host)) return std::nullopt;
    return account->second.why_barred(whose);
}

std::optional<std::string> SharedSecret::Account::why_barred(const std::string& whose) const {
    const std::string of = whose.empty() ? "" : " of " + printable(whose);
    if (known == Known::refused)
        return fmt::format("the password{} was refused on {}: not tried here", of, host);
    if (known == Known::unheard)
        return fmt::format("{} was given the password{} and never said whether it is right: not tried here",
                           host, of);
    return std::nullopt;
}

void SharedSecret::Account::learn(Known what, const std::string& from) {
    known = what;
    host = from;
    for (const auto& [turn, wake] : waiting) wake();
    waiting.clear();
}

}  // namespace cleanslate::agentless
