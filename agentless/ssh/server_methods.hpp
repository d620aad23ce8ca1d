#pragma once
// What a server takes in a login, by its own word (RFC 4252, section 5.2).

#include <string>
#include <string_view>
#include <vector>

#include "agentless/ssh/host_settings.hpp"
#include "agentless/ssh/session.hpp"

namespace cleanslate::agentless::ssh {

struct ServerMethods {
    bool let_us_in = false;  // it asks for nothing
    std::vector<std::string> names;

    bool takes(AuthMethod method) const;
    bool takes_a_password() const;
    // Whether something is asked for here that was not asked for before: then a part of what a server wants
    // was given. One that has only ceased to take a method has had enough of it (PAM_MAXTRIES).
    bool has_new(const ServerMethods& before) const;
    // "publickey, password": printable, bounded.
    std::string text() const;
};

std::string_view name_of(AuthMethod method);

// "publickey,password" -> names. Pure.
ServerMethods read_methods(std::string_view list);

// Asks. Errors (phase "auth") end the login.
Awaitable<Result<ServerMethods>> ask_methods(Session& session, const std::string& user,
                                             Clock::time_point deadline);

}  // namespace cleanslate::agentless::ssh
