#include "agentless/ssh/server_methods.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "agentless/ssh/login_errors.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {

std::string_view name_of(AuthMethod method) {
    switch (method) {
        case AuthMethod::publickey:
            return "publickey";
        case AuthMethod::keyboard_interactive:
            return "keyboard-interactive";
        case AuthMethod::password:
            return "password";
    }
    return "";
}

bool ServerMethods::takes(AuthMethod method) const {
    return std::ranges::find(names, name_of(method)) != names.end();
}

bool ServerMethods::takes_a_password() const {
    return takes(AuthMethod::keyboard_interactive) || takes(AuthMethod::password);
}

bool ServerMethods::has_new(const ServerMethods& before) const {
    return std::ranges::any_of(names, [&](const std::string& name) {
        return std::ranges::find(before.names, name) == before.names.end();
    });
}

std::string ServerMethods::text() const {
    if (names.empty()) return "nothing";
    return ellipsize(printable(fmt::format("{}", fmt::join(names, ", "))), 200);
}

ServerMethods read_methods(std::string_view list) {
    ServerMethods methods;
    for (const std::string_view name : split(list, ','))
        if (!name.empty()) methods.names.emplace_back(name);
    return methods;
}

Awaitable<Result<ServerMethods>> ask_methods(Session& session, const std::string& user,
                                             Clock::time_point deadline) {
    const auto size = static_cast<unsigned int>(user.size());
    const char* list = nullptr;
    const Session::Step step = [&] {
        list = libssh2_userauth_list(session.handle(), user.c_str(), size);
        if (list != nullptr || libssh2_userauth_authenticated(session.handle()) != 0) return 0;
        const int code = libssh2_session_last_errno(session.handle());
        return code != 0 ? code : LIBSSH2_ERROR_PROTO;
    };
    const Answer answer = co_await session.repeat(step, deadline, Session::max_login_bytes);
    if (answer.how != Answer::How::answered) co_return login_cut(session, answer, {});
    if (connection_is_gone(answer.code) || (answer.code != 0 && session.link().failed()))
        co_return login_cut(session, {Answer::How::lost, answer.code}, {});
    if (answer.code != 0) {
        session.abandon();
        co_return auth_error("auth_failed", session.explain(answer.code));
    }
    ServerMethods methods = read_methods(list != nullptr ? list : "");
    methods.let_us_in = list == nullptr;
    co_return methods;
}

}  // namespace cleanslate::agentless::ssh
