#pragma once
// How a login ends that no method decided: the same words for every method.

#include <string>

#include "agentless/ssh/session.hpp"

namespace cleanslate::agentless::ssh {

std::unexpected<Error> auth_error(std::string kind, std::string message, std::string remedy = {});

// A login that was cut: the session is of no more use. `so_far` ends the message of one that the host or the
// clock cut ("; offered: ...").
std::unexpected<Error> login_cut(Session& session, Answer answer, const std::string& so_far);

// Whether libssh2's answer means that the connection is gone.
bool connection_is_gone(int code);

}  // namespace cleanslate::agentless::ssh
