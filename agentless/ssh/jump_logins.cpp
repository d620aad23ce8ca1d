#include "agentless/ssh/jump_logins.hpp"

#include "agentless/run_errors.hpp"

namespace cleanslate::agentless::ssh {

class JumpLogins::Waiting {
  public:
    // With the mutex held.
    Waiting(JumpLogins& logins, Jump& jump, std::function<void()> waker)
        : logins_(logins), jump_(jump), waker_(std::move(waker)) {
        jump_.waiting.insert(&waker_);
    }
    ~Waiting() {
        const std::lock_guard lock(logins_.mutex_);
        jump_.waiting.erase(&waker_);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

  private:
    JumpLogins& logins_;
    Jump& jump_;  // a map's entries stay where they are
    const std::function<void()> waker_;
};

Awaitable<Result<JumpLogins::Turn>> JumpLogins::take(boost::asio::io_context& io,
                                                     const std::shared_ptr<Cancellation>& cancellation,
                                                     const std::string& jump) {
    Event event(io, cancellation);
    for (;;) {
        std::unique_ptr<Waiting> waiting;
        {
            const std::lock_guard lock(mutex_);
            Jump& there = jumps_[jump];
            if (there.refusal) co_return std::unexpected(*there.refusal);
            if (there.proven) co_return Turn(*this, jump, false);
            if (!there.trying) {
                there.trying = true;
                co_return Turn(*this, jump, true);
            }
            waiting = std::make_unique<Waiting>(*this, there, event.waker());
        }
        const Event::Woken woken = co_await event.wait(Clock::time_point::max());
        if (woken == Event::Woken::cancelled) co_return std::unexpected(in_phase(cancelled(), "jump"));
    }
}

std::optional<Error> JumpLogins::refusal(const std::string& jump) const {
    const std::lock_guard lock(mutex_);
    const auto there = jumps_.find(jump);
    return there == jumps_.end() ? std::nullopt : there->second.refusal;
}

void JumpLogins::wake(Jump& jump) {
    for (const auto* waker : jump.waiting) (*waker)();
}

void JumpLogins::Turn::succeeded() {
    const std::lock_guard lock(logins_->mutex_);
    Jump& there = logins_->jumps_[jump_];
    there.proven = true;
    logins_->wake(there);
}

void JumpLogins::Turn::refused(const Error& error) {
    const std::lock_guard lock(logins_->mutex_);
    Jump& there = logins_->jumps_[jump_];
    there.refusal = error;
    logins_->wake(there);
}

JumpLogins::Turn::~Turn() {
    if (logins_ == nullptr || !first_) return;
    const std::lock_guard lock(logins_->mutex_);
    Jump& there = logins_->jumps_[jump_];
    there.trying = false;
    logins_->wake(there);
}

}  // namespace cleanslate::agentless::ssh
