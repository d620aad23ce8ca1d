#include "agentless/places.hpp"

#include <algorithm>

namespace cleanslate::agentless {

namespace {

using namespace std::chrono_literals;

// Longer than a login with a round trip of 200 ms, or a survey of a busy host.
constexpr Milliseconds least_patience = 1s;
constexpr int times_the_usual = 4;
constexpr int of_the_last = 8;  // answers, about, that the average is of

}  // namespace

Places::Places(std::size_t at_work, std::size_t under_way)
    : most_at_work_(std::max<std::size_t>(1, at_work)),
      most_under_way_(std::max<std::size_t>(1, under_way)) {}

std::size_t Places::room() const {
    return std::min(most_at_work_ - std::min(most_at_work_, at_work_),
                    most_under_way_ - std::min(most_under_way_, under_way_));
}

void Places::begin(Host& host) {
    host.has_place_ = true;
    ++at_work_;
    ++under_way_;
}

void Places::end(Host& host) {
    stop_waiting(host);
    give_away(host);
    --under_way_;
}

void Places::waits(Host& host, Time now) {
    stop_waiting(host);
    host.since_ = now;
    if (!host.has_place_) return;
    host.is_waiting_ = true;
    host.place_in_line_ = waiting_.insert(waiting_.end(), &host);
}

void Places::answered(Host& host, Time now, bool is_usual) {
    stop_waiting(host);
    if (!is_usual) return;
    const auto took = std::chrono::duration_cast<Milliseconds>(now - host.since_);
    usual_ = usual_ ? *usual_ + (took - *usual_) / of_the_last : took;
}

void Places::rests(Host& host, Time now, Time until) {
    if (until - now >= least_patience) give_away(host);
}

void Places::release(Time now) {
    while (!waiting_.empty() && now - waiting_.front()->since_ > patience()) {
        Host& host = *waiting_.front();
        stop_waiting(host);
        give_away(host);
    }
}

Milliseconds Places::patience() const {
    return std::max(least_patience, usual_.value_or(0ms) * times_the_usual);
}

void Places::give_away(Host& host) {
    if (!host.has_place_) return;
    host.has_place_ = false;
    --at_work_;
}

void Places::stop_waiting(Host& host) {
    if (!host.is_waiting_) return;
    host.is_waiting_ = false;
    waiting_.erase(host.place_in_line_);
}

}  // namespace cleanslate::agentless
