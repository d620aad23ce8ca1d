#include "agentless/ssh/jump_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <random>

#include "agentless/run_errors.hpp"
#include "agentless/ssh/wire.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

using namespace std::chrono_literals;

// One lane does for this many hosts, more are for a jump host's several processors and for opens, of which a
// lane has one at a time.
constexpr std::size_t hosts_per_lane = 16;
constexpr std::size_t usual_lanes = 4;
// With those that wait for hosts that do not answer.
constexpr std::size_t most_lanes = 16;
// With those that are only there for the channels they have.
constexpr std::size_t most_sessions = 64;
constexpr int logins_at_a_time = 2;

// A jump host that was lost is tried again, a little later each time.
constexpr int most_failures = 5;
constexpr std::chrono::milliseconds first_pause = 500ms;
constexpr auto login_time = 2min;
// Then its hosts are told so at once, for a while.
constexpr auto time_to_remember = 20s;

constexpr int most_losses = 2;  // lanes under one open

std::string direct_tcpip(const std::string& host, std::uint16_t port) {
    std::string message;
    put_text(message, host);
    put_number(message, port);
    put_text(message, "127.0.0.1");
    put_number(message, 0);
    return message;
}

// Nothing would be different the next time, and another try might lock an account.
bool is_refusal(const Error& error) {
    if (error.kind == "cancelled") return false;
    return error.phase == "auth" ? error.kind != "auth_timeout" : error.phase == "host-key";
}

// Gives the request up where its coroutine ends or is dropped.
struct GiveUp {
    OpenRequest& request;
    ~GiveUp() {
        request.given_up = true;
        if (request.answer) return;
        if (const auto lane = request.lane.lock()) lane->wake();
    }
};

}  // namespace

JumpHost::JumpHost(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
                   std::shared_ptr<JumpLogins> logins, std::string name, std::string key,
                   OpenSession open_session)
    : io_(io),
      cancellation_(std::move(cancellation)),
      logins_(std::move(logins)),
      name_(std::move(name)),
      key_(std::move(key)),
      open_session_(std::move(open_session)) {}

Awaitable<Result<std::shared_ptr<Link>>> JumpHost::connect(const std::string& host, std::uint16_t port,
                                                           Milliseconds connect_timeout,
                                                           Clock::time_point deadline) {
    const auto self = shared_from_this();
    if (cancellation_->requested() || closed_) co_return std::unexpected(in_phase(cancelled(), "connect"));
    if (const auto error = known_failure()) co_return std::unexpected(*error);
    const auto request = std::make_shared<OpenRequest>(io_, cancellation_);
    request->target = fmt::format("{}:{}", host, port);
    request->message = direct_tcpip(host, port);
    const GiveUp give_up{*request};
    waiting_.push_back(request);
    deal();
    while (!request->answer) {
        const auto until = request->begun ? std::min(deadline, *request->begun + connect_timeout) : deadline;
        const Event::Woken woken = co_await request->done.wait(until);
        if (request->answer || woken == Event::Woken::notified) continue;
        co_return std::unexpected(late(*request, woken == Event::Woken::cancelled));
    }
    co_return std::move(*request->answer);
}

void JumpHost::close() {
    closed_ = true;
    open_session_ = nullptr;
    answer_all(in_phase(cancelled(), "connect"));
    for (const auto& lane : lanes_) lane->retire();
    lanes_.clear();
}

std::shared_ptr<OpenRequest> JumpHost::next_request() {
    while (!waiting_.empty()) {
        std::shared_ptr<OpenRequest> request = std::move(waiting_.front());
        waiting_.pop_front();
        if (!request->given_up) return request;
    }
    return nullptr;
}

// Gives what waits to lanes that have room, and sees to it that there are lanes.
void JumpHost::deal() {
    if (closed_) return;
    std::erase_if(waiting_, [](const auto& request) { return request->given_up; });
    std::vector<Lane*> idle;
    for (const auto& lane : lanes_)
        if (lane->idle()) idle.push_back(lane.get());
    std::ranges::sort(idle, {}, &Lane::channels);
    if (idle.size() > waiting_.size()) idle.resize(waiting_.size());
    for (Lane* lane : idle) lane->wake();
    while (wants_lane()) {
        ++logging_in_;
        boost::asio::co_spawn(io_, log_in(shared_from_this()), boost::asio::detached);
    }
}

bool JumpHost::wants_lane() const {
    if (waiting_.empty() || closed_) return false;
    std::size_t hosts = waiting_.size(), of_use = 0, not_stuck = 0;
    for (const auto& lane : lanes_) {
        hosts += lane->channels();
        if (!lane->stuck()) ++not_stuck;
        if (!lane->stuck() && !lane->held_up() && lane->channels() < Lane::max_channels) ++of_use;
    }
    const auto coming = static_cast<std::size_t>(logging_in_);
    const bool proven = was_open_ && failures_ == 0;
    const std::size_t enough =
        std::clamp((hosts + hosts_per_lane - 1) / hosts_per_lane, std::size_t{1}, usual_lanes);
    return of_use + coming < enough && logging_in_ < (proven ? logins_at_a_time : 1) &&
           not_stuck + coming < most_lanes && lanes_.size() + coming < most_sessions;
}

