#include "agentless/places.hpp"

#include <algorithm>

namespace cleanslate::agentless {

namespace {

using namespace std::chrono_literals;

// Longer than a login with a round trip of 200 ms, or a survey of a busy host.
constexpr Milliseconds least_patience = 1s;
constexpr int times_the_usual = 4;
constexpr int of_the_last = 8;  // answers, about, that the average is of

std::size_t left(std::size_t most, std::size_t used) { return most - std::min(most, used); }

}  // namespace

Places::Places(std::size_t at_work, std::size_t under_way)
    : most_at_work_(std::max<std::size_t>(1, at_work)),
      most_under_way_(std::max<std::size_t>(1, under_way)),
      most_engaged_(most_at_work_ * most_engaged_each) {}

std::size_t Places::room(bool strictly) const {
    return std::min({left(most_at_work_, at_work_ + (strictly ? silent_ : 0)),
                     left(most_under_way_, under_way_), left(most_engaged_, engaged_)});
}

void Places::begin(Host& host) {
    ++under_way_;
    set(host, true, false);
}

void Places::end(Host& host) {
    stop_waiting(host);
    give_up(host);
    --under_way_;
    set(host, false, false);
}

bool Places::take(Host& host, std::function<void()> called) {
    stop_waiting(host);
    if (host.has_place_) {
        set(host, true, true);
        return true;
    }
    if (!host.is_in_line_) {
        host.is_in_line_ = true;
        host.in_line_ = line_.insert(line_.end(), &host);
        serve_line();
        if (host.has_place_) return true;
    }
    host.called_ = std::move(called);
    return false;
}

void Places::give_up(Host& host) {
    if (!host.is_in_line_) return;
    host.is_in_line_ = false;
    host.called_ = nullptr;
    line_.erase(host.in_line_);
}

void Places::waits(Host& host, Time now) {
    stop_waiting(host);
    host.since_ = now;
    if (!host.has_place_ || host.acts_) return;
    host.is_waiting_ = true;
    host.among_waiting_ = waiting_.insert(waiting_.end(), &host);
}

void Places::answered(Host& host, Time now, bool is_usual) {
    stop_waiting(host);
    if (!is_usual) return;
    const auto took = std::chrono::duration_cast<Milliseconds>(now - host.since_);
    usual_ = usual_ ? *usual_ + (took - *usual_) / of_the_last : took;
}

void Places::rests(Host& host, Time now, Time until) {
    if (until - now >= least_patience) set(host, false, host.acts_);
}

void Places::release(Time now) {
    while (!waiting_.empty() && now - waiting_.front()->since_ > patience()) {
        Host& host = *waiting_.front();
        stop_waiting(host);
        host.is_silent_ = true;
        ++silent_;
        set(host, false, false);
    }
}

Milliseconds Places::patience() const {
    return std::max(least_patience, usual_.value_or(0ms) * times_the_usual);
}

void Places::set(Host& host, bool has_place, bool acts) {
    const auto count = [&](std::size_t sign) {
        at_work_ += host.has_place_ ? sign : 0;
        engaged_ += host.has_place_ || host.acts_ ? sign : 0;
    };
    const bool had_place = host.has_place_, acted = host.acts_;
    count(static_cast<std::size_t>(-1));
    host.has_place_ = has_place;
    host.acts_ = acts;
    count(1);
    if ((had_place && !has_place) || (acted && !acts)) serve_line();
}

// Whoever has acted before goes on also where there are too many to begin with another.
void Places::serve_line() {
    for (auto next = line_.begin(); next != line_.end() && at_work_ < most_at_work_;) {
        Host& host = **next++;
        if (!host.acts_ && engaged_ >= most_engaged_) continue;
        const std::function<void()> called = std::move(host.called_);
        give_up(host);
        set(host, true, true);
        if (called) called();
    }
}

void Places::stop_waiting(Host& host) {
    if (host.is_silent_) --silent_;
    host.is_silent_ = false;
    if (!host.is_waiting_) return;
    host.is_waiting_ = false;
    waiting_.erase(host.among_waiting_);
}

}  // namespace cleanslate::agentless
