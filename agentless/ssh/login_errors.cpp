#include "agentless/ssh/login_errors.hpp"

#include "agentless/run_errors.hpp"

namespace cleanslate::agentless::ssh {

std::unexpected<Error> auth_error(std::string kind, std::string message, std::string remedy) {
    return std::unexpected(Error{std::move(kind), "auth", std::move(message), std::move(remedy)});
}

std::unexpected<Error> login_cut(Session& session, Answer answer, const std::string& so_far) {
    session.abandon();
    const char* const look = "see what the host's own sshd says of it (its log, sshd -T)";
    switch (answer.how) {
        case Answer::How::cancelled:
            return std::unexpected(in_phase(cancelled(), "auth"));
        case Answer::How::deadline:
            return auth_error("auth_timeout", "the login did not come to its end in time" + so_far,
                              "is the host overloaded? give it more time with --connect-timeout");
        case Answer::How::flooded:
            return auth_error("auth_failed", "it sends data without end during the login", look);
        case Answer::How::broken:
            return auth_error("auth_failed", "what it sends during the login is no SSH" + so_far, look);
        default:
            return auth_error("auth_failed",
                              "it closed the connection during the login" + session.farewell() + so_far,
                              look);
    }
}

bool connection_is_gone(int code) {
    return code == LIBSSH2_ERROR_SOCKET_DISCONNECT || code == LIBSSH2_ERROR_SOCKET_RECV ||
           code == LIBSSH2_ERROR_SOCKET_SEND;
}

}  // namespace cleanslate::agentless::ssh
