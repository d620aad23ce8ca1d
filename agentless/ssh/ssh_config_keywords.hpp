#pragma once
// The keywords of ssh's configuration, and their values read and checked as ssh does.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cleanslate::agentless::ssh {

enum class Keyword {
    // A host's values: the first that applies counts.
    host_name,
    user,
    port,
    identities_only,
    identity_agent,
    user_known_hosts,
    global_known_hosts,
    strict_host_key_checking,
    host_key_alias,
    connect_timeout,
    alive_interval,
    alive_count_max,
    proxy_jump,
    proxy_command,
    pubkey_authentication,
    password_authentication,
    kbd_interactive_authentication,
    preferred_authentications,
    batch_mode,
    hash_known_hosts,
    address_family,
    bind_address,
    refuse_connection,
    // Every one that applies counts.
    identity_file,
    certificate_file,
    noted,  // ssh does something that is not done here
    // What the parser itself acts on.
    host,
    match,
    include,
    ignore_unknown,
    // ssh does something that changes nothing here, or ignores it itself.
    harmless,
    unknown,
};
constexpr std::size_t first_wins_count = static_cast<std::size_t>(Keyword::refuse_connection) + 1;

// What ssh does where a keyword says so, and cleanslate does not.
struct Noted {
    std::string_view name;            // as in ssh's manual
    std::string_view but;             // what is done instead
    std::string_view nothing_new[3];  // values with which ssh does the same as cleanslate
    bool users_file_only;             // in the system's file it is a policy of its distribution
};

struct KnownKeyword {
    Keyword keyword = Keyword::unknown;
    const Noted* noted = nullptr;
};
// `word` in small letters.
KnownKeyword find_keyword(std::string_view word);

struct Directive {
    Keyword keyword = Keyword::harmless;
    std::vector<std::string>
        values;               // as ssh understands them: without quotes, in small letters where it does
    std::int64_t number = 0;  // of a port, a time in seconds (-1: none), a count, a choice (1: yes)
    int line = 0;
    const Noted* noted = nullptr;
};

// Reads the arguments of a keyword that a host's values come from. `rest` is the line behind the keyword,
// `words` the same cut into words. Errors (kind "usage", no place) are those of ssh.
Result<Directive> read_directive(Keyword keyword, std::string_view rest, std::vector<std::string> words);

// "90", "1h30m": seconds, as ssh reads them. Errors: kind "usage".
Result<std::int64_t> config_time(std::string_view text);

}  // namespace cleanslate::agentless::ssh
