#include "agentless/ssh/login.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "agentless/account_trouble.hpp"
#include "agentless/ssh/auth_banner.hpp"
#include "agentless/ssh/login_errors.hpp"
#include "agentless/ssh/password_login.hpp"
#include "agentless/ssh/publickey.hpp"
#include "agentless/ssh/server_methods.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

class Login {
  public:
    Login(Session& session, boost::asio::io_context& io, const std::shared_ptr<Cancellation>& cancellation,
          const Credentials& credentials, const std::shared_ptr<SharedSecret>& secret,
          const std::string& host, Clock::time_point deadline)
        : session_(session),
          credentials_(credentials),
          secret_(secret),
          keys_(session, io, cancellation, credentials, deadline),
          password_(session, io, cancellation, credentials, secret, host, deadline) {}

    // Whether the host let us in.
    Awaitable<Result<bool>> run() {
        if (secret_ != nullptr) {
            auto asked = co_await ask();
            if (!asked || *asked) co_return asked;
        }
        while (const auto method = next()) {
            tried_.insert(*method);
            Result<bool> in = false;
            if (*method == AuthMethod::publickey)
                in = co_await try_keys();
            else
                in = co_await try_password(*method);
            if (!in || *in) co_return in;
        }
        if (server_) co_return false;
        // For the error's sake; or it lets anybody in. One that has refused enough closes instead.
        auto asked = co_await ask();
        if (!asked && tried_nothing()) co_return asked;
        co_return asked&&* asked;
    }

    Error refusal();
    // An error that ended the login, with what the host said last.
    Error explained(Error error);

  private:
    std::optional<AuthMethod> next() const {
        for (const AuthMethod method : credentials_.methods) {
            if (tried_.contains(method)) continue;
            if (server_ && !server_->takes(method)) continue;
            if (method != AuthMethod::publickey && (secret_ == nullptr || password_.was_given())) continue;
            return method;
        }
        return std::nullopt;
    }

    // What the server takes now. True: it let us in.
    Awaitable<Result<bool>> ask() {
        auto methods = co_await ask_methods(session_, credentials_.user, password_.deadline());
        if (!methods) co_return std::unexpected(methods.error());
        server_ = std::move(*methods);
        co_return server_->let_us_in;
    }

    Awaitable<Result<bool>> try_keys() {
        for (;;) {
            const auto in = co_await keys_.run();
            if (!in || *in || !keys_.took_a_key()) co_return in;
            // A part of what it wants, or the account is not wanted: what it takes now tells.
            took_a_key_ = true;
            auto asked = co_await ask();
            if (!asked || *asked) co_return asked;
            if (!server_->takes(AuthMethod::publickey)) co_return false;
        }
    }

    Awaitable<Result<bool>> try_password(AuthMethod method) {
        auto turn = co_await password_.take_turn();
        if (!turn || !*turn) co_return turn;
        const ServerMethods before = server_.value_or(ServerMethods());
        Result<bool> in = false;
        if (method == AuthMethod::password)
            in = co_await password_.password();
        else
            in = co_await password_.keyboard_interactive();
        if (!in || *in || !password_.was_given()) co_return in;
        // A part of what it wants, or wrong: what it takes now tells. One that was overrun says no more.
        auto asked = co_await ask();
        if (asked && *asked) co_return true;
        took_the_password_ = asked && !server_->takes(method) && server_->has_new(before);
        // A host that lets nobody in for now, or not this account, says nothing about the password.
        const auto account = account_error({password_.said()});
        const bool is_closed = !took_the_password_ && account && account->kind != "account_locked";
        if (is_closed)
            password_.leave_open();
        else
            password_.settle(took_the_password_);
        if (!asked && asked.error().kind != "auth_failed") co_return asked;
        if (!took_the_password_ && !is_closed) refused_password_ = true;
        if (!asked) session_.abandon();
        co_return false;
    }

    bool tried_nothing() const { return !keys_.offered_any() && !password_.was_given(); }
    bool wants_more_than_a_key() const {
        return took_a_key_ && server_ && !server_->takes(AuthMethod::publickey);
    }
    std::string outcome() const;
    std::string remedy() const;

