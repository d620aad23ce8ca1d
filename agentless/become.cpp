#include "agentless/become.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/account_trouble.hpp"
#include "agentless/remote.hpp"
#include "base/secret.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::string_view not_allowed[] = {"is not in the sudoers file", "is not allowed to execute",
                                            "is not allowed to run sudo", "may not run sudo",
                                            "I'm afraid I can't do that"};
constexpr std::string_view no_terminal[] = {"must have a tty", "no tty present"};
constexpr std::string_view password_needed[] = {"a password is required", "no password was provided",
                                                "interactive authentication is required"};

template <std::size_t N>
bool says(const std::string& text, const std::string_view (&any)[N]) {
    return std::ranges::any_of(any,
                               [&](std::string_view part) { return text.find(part) != std::string::npos; });
}

// The line in which sudo says why, else the first one; with a colon in front, empty where there is none.
std::string quoted(const RunOutput& output) {
    std::string_view first;
    for (const auto* text : {&output.err, &output.out})
        for (const auto line : split(*text, '\n')) {
            if (trim(line).empty()) continue;
            if (line.find("sudo") != std::string_view::npos) {
                first = trim(line);
                return ": " + ellipsize(printable(first), 160);
            }
            if (first.empty()) first = trim(line);
        }
    return first.empty() ? std::string() : ": " + ellipsize(printable(first), 160);
}

Error become_failed(std::string message, std::string remedy) {
    return {"become_failed", "become", std::move(message), std::move(remedy)};
}

constexpr const char* check_password =
    "check the password, then sweep again: it was given to no further host";

// A run that was cut before its gate opened.
Error explain_cut(Error error, const SecretTurn& turn) {
    if (error.kind != "timeout") return in_phase(std::move(error), "become");
    if (turn.was_given())
        return become_failed("sudo did not say in time whether the password is right",
                             "try sudo there by hand: does its PAM wait for a server?");
    if (!turn.waits_for().empty())
        return become_failed(
            fmt::format("waited at sudo's prompt until the time was over: {} had not said yet whether the "
                        "password is right",
                        turn.waits_for()),
            fmt::format("look at {}, or leave it out", turn.waits_for()));
    return become_failed("sudo neither asked for a password nor ran anything in time",
                         "try sudo there by hand, or give it more time with --timeout");
}

}  // namespace

Script through_sudo(const Script& script, const SharedSecret* secret, std::shared_ptr<SecretTurn> turn) {
    const std::string nonce = fresh_nonce();
    const std::string left = "cleanslate-" + nonce.substr(0, 16);
    const std::string right = nonce.substr(16);
    // sudo prints %% as %, and the marker is printed in two parts.
    const std::string how = secret == nullptr ? "-n" : fmt::format("-S -p \"{}%%{}:\"", left, right);
    const std::string begin = fmt::format("echo; printf {}; echo {}; exec {}", left, right, script.command);
    Script inside;
    // Between single quotes, without one, a line end, a backslash or an exclamation mark, all of sh, csh and
    // fish take everything as it is.
    inside.command = fmt::format(
        "/bin/sh -c 'PATH=${{PATH:-/bin}}:/usr/local/bin:/usr/bin:/bin; export PATH; "
        "if [ \"$(id -u)\" = 0 ]; then {0}; fi; "
        "LC_ALL=C; export LC_ALL; exec sudo {1} -u root -- /bin/sh -c \"{0}\"'",
        begin, how);
    inside.input = script.input;
    inside.gate.emplace();
    inside.gate->marker = left + right;
    inside.gate->warden = std::move(turn);
    if (secret == nullptr) return inside;
    inside.gate->prompt = left + "%" + right + ":";
    inside.gate->answer = secret->password();
    return inside;
}