// One that is held up may have its answer yet.
bool JumpHost::has_lane() const {
    return std::ranges::any_of(lanes_, [](const auto& lane) { return !lane->stuck(); });
}

Awaitable<void> JumpHost::log_in(std::shared_ptr<JumpHost> self) {
    const bool paused = co_await self->pause_before_login();
    const std::shared_ptr<JumpLogins> logins = self->logins_;
    auto turn = co_await logins->take(self->io_, self->cancellation_, self->key_);
    const OpenSession open_session = self->open_session_;
    Result<std::unique_ptr<Session>> session = std::unexpected(cancelled());
    if (!turn) session = std::unexpected(turn.error());
    if (turn && open_session && paused) {
        const auto deadline = Clock::now() + login_time;
        session = co_await open_session(deadline);
        if (session) turn->succeeded();
        if (!session && is_refusal(session.error())) turn->refused(self->failure(session.error()));
    }
    --self->logging_in_;
    if (session && !self->closed_) {
        self->logged_in(std::move(*session));
    } else if (!session) {
        self->login_failed(session.error());
    }
}

// False where it is cancelled.
Awaitable<bool> JumpHost::pause_before_login() {
    Event event(io_, cancellation_);
    while (failures_ > 0 && Clock::now() < next_login_)
        if (co_await event.wait(next_login_) == Event::Woken::cancelled) co_return false;
    co_return true;
}

void JumpHost::logged_in(std::unique_ptr<Session> session) {
    failures_ = 0;
    was_open_ = true;
    broken_.reset();
    const auto lane = std::make_shared<Lane>(io_, cancellation_, weak_from_this(), std::move(session));
    lanes_.push_back(lane);
    boost::asio::co_spawn(io_, Lane::pump(lane), boost::asio::detached);
    deal();
}

void JumpHost::login_failed(const Error& error) {
    static thread_local std::minstd_rand random(std::random_device{}());
    if (closed_) return;
    if (const auto refusal = logins_->refusal(key_); refusal && !has_lane()) return answer_all(*refusal);
    if (error.kind == "cancelled") return answer_all(in_phase(cancelled(), "jump"));
    const auto pause = first_pause * (1 << std::min(failures_, 4));
    next_login_ = Clock::now() + pause / 2 + pause * static_cast<int>(random() % 1000) / 1000;
    ++failures_;
    if (has_lane() || (was_open_ && failures_ < most_failures)) return deal();
    was_open_ = false;
    broken_ = failure(error);
    broken_until_ = Clock::now() + time_to_remember;
    next_login_ = {};
    answer_all(*broken_);
}

void JumpHost::lane_ended(Lane& lane, std::shared_ptr<OpenRequest> unanswered) {
    std::erase_if(lanes_, [&](const auto& other) { return other.get() == &lane; });
    if (unanswered && ++unanswered->losses > most_losses) {
        unanswered->answer.emplace(
            std::unexpected(failure({"", "", "it closed the connection whenever it was asked for this way",
                                     "see what its sshd says (its log)"})));
        unanswered->done.notify();
    } else if (unanswered) {
        unanswered->begun.reset();
        unanswered->done.notify();  // its time begins again with the next lane
        waiting_.push_front(std::move(unanswered));
    }
    if (cancellation_->requested()) return answer_all(in_phase(cancelled(), "jump"));
    deal();
}

void JumpHost::answer_all(const Error& error) {
    while (const auto request = next_request()) {
        request->answer.emplace(std::unexpected(error));
        request->done.notify();
    }
}

std::optional<Error> JumpHost::known_failure() const {
    if (has_lane()) return std::nullopt;  // it has let us in, whatever became of a further login
    if (auto refusal = logins_->refusal(key_)) return refusal;
    return broken_ && Clock::now() < broken_until_ ? broken_ : std::nullopt;
}

Error JumpHost::failure(const Error& cause) const {
    if (cause.kind == "jump_failed") return cause;  // of a hop before it
    return {"jump_failed", "jump", "jump host " + name_ + ": " + cause.message, cause.remedy};
}

Error JumpHost::refused_by_jump() const {
    return failure({"", "", "it refuses to forward connections (administratively prohibited)",
                    "allow it in its sshd_config: AllowTcpForwarding, PermitOpen; in authorized_keys: "
                    "no-port-forwarding, permitopen"});
}

Error JumpHost::no_way_to(const OpenRequest& request) const {
    return {"connect_failed", "connect",
            printable(request.target) + ": jump host " + name_ + " got no connection to it",
            "try `nc -v` from there: is the name known there, and does sshd listen on this port?"};
}

Error JumpHost::no_answer_of(const OpenRequest& request) const {
    return {"connect_timeout", "connect",
            printable(request.target) + ": no answer in time through jump host " + name_,
            "is the host up, and is there a firewall in between?"};
}

Error JumpHost::late(const OpenRequest& request, bool is_cancelled) const {
    if (is_cancelled) return in_phase(cancelled(), "connect");
    if (request.begun) return no_answer_of(request);
    if (!has_lane())
        return failure(
            {"", "", "no session with it in time", "see what its sshd says (its log, MaxStartups)"});
    return {"connect_timeout", "connect",
            "jump host " + name_ + " had no place in time: it waits for hosts that do not answer",
            "take the hosts that are down out of the selection, or allow more time"};
}

}  // namespace cleanslate::agentless::ssh
