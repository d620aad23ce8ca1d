#include "agentless/ssh/login.hpp"

#include <fmt/format.h>

#include "agentless/ssh/login_errors.hpp"
#include "agentless/ssh/publickey.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

std::unexpected<Error> refused(const Credentials& credentials, const PublickeyLogin& keys) {
    const std::string user = printable(credentials.user);
    if (!keys.offered_any()) {
        return auth_error("auth_failed",
                          fmt::format("no key to offer for user {}{}{}", user, keys.passed_over_text(),
                                      keys.agent_problem_text()),
                          "name an identity file in the inventory, or load a key into the agent (ssh-add)");
    }
    return auth_error(
        "auth_failed",
        fmt::format("user {} was refused{}{}{}", user, keys.offered_text(), keys.passed_over_text(),
                    keys.agent_problem_text()),
        fmt::format("add one of these keys to ~{}/.ssh/authorized_keys there, or name another", user));
}

}  // namespace

Awaitable<Status> log_in(Session& session, boost::asio::io_context& io,
                         const std::shared_ptr<Cancellation>& cancellation, const Credentials& credentials,
                         Clock::time_point deadline) {
    if (credentials.user.size() > 255 || credentials.user.find('\0') != std::string::npos) {
        co_return std::unexpected(Error{"auth_failed", "auth", "this is no possible user name", ""});
    }
    PublickeyLogin keys(session, io, cancellation, credentials, deadline);
    const Result<bool> in = co_await keys.run();
    if (!in) co_return std::unexpected(in.error());
    if (!*in) co_return refused(credentials, keys);
    co_return Status{};
}

}  // namespace cleanslate::agentless::ssh