    Session& session_;
    const Credentials& credentials_;
    std::shared_ptr<SharedSecret> secret_;
    PublickeyLogin keys_;
    PasswordLogin password_;
    std::optional<ServerMethods> server_;  // what it takes, as it said last
    std::set<AuthMethod> tried_;
    bool took_a_key_ = false, took_the_password_ = false, refused_password_ = false;
};

// "user root was refused; offered: ...".
std::string Login::outcome() const {
    const std::string user = printable(credentials_.user);
    std::string text = fmt::format("user {} was refused", user);
    if (wants_more_than_a_key())
        text = fmt::format("user {}: the host took the key and wants more", user);
    else if (took_the_password_)
        text = fmt::format("user {}: the host took the password and wants more", user);
    else if (tried_nothing())
        text = fmt::format("no key to offer for user {}", user);
    else if (refused_password_)
        text = fmt::format("the password of {} was refused", user);
    text += keys_.offered_text() + keys_.passed_over_text() + keys_.agent_problem_text();
    if (!password_.withheld().empty()) text += "; " + password_.withheld();
    if (server_) text += "; the server takes: " + server_->text();
    return text;
}

std::string Login::remedy() const {
    const std::string user = printable(credentials_.user);
    if (refused_password_ || !password_.withheld().empty())
        return "check the password, then sweep again: it was given to no further host";
    if (took_the_password_) {
        return server_->takes(AuthMethod::publickey) ? "give it a key that it knows too (--identity, ssh-add)"
                                                     : "log in as another user";
    }
    const bool could_ask = secret_ == nullptr && server_ && server_->takes_a_password();
    const std::string ask = could_ask ? ", or give --ask-pass" : "";
    if (wants_more_than_a_key()) return could_ask ? "give --ask-pass" : "log in as another user";
    if (server_ && !server_->takes(AuthMethod::publickey)) {
        if (could_ask) return "the host takes no key: give --ask-pass";
        if (!server_->takes_a_password()) return "let the host take keys or passwords (its sshd_config)";
    }
    if (tried_nothing())
        return "name an identity file in the inventory, or load a key into the agent (ssh-add)" + ask;
    const std::string root = credentials_.user == "root" ? "; if the key is right, PermitRootLogin may be no "
                                                           "there: log in as another user and use become"
                                                         : "";
    return fmt::format("add one of these keys to ~{}/.ssh/authorized_keys there, or name another{}{}", user,
                       ask, root);
}

Error Login::refusal() {
    if (auto account = account_error({password_.said()})) return in_phase(std::move(*account), "auth");
    // The host knows the key, has seen the right signature, and would take another key: it is the account.
    if (credentials_.user == "root" && took_a_key_ && !wants_more_than_a_key() && server_)
        return in_phase(account_error("root-login-refused", outcome()), "auth");
    return {"auth_failed", "auth", outcome(), remedy()};
}

Error Login::explained(Error error) {
    if (error.kind != "auth_failed") return error;
    // The password is looked for in what was said, not in what is left of it after a cut.
    std::string words = last_words(session_, credentials_.user);
    if (secret_ != nullptr) words = secret_->hide_in(std::move(words));
    if (auto account = account_error({words, password_.said()})) {
        // Who says that looked at the password first, and liked it.
        if (password_.was_given() && account->kind != "account_locked") password_.settle(true);
        return in_phase(std::move(*account), "auth");
    }
    const std::string_view line = trim(words);
    if (!line.empty()) error.message += "; it said: " + ellipsize(printable(line), 160);
    return error;
}

}  // namespace

Awaitable<Status> log_in(Session& session, boost::asio::io_context& io,
                         const std::shared_ptr<Cancellation>& cancellation, const Credentials& credentials,
                         const std::shared_ptr<SharedSecret>& password, const std::string& host,
                         Clock::time_point deadline) {
    if (credentials.user.size() > 255 || credentials.user.find('\0') != std::string::npos)
        co_return auth_error("auth_failed", "this is no possible user name");
    Login login(session, io, cancellation, credentials, password, host, deadline);
    auto in = co_await login.run();
    if (in && *in) co_return Status{};
    Error error = in ? login.refusal() : login.explained(std::move(in.error()));
    if (password != nullptr) error.message = password->hide_in(std::move(error.message));
    co_return std::unexpected(std::move(error));
}

}  // namespace cleanslate::agentless::ssh
