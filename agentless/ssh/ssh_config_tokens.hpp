#pragma once
// `~`, %tokens and ${NAME} in the values of ssh's configuration.

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cleanslate::agentless::ssh {

// What the tokens of one host stand for.
struct TokenValues {
    std::string home;              // %d
    std::string host_name;         // %h, as it is connected to
    std::string uid;               // %i
    std::string key_alias;         // %k: HostKeyAlias, else the name that was asked for
    std::string local_host_short;  // %L
    std::string local_host;        // %l
    std::string name;              // %n, as it was asked for
    std::string port;              // %p
    std::string user;              // %r
    std::string local_user;        // %u
};

// The text with its tokens replaced; %% is a percent sign. `known` has the letters that may be used. Errors
// (kind "usage", no place): another letter, a variable that is not set, a ${ without its end.
Result<std::string> expand_tokens(std::string_view text, std::string_view known, const TokenValues& values);

// As above, and ${NAME} from the environment.
Result<std::string> expand_tokens_and_environment(std::string_view text, std::string_view known,
                                                  const TokenValues& values);

// `~` and `~/...` by `home`, `~user/...` by the password database. Errors: no such user.
Result<std::string> expand_tilde(std::string_view path, const std::string& home);

// Whether the text may become part of a shell's command line, as ssh judges user and host names.
bool is_safe_for_shell(std::string_view text);

}  // namespace cleanslate::agentless::ssh
