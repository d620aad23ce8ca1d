#pragma once
// The methods that take a password: keyboard-interactive and password. The password is given to a host once,
// and to no host after another has refused it for the same user.

#include <memory>
#include <string>

#include "agentless/secret_turn.hpp"
#include "agentless/ssh/credentials.hpp"
#include "agentless/ssh/keyboard_dialogue.hpp"
#include "agentless/ssh/session.hpp"

namespace cleanslate::agentless::ssh {

// One login. The references outlive it.
class PasswordLogin {
  public:
    PasswordLogin(Session& session, boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
                  const Credentials& credentials, std::shared_ptr<SharedSecret> secret, std::string host,
                  Clock::time_point deadline);

    // Whether the password may be given: waits while another host tries it for the same user; that time does
    // not count. False: it was refused elsewhere (withheld_text), or was given here already. Errors end the
    // login.
    Awaitable<Result<bool>> take_turn();

    // After take_turn(). True: the host let us in. False: it did not; where was_given(), the caller has to
    // say whether it took the password and wants more (settle). Errors end the login: it asks for more than a
    // password, or wants a new one.
    Awaitable<Result<bool>> keyboard_interactive();
    Awaitable<Result<bool>> password();

    // What became of a password that was given.
    void settle(bool accepted);
    // Neither: it was given, and the next host may be given it.
    void leave_open() { turn_.unsaid(); }

    bool was_given() const { return given_; }
    const std::string& withheld() const { return turn_.withheld(); }  // why; empty: it was not
    const std::string& said() const { return dialogue_.said(); }      // by the host, beside prompts
    Clock::time_point deadline() const { return deadline_; }

  private:
    Result<bool> judge(Answer answer);
    std::unexpected<Error> wants_more();
    std::unexpected<Error> wants_new_password();

    Session& session_;
    const Credentials& credentials_;
    std::shared_ptr<SharedSecret> secret_;
    Clock::time_point deadline_;
    Event woken_;
    SecretTurn turn_;
    KeyboardDialogue dialogue_;
    bool given_ = false;
};

}  // namespace cleanslate::agentless::ssh
