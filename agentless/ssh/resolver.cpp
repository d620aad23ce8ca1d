#include "agentless/ssh/resolver.hpp"

#include <netdb.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

namespace asio = boost::asio;
using Endpoints = std::vector<asio::ip::tcp::endpoint>;
using namespace std::chrono_literals;

constexpr std::size_t max_threads = 32;  // each hangs as long as a name server does
constexpr auto idle_time = 1s;           // then a thread ends

std::unexpected<Error> resolve_failed(std::string message, std::string remedy = {}) {
    return std::unexpected(Error{"resolve_failed", "resolve", std::move(message), std::move(remedy)});
}

// `was_answered`: by the name servers, if only that there is no such name.
Result<Endpoints> look_up(const std::string& host, std::uint16_t port, bool& was_answered) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* list = nullptr;
    const int code = getaddrinfo(host.c_str(), nullptr, &hints, &list);
    was_answered = code != EAI_AGAIN;
    if (code != 0) {
        return resolve_failed(printable(host) + ": " + gai_strerror(code),
                              "check the name, or give its address as `host` in the inventory");
    }
    Endpoints endpoints;
    for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
        asio::ip::tcp::endpoint endpoint;
        if (entry->ai_addrlen > endpoint.capacity()) continue;
        std::memcpy(endpoint.data(), entry->ai_addr, entry->ai_addrlen);
        endpoint.resize(entry->ai_addrlen);
        endpoint.port(port);
        endpoints.push_back(endpoint);
    }
    freeaddrinfo(list);
    if (endpoints.empty()) return resolve_failed(printable(host) + " has no address");
    return endpoints;
}

// One name that somebody waits for, until they let go of it.
struct Lookup {
    std::string host;
    std::uint16_t port = 0;
    std::mutex mutex;
    asio::io_context* io = nullptr;  // null: nobody waits any more
    Event* event = nullptr;
    // Touched on the waiter's thread only.
    std::optional<Clock::time_point> taken_up;  // by one of our threads
    std::optional<Result<Endpoints>> answer;
};

// On the waiter's thread, if anybody waits. False: nobody does.
template <class Change>
bool tell(const std::shared_ptr<Lookup>& lookup, Change change) {
    const std::lock_guard lock(lookup->mutex);
    if (lookup->io == nullptr) return false;
    asio::post(*lookup->io, [lookup, change = std::move(change)]() mutable {
        change(*lookup);
        if (lookup->event != nullptr) lookup->event->notify();
    });
    return true;
}

bool take_up(const std::shared_ptr<Lookup>& lookup) {
    return tell(lookup, [now = Clock::now()](Lookup& l) { l.taken_up = now; });
}

void deliver(const std::shared_ptr<Lookup>& lookup, Result<Endpoints> answer) {
    tell(lookup, [answer = std::move(answer)](Lookup& l) mutable { l.answer = std::move(answer); });
}

}  // namespace

struct Resolver::Pool {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::shared_ptr<Lookup>> queue;
    std::size_t threads = 0, idle = 0;
    bool closing = false;
    Clock::time_point last_answer{};  // to any name

    Clock::time_point last_answered() {
        const std::lock_guard lock(mutex);
        return last_answer;
    }

    static void ask(const std::shared_ptr<Pool>& pool, std::shared_ptr<Lookup> lookup) {
        const std::lock_guard lock(pool->mutex);
        pool->queue.push_back(std::move(lookup));
        if (pool->idle < pool->queue.size() && pool->threads < max_threads) {
            try {
                std::thread(work, pool).detach();
                ++pool->threads;
            } catch (const std::system_error&) {
                // No more threads here: those that there are take it, or its waiter's deadline comes.
            }
        } else {
            pool->wake.notify_one();
        }
    }

    static void work(std::shared_ptr<Pool> pool) {
        std::unique_lock lock(pool->mutex);
        for (;;) {
            ++pool->idle;
            pool->wake.wait_for(lock, idle_time, [&] { return pool->closing || !pool->queue.empty(); });
            --pool->idle;
            if (pool->closing || pool->queue.empty()) break;
            const std::shared_ptr<Lookup> lookup = std::move(pool->queue.front());
            pool->queue.pop_front();
            lock.unlock();
            bool was_answered = false;
            if (take_up(lookup)) deliver(lookup, look_up(lookup->host, lookup->port, was_answered));
            lock.lock();
            if (was_answered) pool->last_answer = Clock::now();
        }
        --pool->threads;
    }
};

Resolver::Resolver() : pool_(std::make_shared<Pool>()) {}

Resolver::~Resolver() {
    const std::lock_guard lock(pool_->mutex);
    pool_->closing = true;
    pool_->wake.notify_all();
}

Awaitable<Result<Endpoints>> Resolver::resolve(asio::io_context& io,
                                               const std::shared_ptr<Cancellation>& cancellation,
                                               const std::string& host, std::uint16_t port, Milliseconds time,
                                               Clock::time_point overall) {
    boost::system::error_code not_an_address;
    const auto address = asio::ip::make_address(host, not_an_address);
    if (!not_an_address) co_return Endpoints{asio::ip::tcp::endpoint(address, port)};

    Event event(io, cancellation);
    const auto lookup = std::make_shared<Lookup>();
    lookup->host = host;
    lookup->port = port;
    lookup->io = &io;
    lookup->event = &event;
    struct LetGo {
        Lookup& lookup;
        ~LetGo() {
            const std::lock_guard lock(lookup.mutex);
            lookup.io = nullptr;
            lookup.event = nullptr;
        }
    } const let_go{*lookup};
    Pool::ask(pool_, lookup);
    const auto asked = Clock::now();
    for (;;) {
        const auto since = lookup->taken_up ? *lookup->taken_up : std::max(asked, pool_->last_answered());
        const auto until = std::min(overall, since + time);
        if (Clock::now() >= until) break;
        const Event::Woken woken = co_await event.wait(until);
        if (lookup->answer) co_return std::move(*lookup->answer);
        if (woken == Event::Woken::cancelled)
            co_return std::unexpected(Error{"cancelled", "resolve", "cancelled", ""});
    }
    const bool in_line = !lookup->taken_up && Clock::now() >= overall;
    co_return resolve_failed(printable(lookup->host) +
                             (in_line ? ": other names were still being looked up when the time was over"
                                      : ": the name servers did not answer in time"));
}

}  // namespace cleanslate::agentless::ssh
