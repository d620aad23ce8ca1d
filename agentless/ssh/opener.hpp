#pragma once
// Opens sessions: the way there, handshake, host key, login, with another try where the host dropped the
// connection before a login was begun.

#include <memory>

#include "agentless/ssh/login_pace.hpp"
#include "agentless/ssh/session.hpp"
#include "agentless/ssh/ssh_context.hpp"

namespace cleanslate::agentless::ssh {

class Jumps;

// One for each shard. Shared with the logins at jump hosts that are under way.
class Opener : public std::enable_shared_from_this<Opener> {
  public:
    Opener(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
           std::shared_ptr<SshContext> context);
    ~Opener();
    Opener(const Opener&) = delete;
    Opener& operator=(const Opener&) = delete;

    // Errors as Transport::open.
    Awaitable<Result<std::unique_ptr<Session>>> open(const Endpoint& endpoint, Clock::time_point deadline);
    // The same with a jump host: what the flags say of the hosts is not for it.
    Awaitable<Result<std::unique_ptr<Session>>> open_hop(const Endpoint& hop, Clock::time_point deadline);
    // The key that the host shows, of the first of these algorithms that it has: neither judged nor believed,
    // and nobody logs in. Errors as open(), up to phase "handshake".
    Awaitable<Result<std::string>> host_key(const HostSettings& settings,
                                            const std::vector<std::string>& algorithms,
                                            Clock::time_point deadline);
    // No further jumps; the sessions with jump hosts end with the last host behind them.
    void close();

  private:
    struct Attempt;
    Awaitable<Result<std::unique_ptr<Session>>> open_with(HostSettings settings, Clock::time_point deadline);
    Awaitable<Attempt> attempt(const HostSettings& settings, Clock::time_point deadline);
    // Up to the host's key.
    Awaitable<Attempt> greet(const HostSettings& settings, const std::vector<std::string>& algorithms,
                             Clock::time_point deadline);
    // What to end with after a failure; absent, after a pause, where another attempt is worth it.
    Awaitable<std::optional<Error>> end_with(Attempt& failed, int retry, Clock::time_point deadline);
    // The bytes of a connection to the host, by whichever way its settings say.
    Awaitable<Result<std::shared_ptr<Link>>> link_to(const HostSettings& settings,
                                                     Clock::time_point deadline);
    Awaitable<bool> pause(int retry, Clock::time_point deadline);

    boost::asio::io_context& io_;
    std::shared_ptr<Cancellation> cancellation_;
    std::shared_ptr<SshContext> context_;
    std::unique_ptr<Jumps> jumps_;
    std::shared_ptr<LoginPace> pace_ = std::make_shared<LoginPace>();
};

}  // namespace cleanslate::agentless::ssh
