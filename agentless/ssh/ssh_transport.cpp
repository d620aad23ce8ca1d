#include "agentless/ssh/ssh_transport.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <cstdlib>
#include <random>

#include "agentless/run_errors.hpp"
#include "agentless/ssh/command.hpp"
#include "agentless/ssh/host_keys.hpp"
#include "agentless/ssh/identities.hpp"
#include "agentless/ssh/login.hpp"
#include "agentless/ssh/resolver.hpp"
#include "agentless/ssh/session.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

struct SshContext {
    SshOptions options;
    std::unique_ptr<ssh::Identities> identities;
    std::unique_ptr<ssh::HostKeys> host_keys;
    ssh::Resolver resolver;
};

namespace ssh {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr int max_retries = 2;
constexpr auto first_pause = 200ms;  // doubled at each retry, and up to as much again at random

class SshConnection final : public Connection {
  public:
    SshConnection(std::shared_ptr<Cancellation> cancellation, std::unique_ptr<Session> session)
        : cancellation_(std::move(cancellation)), session_(std::move(session)) {}

    Awaitable<Result<RunOutput>> run(const Script& script, Limits limits) override {
        if (cancellation_->requested()) co_return std::unexpected(cancelled());
        if (!session_) co_return std::unexpected(connection_dead());
        // Taken out until the run has come to its own end: one that is cut takes the session with it.
        std::unique_ptr<Session> session = std::move(session_);
        auto result = co_await run_command(*session, script, limits);
        if (result) session_ = std::move(session);
        co_return result;
    }

  private:
    std::shared_ptr<Cancellation> cancellation_;
    std::unique_ptr<Session> session_;
};

std::unexpected<Error> connect_error(const asio::ip::tcp::endpoint& where, error_code error) {
    const std::string place = where.address().to_string() + ":" + std::to_string(where.port());
    const auto failed = [&](std::string kind, std::string what, std::string remedy) {
        return std::unexpected(
            Error{std::move(kind), "connect", place + ": " + std::move(what), std::move(remedy)});
    };
    if (error == asio::error::timed_out) {
        return failed("connect_timeout", "no answer in time",
                      "is the host up, and is there a firewall in between?");
    }
    if (error == asio::error::connection_refused) {
        return failed("connect_refused", "connection refused",
                      "is sshd running there, and is this its port?");
    }
    return failed("connect_failed", error.message(), "");
}

// One attempt to open a host.
struct Attempt {
    Result<std::unique_ptr<Session>> session;
    bool may_retry = false;
};

class SshTransport final : public Transport {
  public:
    SshTransport(asio::io_context& io, std::shared_ptr<SshContext> context)
        : io_(io), context_(std::move(context)) {}

    Awaitable<Result<std::unique_ptr<Connection>>> open(const Endpoint& endpoint,
                                                        Clock::time_point deadline) override {
        if (cancellation_->requested()) co_return std::unexpected(in_phase(cancelled(), "connect"));
        const auto credentials = credentials_for(endpoint);
        if (!credentials) co_return std::unexpected(credentials.error());
        for (int retry = 0;; ++retry) {
            Attempt attempt = co_await attempt_open(endpoint, *credentials, deadline);
            if (attempt.session) {
                std::unique_ptr<Connection> connection =
                    std::make_unique<SshConnection>(cancellation_, std::move(*attempt.session));
                co_return connection;
            }
            const bool again = attempt.may_retry && retry < max_retries && co_await pause(retry, deadline);
            Error& error = attempt.session.error();
            if (cancellation_->requested()) co_return std::unexpected(in_phase(cancelled(), error.phase));
            if (!again) co_return std::unexpected(std::move(error));
        }
    }

    void cancel_all() override { cancellation_->request(); }

  private:
    Clock::time_point phase_deadline(Clock::time_point overall) const {
        return std::min(overall, Clock::now() + context_->options.connect_timeout);
    }

    Result<Credentials> credentials_for(const Endpoint& endpoint) const {
        Credentials credentials;
        credentials.user = endpoint.user.empty() ? context_->options.user : endpoint.user;
        credentials.agent_socket = context_->options.agent_socket;
        if (endpoint.identity_file.empty()) {
            credentials.identities = context_->identities->all();
            credentials.only_these = context_->identities->only_these();
            return credentials;
        }
        auto identity = context_->identities->of_file(endpoint.identity_file);
        if (!identity) {
            Error error = identity.error();
            return std::unexpected(
                Error{"auth_failed", "auth", std::move(error.message), std::move(error.remedy)});
        }
        credentials.identities.push_back(std::move(*identity));
        credentials.only_these = true;
        return credentials;
    }

