#include "agentless/secret_turn.hpp"

namespace cleanslate::agentless {

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
    is_settled_ = false;  // what was unsaid before is given anew
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
