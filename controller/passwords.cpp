#include "controller/passwords.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "agentless/shared_secret.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller {
namespace {

using agentless::HostTask;
using agentless::SharedSecret;

// A core file would have it.
void leave_no_core() {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
}

Result<std::shared_ptr<SharedSecret>> asked_for(const SecretQuestion& question, const AskSecret& ask) {
    leave_no_core();
    auto typed = ask(question);
    if (!typed) return std::unexpected(typed.error());
    const auto secret = typed->empty() ? nullptr : std::make_shared<SharedSecret>(*typed);
    wipe(*typed);
    return secret;
}

Status fill_password(const Options& options, const std::vector<HostTask>& tasks, agentless::Reach& reach,
                     const AskSecret& ask) {
    if (!options.ask_pass) return {};
    if (options.local) return fail("usage", "--ask-pass: with --local nobody logs in", "leave it out");
    SecretQuestion question;
    question.text = "Password of the login on " + count_of(tasks.size(), "host") + ": ";
    question.about = "--ask-pass";
    question.without_terminal = "run it at a terminal, or log in with a key";
    question.when_empty = "leave the flag out where the hosts take a key";
    auto secret = asked_for(question, ask);
    if (!secret) return std::unexpected(secret.error());
    reach.password = std::move(*secret);
    return {};
}

Status fill_become_password(const Options& options, const std::vector<HostTask>& tasks,
                            agentless::Reach& reach, const AskSecret& ask) {
    if (!options.ask_become_pass) return {};
    const auto becomes = [&](const HostTask& task) {
        return options.become || task.host.become.value_or(false);
    };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(tasks, becomes));
    if (count == 0)
        return fail("usage", "--ask-become-pass: no selected host becomes root",
                    "give --become, or set become: true in the inventory");
    SecretQuestion question;
    question.may_be_empty = reach.password != nullptr;
    question.text = "Password of sudo on " + count_of(count, "host") +
                    (question.may_be_empty ? " (empty: the one of the login): " : ": ");
    question.about = "--ask-become-pass";
    question.without_terminal = "run it at a terminal, or let sudo ask for no password (NOPASSWD)";
    question.when_empty = "leave the flag out where sudo asks for none";
    auto secret = asked_for(question, ask);
    if (!secret) return std::unexpected(secret.error());
    // What the logins' sshd makes of it says nothing about sudo: what is known of each is kept apart.
    if (*secret == nullptr) *secret = std::make_shared<SharedSecret>(reach.password->password());
    reach.become_password = std::move(*secret);
    return {};
}

}  // namespace

Status fill_passwords(const Options& options, const std::vector<HostTask>& tasks, agentless::Reach& reach,
                      const AskSecret& ask) {
    auto filled = fill_password(options, tasks, reach, ask);
    if (filled) filled = fill_become_password(options, tasks, reach, ask);
    return filled;
}

Status fill_passwords(const Options& options, const std::vector<HostTask>& tasks, agentless::Reach& reach) {
    return fill_passwords(options, tasks, reach, ask_secret);
}

Status prepare_reach(agentless::Reach& reach, const std::vector<HostTask>& tasks, const AskSecret& ask) {
    std::optional<Error> interrupted;
    const auto ask_passphrase = [&](const std::string& question) -> std::optional<std::string> {
        if (interrupted) return std::nullopt;
        leave_no_core();
        SecretQuestion secret;
        secret.text = question + ": ";
        secret.about = "passphrase";
        secret.may_be_empty = true;
        auto typed = ask(secret);
        if (typed && !typed->empty()) {
            std::optional<std::string> passphrase(std::move(*typed));
            wipe(*typed);
            return passphrase;
        }
        if (!typed && typed.error().kind == "interrupted") interrupted = typed.error();
        return std::nullopt;
    };
    auto prepared = agentless::prepare(reach, tasks, ask_passphrase);
    if (interrupted) return std::unexpected(std::move(*interrupted));
    return prepared;
}

Status prepare_reach(agentless::Reach& reach, const std::vector<HostTask>& tasks) {
    return prepare_reach(reach, tasks, ask_secret);
}

}  // namespace cleanslate::controller
