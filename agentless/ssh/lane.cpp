#include "agentless/ssh/lane.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace cleanslate::agentless::ssh {
namespace {

using namespace std::chrono_literals;

// More than this waiting to be sent to the jump host, and no channel gives it more.
constexpr std::size_t enough_unsent = 256u << 10;
// An open that has no answer after so long holds up the others.
constexpr auto patience = 500ms;
constexpr std::string_view channel_type = "direct-tcpip";

}  // namespace

Lane::Lane(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
           std::weak_ptr<LaneOwner> owner, std::unique_ptr<Session> session)
    : io_(io),
      cancellation_(std::move(cancellation)),
      owner_(std::move(owner)),
      session_(std::move(session)) {}

Awaitable<void> Lane::pump(std::shared_ptr<Lane> lane) {
    // Whatever waits on its event is gone before the session is.
    const std::shared_ptr<Session> session = lane->session_;
    while (lane->turn()) {
        const Clock::time_point until = std::min(lane->next_look(), session->next_look());
        const Event::Woken woken = co_await session->link().event().wait(until);
        if (woken == Event::Woken::cancelled || !session->look_alive()) break;
    }
    lane->end();
}

void Lane::wake() {
    if (session_) session_->link().event().notify();
}

void Lane::retire() {
    retired_ = true;
    wake();
}

// One pass over everything that can move. False at the lane's end.
bool Lane::turn() {
    Link& link = session_->link();
    const bool was_lost = link.failed();  // what came before is still to be read
    const bool has_input = std::exchange(was_read_, false) || link.received() != seen_;
    seen_ = link.received();
    const std::size_t unread = link.unread();
    const bool good = step_open();
    for (ChannelLink* channel : links_) channel->pump(has_input);
    free_closed();
    // Read on the way, by an open or a write: the channels have not looked for theirs.
    if (!has_input && link.unread() != unread) others_may_have_input();
    if (link.unread() > 0) was_read_ = true;
    link.flush();
    link.want_input();
    const bool needed = !links_.empty() || !closing_.empty() || !stuck();
    return good && !was_lost && needed;
}

// False where the session is broken.
bool Lane::step_open() {
    for (;;) {
        if (!open_) {
            const auto owner = owner_.lock();
            if (!owner || !idle()) return true;
            open_ = owner->next_request();
            if (!open_) return true;
            held_up_ = false;
            open_->begun = Clock::now();
            open_->lane = weak_from_this();
            open_->done.notify();
        }
        LIBSSH2_CHANNEL* const channel =
            libssh2_channel_open_ex(session_->handle(), channel_type.data(), channel_type.size(), window,
                                    LIBSSH2_CHANNEL_PACKET_DEFAULT, open_->message.data(),
                                    static_cast<unsigned>(open_->message.size()));
        const int code = channel != nullptr ? 0 : libssh2_session_last_errno(session_->handle());
        if (code == LIBSSH2_ERROR_EAGAIN) {
            if (held_up_ || Clock::now() < *open_->begun + patience) return true;
            held_up_ = true;
            if (const auto owner = owner_.lock()) owner->lane_held_up();
            return true;
        }
        if (!answer_open(channel, code)) return false;
    }
}

// False where the session is broken; the request is then still under way.
bool Lane::answer_open(LIBSSH2_CHANNEL* channel, int code) {
    // libssh2 gives up after 60 s, and would take a late answer for that of a later open with the same
    // number: no further one then, but the channels go on.
    if (code == LIBSSH2_ERROR_TIMEOUT) retired_ = true;
    if (channel == nullptr && code != LIBSSH2_ERROR_CHANNEL_FAILURE && code != LIBSSH2_ERROR_TIMEOUT)
        return false;
    const std::shared_ptr<OpenRequest> request = std::exchange(open_, nullptr);
    held_up_ = false;
    if (channel != nullptr) {
        if (request->given_up) {
            closing_.push_back(channel);
            return true;
        }
        std::shared_ptr<Link> link =
            std::make_shared<ChannelLink>(io_, cancellation_, shared_from_this(), channel);
        request->answer.emplace(std::move(link));
    } else if (const auto owner = owner_.lock()) {
        // The reason's code is in libssh2's words alone; the server's own text is nowhere.
        const std::string why = session_->explain(code);
        const bool unreachable = why.find("connect failed") != std::string::npos;
        request->answer.emplace(std::unexpected(code == LIBSSH2_ERROR_TIMEOUT ? owner->no_answer_of(*request)
                                                : unreachable                 ? owner->no_way_to(*request)
                                                                              : owner->refused_by_jump()));
    }
    request->done.notify();
    return true;
}

void Lane::free_closed() {
    std::erase_if(closing_, [](LIBSSH2_CHANNEL* channel) {
        return libssh2_channel_free(channel) != LIBSSH2_ERROR_EAGAIN;
    });
}

Clock::time_point Lane::next_look() const {
    return open_ && !held_up_ ? *open_->begun + patience : Clock::time_point::max();
}

void Lane::end() {
    if (!session_) return;
    session_.reset();  // the pump has it a little longer
    closing_.clear();  // freed with the session
    for (ChannelLink* link : std::set<ChannelLink*>(std::move(links_))) link->lose();
    links_.clear();
    std::shared_ptr<OpenRequest> unanswered = std::exchange(open_, nullptr);
    if (unanswered && unanswered->given_up) unanswered.reset();
    if (const auto owner = owner_.lock()) owner->lane_ended(*this, std::move(unanswered));
}

std::size_t Lane::unread() const { return session_ ? session_->link().unread() : 0; }

void Lane::others_may_have_input() {
    was_read_ = true;
    wake();
}

void Lane::remove(ChannelLink& link, LIBSSH2_CHANNEL* channel) {
    links_.erase(&link);
    if (!session_ || channel == nullptr) return;
    const Reading reading(*this);
    if (libssh2_channel_free(channel) == LIBSSH2_ERROR_EAGAIN) closing_.push_back(channel);
    flush();
    if (links_.empty()) wake();  // the last one may be what a lane waited for
}

bool Lane::is_full() const { return session_ && session_->link().unsent() >= enough_unsent; }

void Lane::flush() {
    if (session_) session_->link().flush();
}

int Lane::descriptor() { return session_ ? session_->link().descriptor() : -1; }

}  // namespace cleanslate::agentless::ssh
