#include "agentless/shared_secret.hpp"

#include <fmt/format.h>
#include <string.h>

#include <string_view>

#include "base/text.hpp"

namespace cleanslate::agentless {

SharedSecret::~SharedSecret() { explicit_bzero(password_.data(), password_.size()); }

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

Script::Warden::Leave SecretTurn::asked(const std::function<void()>& wake) {
    waits_for_.clear();
    if (secret_ == nullptr) return Leave::withhold;
    const std::lock_guard lock(secret_->mutex_);
    auto& account = secret_->accounts_[whose_];
    if (!account.accepted_by.contains(host_)) {
        if (const auto why = account.why_barred(whose_)) {
            withheld_ = *why;
            return Leave::withhold;
        }
        if (account.known == Known::tried) {
            account.waiting[this] = wake;
            waits_for_ = account.host;
            return Leave::wait;
        }
        if (account.known == Known::nothing) account.learn(Known::tried, host_);
    }
    was_given_ = true;
    return Leave::give;
}

void SecretTurn::passed() {
    has_passed_ = true;
    if (!was_given_ || is_settled_) return;
    is_settled_ = true;
    const std::lock_guard lock(secret_->mutex_);
    auto& account = secret_->accounts_[whose_];
    account.accepted_by.insert(host_);
    if (account.known == Known::tried) account.learn(Known::right, host_);
}

void SecretTurn::refused() {
    if (!was_given_ || is_settled_) return;
    is_settled_ = true;
    const std::lock_guard lock(secret_->mutex_);
    auto& account = secret_->accounts_[whose_];
    account.accepted_by.erase(host_);  // not a second time what was refused
    if (account.known != Known::refused) account.learn(Known::refused, host_);
}

void SecretTurn::unsaid() {
    if (!was_given_ || is_settled_) return;
    is_settled_ = true;
    const std::lock_guard lock(secret_->mutex_);
    auto& account = secret_->accounts_[whose_];
    if (account.known == Known::tried) account.learn(Known::nothing, {});
}

void SecretTurn::end() {
    if (secret_ == nullptr) return;
    const std::lock_guard lock(secret_->mutex_);
    const auto account = secret_->accounts_.find(whose_);
    if (account == secret_->accounts_.end()) return;
    account->second.waiting.erase(this);
    if (!was_given_ || is_settled_) return;
    is_settled_ = true;
    if (account->second.known == Known::tried) account->second.learn(Known::unheard, host_);
}

}  // namespace cleanslate::agentless
