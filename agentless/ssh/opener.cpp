#include "agentless/ssh/opener.hpp"

#include <fmt/ranges.h>

#include <random>

#include "agentless/run_errors.hpp"
#include "agentless/ssh/jumps.hpp"
#include "agentless/ssh/login.hpp"
#include "agentless/ssh/proxy_command.hpp"
#include "agentless/ssh/tcp.hpp"

namespace cleanslate::agentless::ssh {
namespace {

using namespace std::chrono_literals;

constexpr int max_retries = 2;
constexpr auto first_pause = 200ms;  // doubled at each retry, and up to as much again at random

// Whoever counts the logins that are under way.
std::string server_of(const HostSettings& settings) {
    return fmt::format("{}:{} {}{}", settings.host_name, settings.port, fmt::join(settings.proxy_jump, ","),
                       settings.proxy_command);
}

// Who refused a password, for other hosts' messages.
std::string shown_name(const HostSettings& settings) {
    return settings.port == 22 ? settings.alias : fmt::format("{}:{}", settings.alias, settings.port);
}

Error no_turn(bool is_cancelled) {
    if (is_cancelled) return in_phase(cancelled(), "connect");
    return {"connect_timeout", "connect", "other logins at the same server took all the time",
            "lower --fanout, or allow more time (--deadline)"};
}

}  // namespace

// One attempt to open a host.
struct Opener::Attempt {
    Result<std::unique_ptr<Session>> session;
    bool may_retry = false;
    // Both held until the login is over.
    std::optional<LoginTurns::Turn> turn = std::nullopt;
    std::optional<LoginPace::Turn> pace = std::nullopt;
};

Opener::Opener(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
               std::shared_ptr<SshContext> context)
    : io_(io),
      cancellation_(std::move(cancellation)),
      context_(std::move(context)),
      jumps_(std::make_unique<Jumps>(io_, cancellation_, context_, *this)) {}

Opener::~Opener() = default;

Awaitable<Result<std::unique_ptr<Session>>> Opener::open(const Endpoint& endpoint,
                                                         Clock::time_point deadline) {
    if (cancellation_->requested()) co_return std::unexpected(in_phase(cancelled(), "connect"));
    auto settings = settings_for(endpoint, context_->options, context_->config);
    if (!settings) co_return std::unexpected(settings.error());
    co_return co_await open_with(std::move(*settings), deadline);
}

Awaitable<Result<std::unique_ptr<Session>>> Opener::open_hop(const Endpoint& hop,
                                                             Clock::time_point deadline) {
    auto settings = settings_for_hop(hop, context_->options, context_->config);
    if (!settings) co_return std::unexpected(settings.error());
    co_return co_await open_with(std::move(*settings), deadline);
}

void Opener::close() { jumps_->close(); }

Awaitable<Result<std::unique_ptr<Session>>> Opener::open_with(HostSettings settings,
                                                              Clock::time_point deadline) {
    for (int retry = 0;; ++retry) {
        Attempt attempt = co_await this->attempt(settings, deadline);
        if (attempt.session) co_return std::move(attempt.session);
        auto error = co_await end_with(attempt, retry, deadline);
        if (error) co_return std::unexpected(std::move(*error));
    }
}

Awaitable<Result<std::string>> Opener::host_key(const HostSettings& settings,
                                                const std::vector<std::string>& algorithms,
                                                Clock::time_point deadline) {
    for (int retry = 0;; ++retry) {
        Attempt greeted = co_await greet(settings, algorithms, deadline);
        if (greeted.session) co_return std::string((*greeted.session)->host_key());
        auto error = co_await end_with(greeted, retry, deadline);
        if (error) co_return std::unexpected(std::move(*error));
    }
}

Awaitable<std::optional<Error>> Opener::end_with(Attempt& failed, int retry, Clock::time_point deadline) {
    const bool again = failed.may_retry && retry < max_retries && co_await pause(retry, deadline);
    Error& error = failed.session.error();
    if (cancellation_->requested() && error.kind != "cancelled") co_return in_phase(cancelled(), error.phase);
    if (again && !cancellation_->requested()) co_return std::nullopt;
    co_return std::move(error);
}

Awaitable<Opener::Attempt> Opener::attempt(const HostSettings& settings, Clock::time_point overall) {
    const auto credentials = context_->identities->credentials_for(settings);
    if (!credentials) co_return Attempt{std::unexpected(credentials.error())};
    const auto known = context_->host_keys->find(settings);
    if (!known) co_return Attempt{std::unexpected(known.error())};
    const std::vector<std::string> algorithms = host_key_algorithms(*known);
    Attempt greeted = co_await greet(settings, algorithms, overall);
    if (!greeted.session) co_return greeted;
    Session& session = **greeted.session;
    const Status believed = context_->host_keys->check(settings, *known, session.host_key());
    if (!believed) co_return Attempt{std::unexpected(believed.error())};
    const auto login_deadline = std::min(overall, Clock::now() + settings.connect_timeout);
    const std::string name = shown_name(settings);
    const Status in = co_await log_in(session, io_, cancellation_, *credentials, context_->options.password,
                                      name, login_deadline);
    if (!in) co_return Attempt{std::unexpected(in.error())};
    session.keep_alive(settings.alive_interval, settings.alive_count_max);
    greeted.turn.reset();
    greeted.pace.reset();
    co_return greeted;
}

Awaitable<Opener::Attempt> Opener::greet(const HostSettings& settings,
                                         const std::vector<std::string>& algorithms,
                                         Clock::time_point overall) {
    const std::string server = server_of(settings);
    auto turn = co_await context_->login_turns.take(io_, cancellation_, server, overall);
    if (!turn) co_return Attempt{std::unexpected(no_turn(cancellation_->requested()))};
    auto link = co_await link_to(settings, overall);
    if (!link) co_return Attempt{std::unexpected(link.error())};
    auto pace = co_await pace_->take(io_, cancellation_, settings.connect_timeout / 2, overall);
    if (!pace) co_return Attempt{std::unexpected(no_turn(cancellation_->requested()))};
    auto session = std::make_unique<Session>(*link);
    const auto deadline = std::min(overall, Clock::now() + settings.connect_timeout);
    const Status greeted = co_await session->handshake(algorithms, deadline);
    if (!greeted) {
        Error error = greeted.error();
        if (!settings.proxy_command.empty()) error = co_await explain_proxy_failure(*link, error);
        const bool may_retry = session->closed_early() && error.phase == "handshake";
        co_return Attempt{std::unexpected(std::move(error)), may_retry};
    }
    co_return Attempt{std::move(session), false, std::move(turn), std::move(pace)};
}

Awaitable<Result<std::shared_ptr<Link>>> Opener::link_to(const HostSettings& settings,
                                                         Clock::time_point deadline) {
    if (!settings.proxy_jump.empty()) co_return co_await jumps_->connect(settings, deadline);
    if (!settings.proxy_command.empty())
        co_return start_proxy_command(io_, cancellation_, settings.proxy_command);
    co_return co_await connect_tcp(io_, cancellation_, context_->resolver, settings, deadline);
}

// False where there is no time left for another attempt.
Awaitable<bool> Opener::pause(int retry, Clock::time_point deadline) {
    static thread_local std::minstd_rand random(std::random_device{}());
    const auto base = first_pause * (1 << retry);
    const auto until = Clock::now() + base + base * static_cast<int>(random() % 1000) / 1000;
    if (until >= deadline) co_return false;
    Event event(io_, cancellation_);
    co_await event.wait(until);
    co_return !cancellation_->requested();
}

}  // namespace cleanslate::agentless::ssh