    Awaitable<Attempt> attempt_open(const Endpoint& endpoint, const Credentials& credentials,
                                    Clock::time_point deadline) {
        auto link = co_await connect(endpoint, deadline);
        if (!link) co_return Attempt{std::unexpected(link.error())};
        auto session = std::make_unique<Session>(std::move(*link));
        const KnownKeys known = context_->host_keys->find(endpoint.address, endpoint.port);
        const std::vector<std::string> algorithms = host_key_algorithms(known);
        const Status greeted = co_await session->handshake(algorithms, phase_deadline(deadline));
        if (!greeted) co_return Attempt{std::unexpected(greeted.error()), session->closed_early()};
        const Status believed =
            context_->host_keys->check(endpoint.address, endpoint.port, known, session->host_key());
        if (!believed) co_return Attempt{std::unexpected(believed.error())};
        const Status in =
            co_await log_in(*session, io_, cancellation_, credentials, phase_deadline(deadline));
        if (!in) co_return Attempt{std::unexpected(in.error())};
        co_return Attempt{std::move(session)};
    }

    // All addresses in turn; each gets its share of the time that is left.
    Awaitable<Result<std::shared_ptr<Link>>> connect(const Endpoint& endpoint, Clock::time_point overall) {
        const auto resolve_until = phase_deadline(overall);
        const auto addresses = co_await context_->resolver.resolve(io_, cancellation_, endpoint.address,
                                                                   endpoint.port, resolve_until);
        if (!addresses) co_return std::unexpected(addresses.error());
        const auto deadline = phase_deadline(overall);
        error_code error = asio::error::timed_out;
        for (std::size_t i = 0; i < addresses->size(); ++i) {
            const auto share = (deadline - Clock::now()) / static_cast<int>(addresses->size() - i);
            const Link::Protocol::endpoint address((*addresses)[i]);
            auto link = std::make_shared<Link>(io_, cancellation_);
            error = co_await link->connect(address, Clock::now() + share);
            if (!error) co_return link;
            if (cancellation_->requested()) co_return std::unexpected(in_phase(cancelled(), "connect"));
        }
        co_return connect_error(addresses->back(), error);
    }

    // False where there is no time left for another attempt.
    Awaitable<bool> pause(int retry, Clock::time_point deadline) {
        static thread_local std::minstd_rand random(std::random_device{}());
        const auto base = first_pause * (1 << retry);
        const auto until = Clock::now() + base + base * static_cast<int>(random() % 1000) / 1000;
        if (until >= deadline) co_return false;
        Event event(io_, cancellation_);
        co_await event.wait(until);
        co_return !cancellation_->requested();
    }

    asio::io_context& io_;
    std::shared_ptr<SshContext> context_;
    std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
};

// Who runs this: the environment, else the password database.
void fill_in_caller(SshOptions& options) {
    const char* user = std::getenv("USER");
    const char* home = std::getenv("HOME");
    const passwd* entry = getpwuid(geteuid());
    if (options.user.empty())
        options.user = user != nullptr && *user != '\0' ? user : entry != nullptr ? entry->pw_name : "";
    if (options.home.empty())
        options.home = home != nullptr && *home != '\0' ? home : entry != nullptr ? entry->pw_dir : "";
}

}  // namespace
}  // namespace ssh

Result<std::shared_ptr<SshContext>> load_ssh_context(const SshOptions& options) {
    if (auto started = ssh::start_library(); !started) return std::unexpected(started.error());
    auto context = std::make_shared<SshContext>();
    context->options = options;
    ssh::fill_in_caller(context->options);
    const ssh::Abilities abilities{!options.agent_socket.empty(), ssh::rsa_works()};
    auto identities = ssh::Identities::load(context->options, abilities);
    if (!identities) return std::unexpected(identities.error());
    context->identities = std::move(*identities);
    auto host_keys = ssh::HostKeys::load(context->options);
    if (!host_keys) return std::unexpected(host_keys.error());
    context->host_keys = std::move(*host_keys);
    return context;
}

std::vector<std::string> ssh_notes(const SshContext& context) {
    std::vector<std::string> notes = context.identities->notes();
    const std::vector<std::string> of_hosts = context.host_keys->notes();
    notes.insert(notes.end(), of_hosts.begin(), of_hosts.end());
    return notes;
}

std::unique_ptr<Transport> make_ssh_transport(boost::asio::io_context& io,
                                              std::shared_ptr<SshContext> context) {
    return std::make_unique<ssh::SshTransport>(io, std::move(context));
}

}  // namespace cleanslate::agentless