Error explain_become(const RunOutput& output, SecretTurn& turn, const SharedSecret* secret,
                     const std::optional<std::string>& barred) {
    RunOutput shown;
    shown.out = secret != nullptr ? secret->hide_in(output.out) : output.out;
    shown.err = secret != nullptr ? secret->hide_in(output.err) : output.err;
    const std::string quote = quoted(shown);
    if (!turn.withheld().empty()) return become_failed(turn.withheld(), check_password);
    const bool prompted_again = turn.was_given() && output.gate_refused;
    // Said by the host before sudo was begun, or by sudo (on standard error) for the account's sake: no word
    // about the password. What login files print is none once it was given.
    const std::string_view before_sudo = turn.was_given() ? std::string_view() : std::string_view(shown.out);
    if (auto account = prompted_again ? std::nullopt : account_error({shown.err, before_sudo})) {
        turn.unsaid();
        return in_phase(std::move(*account), "become");
    }
    if (!prompted_again && says(output.err, not_allowed)) {
        turn.unsaid();
        return become_failed("the login may not use sudo there" + quote,
                             "allow it in the host's sudoers, or log in as another user");
    }
    if (!prompted_again && says(output.err, no_terminal)) {
        turn.unsaid();
        return become_failed("sudo wants a terminal there" + quote,
                             "put `Defaults:LOGIN !requiretty` into the host's sudoers");
    }
    if (turn.was_given()) {
        turn.refused();
        return become_failed("sudo refused the password" + quote, check_password);
    }
    if (output.exit_status == 127 || output.exit_status == 126)  // the shell's own word for it
        return become_failed("there is no sudo on the host" + quote, "install it there, or log in as root");
    if (says(output.err, password_needed)) {
        if (barred) return become_failed(*barred, check_password);
        return become_failed(
            "sudo asks for a password there" + quote,
            "give the login a NOPASSWD rule in the host's sudoers, or use --ask-become-pass");
    }
    return become_failed("sudo ran nothing" + (quote.empty() ? " and said nothing" : quote),
                         "try `sudo -n true` there by hand");
}

namespace {

class BecomingConnection final : public Connection {
  public:
    BecomingConnection(std::unique_ptr<Connection> inner, std::shared_ptr<SharedSecret> secret,
                       std::string host, std::string user)
        : inner_(std::move(inner)),
          secret_(std::move(secret)),
          host_(std::move(host)),
          user_(std::move(user)) {}

    Awaitable<Result<RunOutput>> run(const Script& script, Limits limits) override {
        // A host whose sudo asks for nothing is none the worse for a wrong password.
        std::optional<std::string> barred;
        if (secret_ != nullptr) barred = secret_->barred(host_, user_);
        const SharedSecret* const offered = barred ? nullptr : secret_.get();
        const auto turn = std::make_shared<SecretTurn>(secret_, host_, user_);
        const End end{*turn};
        Script inside = through_sudo(script, offered, turn);
        const Wiped wiped{inside};
        auto output = co_await inner_->run(inside, limits);
        if (!output) {
            Error error = std::move(output.error());
            if (secret_ != nullptr) error.message = secret_->hide_in(std::move(error.message));
            co_return std::unexpected(turn->has_passed() ? error : explain_cut(std::move(error), *turn));
        }
        if (!output->gate_passed)
            co_return std::unexpected(explain_become(*output, *turn, secret_.get(), barred));
        drop_own_line(*output);
        if (secret_ != nullptr) hide_in(*output);
        co_return output;
    }

  private:
    struct End {
        SecretTurn& turn;
        ~End() { turn.end(); }
    };
    struct Wiped {
        Script& script;
        ~Wiped() { wipe(script.gate->answer); }
    };

    // The empty line in front of the marker, unless it ended a line of somebody else.
    static void drop_own_line(RunOutput& output) {
        const std::size_t end = output.before_gate;
        if (end == 0 || output.out[end - 1] != '\n' || (end > 1 && output.out[end - 2] != '\n')) return;
        output.out.erase(end - 1, 1);
        --output.before_gate;
    }

    // Not in what the script itself printed: that is evidence, and stays as it came.
    void hide_in(RunOutput& output) const {
        output.err = secret_->hide_in(std::move(output.err));
        std::string before = secret_->hide_in(output.out.substr(0, output.before_gate));
        output.out.replace(0, output.before_gate, before);
        output.before_gate = before.size();
    }

    std::unique_ptr<Connection> inner_;
    std::shared_ptr<SharedSecret> secret_;
    std::string host_, user_;
};

class BecomingTransport final : public Transport {
  public:
    BecomingTransport(std::unique_ptr<Transport> inner, std::shared_ptr<SharedSecret> secret)
        : inner_(std::move(inner)), secret_(std::move(secret)) {}

    Awaitable<Result<std::unique_ptr<Connection>>> open(const Endpoint& endpoint,
                                                        Clock::time_point deadline) override {
        auto opened = co_await inner_->open(endpoint, deadline);
        if (!opened || !endpoint.become) co_return opened;
        std::unique_ptr<Connection> connection =
            std::make_unique<BecomingConnection>(std::move(*opened), secret_, endpoint.name, endpoint.user);
        co_return connection;
    }

    void cancel_all() override { inner_->cancel_all(); }

  private:
    std::unique_ptr<Transport> inner_;
    std::shared_ptr<SharedSecret> secret_;
};

}  // namespace

std::unique_ptr<Transport> becoming(std::unique_ptr<Transport> inner, std::shared_ptr<SharedSecret> secret) {
    return std::make_unique<BecomingTransport>(std::move(inner), std::move(secret));
}

}  // namespace cleanslate::agentless
