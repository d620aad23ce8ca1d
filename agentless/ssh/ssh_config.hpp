#pragma once
// ssh's client configuration: the part of it that cleanslate understands, with ssh's own rules (first match
// wins, Host and Match blocks, Include, tokens, `~`). Files are read once; what a host gets is pure.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"

namespace cleanslate::agentless::ssh {

// What is asked for, before any configuration.
struct ConfigQuery {
    std::string name;                                  // as it would be typed after `ssh`
    std::optional<std::string> user = std::nullopt;    // as by -l
    std::optional<std::uint16_t> port = std::nullopt;  // as by -p
};

// What the files say of one host, `~`, tokens and environment variables expanded. Absent: nothing.
struct ConfigValues {
    std::optional<std::string> host_name, user;
    std::optional<std::uint16_t> port;
    std::vector<std::string> identity_files, certificate_files;
    std::optional<bool> identities_only;
    std::optional<std::string> identity_agent;  // "": none; SSH_AUTH_SOCK and $NAME are resolved
    std::optional<std::vector<std::string>> user_known_hosts, global_known_hosts;
    std::optional<std::string> strict_host_key_checking;  // yes, no, off, ask, accept-new
    std::optional<std::string> host_key_alias;
    std::optional<Milliseconds> connect_timeout, alive_interval;
    std::optional<int> alive_count_max;
    std::optional<std::string> proxy_jump, proxy_command;  // "none" is kept: it ends the search
    std::optional<bool> pubkey_authentication, password_authentication, kbd_interactive_authentication;
    std::optional<std::string> preferred_authentications;
};

class SshConfig {
  public:
    // Nothing is configured.
    SshConfig();
    // The user's file first; files that are absent are empty, unless `must_exist`. Errors (kind "usage"): a
    // file that cannot be read, a line that makes no sense, Match exec, an Include that includes itself, each
    // with file:line. `home` and `local_user` are for `~`, %d and %u.
    static Result<SshConfig> load(const std::vector<std::string>& files, bool must_exist,
                                  const std::string& home, const std::string& local_user);

    // Errors: a value that cannot be expanded.
    Result<ConfigValues> values_for(const ConfigQuery& query) const;

    // Keywords that are there and not understood, each said once with its place. Those that change nothing
    // here (colours, forwardings, logging) are not said.
    std::vector<std::string> notes() const;

  private:
    struct Parsed;
    std::shared_ptr<const Parsed> parsed_;
};

}  // namespace cleanslate::agentless::ssh
