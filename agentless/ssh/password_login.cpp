#include "agentless/ssh/password_login.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "agentless/account_trouble.hpp"
#include "agentless/ssh/login_errors.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

// What the callback of one step needs. libssh2 has room for one pointer a session, and that is taken.
struct KeyboardStep {
    Link& link;
    KeyboardDialogue& dialogue;
    const std::string& password;
    bool is_over = false;  // nothing may be sent any more
    KeyboardDialogue::Reply last = KeyboardDialogue::Reply::nothing;
};
thread_local KeyboardStep* keyboard_step = nullptr;

// libssh2 frees it, by its default free().
void fill(LIBSSH2_USERAUTH_KBDINT_RESPONSE& response, const std::string& text) {
    response.text = static_cast<char*>(std::malloc(text.size() + 1));
    if (response.text == nullptr) return;
    std::memcpy(response.text, text.c_str(), text.size() + 1);
    response.length = static_cast<unsigned int>(text.size());
}

std::string_view text_of(const char* text, int size) {
    return text == nullptr || size <= 0 ? std::string_view()
                                        : std::string_view(text, static_cast<std::size_t>(size));
}

// Whatever this leaves behind is sent: where nothing may be, the step closes the link.
void answer(const char* name, int name_size, const char* instruction, int instruction_size, int count,
            const LIBSSH2_USERAUTH_KBDINT_PROMPT* prompts, LIBSSH2_USERAUTH_KBDINT_RESPONSE* responses,
            void**) {
    KeyboardStep& step = *keyboard_step;
    std::vector<Prompt> asked;
    for (int i = 0; i < count && prompts != nullptr; ++i)
        asked.push_back({std::string(reinterpret_cast<const char*>(prompts[i].text), prompts[i].length),
                         prompts[i].echo != 0});
    step.last = step.dialogue.asked(text_of(name, name_size), text_of(instruction, instruction_size), asked);
    if (step.last == KeyboardDialogue::Reply::password) fill(responses[0], step.password);
    step.is_over =
        step.last == KeyboardDialogue::Reply::again || step.last == KeyboardDialogue::Reply::unknown;
    if (step.is_over) step.link.close();
}

// Leaves no new password: libssh2 then says that the old one has expired.
void change_no_password(LIBSSH2_SESSION*, char** new_password, int* size, void**) {
    *new_password = nullptr;
    *size = 0;
}

}  // namespace

PasswordLogin::PasswordLogin(Session& session, boost::asio::io_context& io,
                             std::shared_ptr<Cancellation> cancellation, const Credentials& credentials,
                             std::shared_ptr<SharedSecret> secret, std::string host,
                             Clock::time_point deadline)
    : session_(session),
      credentials_(credentials),
      secret_(std::move(secret)),
      deadline_(deadline),
      woken_(io, std::move(cancellation)),
      turn_(secret_, std::move(host), credentials.user) {}

Awaitable<Result<bool>> PasswordLogin::take_turn() {
    using Leave = Script::Warden::Leave;
    if (secret_ == nullptr || given_) co_return false;
    const auto began = Clock::now();
    const auto patience = deadline_ + (deadline_ - began);  // the other host has as much time
    const auto wake = woken_.waker();
    for (;;) {
        const Leave leave = turn_.asked(wake);
        if (leave != Leave::wait) {
            deadline_ += Clock::now() - began;
            co_return leave == Leave::give;
        }
        const Event::Woken how = co_await woken_.wait(patience);
        if (how == Event::Woken::notified) continue;
        const Answer cut{how == Event::Woken::cancelled ? Answer::How::cancelled : Answer::How::deadline, 0};
        const std::string waited = fmt::format(": {} had not said yet whether the password of {} is right",
                                               printable(turn_.waits_for()), printable(credentials_.user));
        co_return login_cut(session_, cut, waited);
    }
}

Awaitable<Result<bool>> PasswordLogin::keyboard_interactive() {
    KeyboardStep asked{session_.link(), dialogue_, secret_->password()};
    const auto size = static_cast<unsigned int>(credentials_.user.size());
    const Session::Step step = [&] {
        keyboard_step = &asked;
        const int code = libssh2_userauth_keyboard_interactive_ex(session_.handle(),
                                                                  credentials_.user.c_str(), size, answer);
        keyboard_step = nullptr;
        return code;
    };
    const Answer answered = co_await session_.repeat(step, deadline_, Session::max_login_bytes);
    given_ = dialogue_.was_given();
    if (asked.is_over) {
        session_.abandon();
        if (asked.last == KeyboardDialogue::Reply::unknown) co_return wants_more();
        turn_.refused();  // asked for again, in the same dialogue
        const std::string user = printable(credentials_.user);
        co_return auth_error("auth_failed", fmt::format("the password of {} was refused", user),
                             "check the password, then sweep again: it was given to no further host");
    }
    co_return judge(answered);
}

Awaitable<Result<bool>> PasswordLogin::password() {
    const std::string& secret = secret_->password();
    const auto user_size = static_cast<unsigned int>(credentials_.user.size());
    const auto size = static_cast<unsigned int>(secret.size());
    const Session::Step step = [&] {
        return libssh2_userauth_password_ex(session_.handle(), credentials_.user.c_str(), user_size,
                                            secret.c_str(), size, change_no_password);
    };
    given_ = true;
    const Answer answered = co_await session_.repeat(step, deadline_, Session::max_login_bytes);
    if (answered.how == Answer::How::answered && answered.code == LIBSSH2_ERROR_PASSWORD_EXPIRED)
        co_return wants_new_password();
    co_return judge(answered);
}

void PasswordLogin::settle(bool accepted) {
    if (!given_)
        turn_.unsaid();
    else if (accepted)
        turn_.passed();
    else
        turn_.refused();
}

Result<bool> PasswordLogin::judge(Answer answer) {
    if (answer.good()) {
        settle(true);
        return true;
    }
    if (!given_) turn_.unsaid();
    if (answer.how != Answer::How::answered) return login_cut(session_, answer, {});
    // Of keyboard-interactive, "refused" for a connection that is gone, too.
    if (connection_is_gone(answer.code) || session_.link().failed())
        return login_cut(session_, {Answer::How::lost, answer.code}, {});
    if (answer.code == LIBSSH2_ERROR_AUTHENTICATION_FAILED) return false;
    session_.abandon();
    return auth_error("auth_failed", session_.explain(answer.code));
}

// What it makes of the password, where it was given, is not known: turn_ ends so.
std::unexpected<Error> PasswordLogin::wants_more() {
    if (!given_) turn_.unsaid();
    if (auto account = account_error({dialogue_.said()})) {
        if (given_) turn_.passed();  // PAM asks for a new one after it has accepted the old
        return std::unexpected(in_phase(std::move(*account), "auth"));
    }
    return auth_error("auth_failed",
                      fmt::format("user {}: the host asks for more than a password: {}",
                                  printable(credentials_.user), dialogue_.unanswered()),
                      "one-time passwords and the like are not supported: use a key there");
}

std::unexpected<Error> PasswordLogin::wants_new_password() {
    session_.abandon();
    settle(true);
    return std::unexpected(
        in_phase(account_error("password-expired", "the host asks for a new one at the login"), "auth"));
}

}  // namespace cleanslate::agentless::ssh
