#include "agentless/become_secret.hpp"

#include <fmt/format.h>
#include <string.h>

#include <string_view>

namespace cleanslate::agentless {

BecomeSecret::~BecomeSecret() { explicit_bzero(password_.data(), password_.size()); }

std::string BecomeSecret::hide_in(std::string text) const {
    constexpr std::string_view instead = "[password]";
    if (password_.empty()) return text;
    for (std::size_t at = 0; (at = text.find(password_, at)) != std::string::npos; at += instead.size())
        text.replace(at, password_.size(), instead);
    return text;
}

std::optional<std::string> BecomeSecret::barred() const {
    const std::lock_guard lock(mutex_);
    return why_barred();
}

std::optional<std::string> BecomeSecret::why_barred() const {
    if (known_ == Known::refused) return fmt::format("the password was refused on {}: not tried here", host_);
    if (known_ == Known::unheard)
        return fmt::format("{} was given the password and never said whether it is right: not tried here",
                           host_);
    return std::nullopt;
}

void BecomeSecret::learn(Known known, const std::string& host) {
    known_ = known;
    host_ = host;
    for (const auto& [turn, wake] : waiting_) wake();
    waiting_.clear();
}

Script::Warden::Leave BecomeTurn::asked(const std::function<void()>& wake) {
    using Known = BecomeSecret::Known;
    waits_for_.clear();
    if (secret_ == nullptr) return Leave::withhold;
    if (!accepted_before_) {
        const std::lock_guard lock(secret_->mutex_);
        if (const auto why = secret_->why_barred()) {
            withheld_ = *why;
            return Leave::withhold;
        }
        if (secret_->known_ == Known::tried) {
            secret_->waiting_[this] = wake;
            waits_for_ = secret_->host_;
            return Leave::wait;
        }
        if (secret_->known_ == Known::nothing) secret_->learn(Known::tried, host_);
    }
    was_given_ = true;
    return Leave::give;
}

void BecomeTurn::passed() {
    has_passed_ = true;
    if (!was_given_ || is_settled_) return;
    is_settled_ = true;
    const std::lock_guard lock(secret_->mutex_);
    if (secret_->known_ == BecomeSecret::Known::tried) secret_->learn(BecomeSecret::Known::right, host_);
}

void BecomeTurn::refused() {
    if (!was_given_ || is_settled_) return;
    is_settled_ = true;
    const std::lock_guard lock(secret_->mutex_);
    if (secret_->known_ != BecomeSecret::Known::refused) secret_->learn(BecomeSecret::Known::refused, host_);
}

void BecomeTurn::unsaid() {
    if (!was_given_ || is_settled_) return;
    is_settled_ = true;
    const std::lock_guard lock(secret_->mutex_);
    if (secret_->known_ == BecomeSecret::Known::tried) secret_->learn(BecomeSecret::Known::nothing, {});
}

void BecomeTurn::end() {
    if (secret_ == nullptr) return;
    const std::lock_guard lock(secret_->mutex_);
    secret_->waiting_.erase(this);
    if (!was_given_ || is_settled_) return;
    is_settled_ = true;
    if (secret_->known_ == BecomeSecret::Known::tried) secret_->learn(BecomeSecret::Known::unheard, host_);
}

}  // namespace cleanslate::agentless
