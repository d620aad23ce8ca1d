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
    std::string host_name;  // the query's name where the files say nothing; names in small letters, as in ssh
    std::optional<std::string> user;
    std::optional<std::uint16_t> port;
    std::vector<std::string> identity_files, certificate_files;
    bool identity_files_given = false;  // where none are listed all the same: "none", no default files either
    std::optional<bool> identities_only;
    std::optional<std::string> identity_agent;  // "": none; absent, too, where it says SSH_AUTH_SOCK
    std::optional<std::vector<std::string>> user_known_hosts, global_known_hosts;  // empty: "none"
    std::optional<std::string> strict_host_key_checking;  // yes, no, ask, accept-new; off is no, as in ssh
    std::optional<std::string> host_key_alias;
    std::optional<Milliseconds> connect_timeout, alive_interval;  // "none" is absent
    std::optional<int> alive_count_max;
    std::optional<std::string> proxy_jump, proxy_command;  // at most one of the two; "none" is absent
    std::optional<bool> pubkey_authentication, password_authentication, kbd_interactive_authentication;
    std::optional<std::string> preferred_authentications;
    std::optional<bool> batch_mode, hash_known_hosts;
    std::optional<std::string> address_family, bind_address;  // any, inet, inet6; an IP address
};

class SshConfig {
  public:
    // Nothing is configured.
    SshConfig();
    // The user's file first; files that are absent are empty, unless `must_exist`. /etc/ssh/ssh_config is the
    // system's, every other one the user's. Errors (kind "usage"): a file that cannot be read or that others
    // may write, a line that makes no sense, Match exec, an Include that includes itself, each with
    // file:line. `home` and `local_user` are for `~`, %d and %u.
    static Result<SshConfig> load(const std::vector<std::string>& files, bool must_exist,
                                  const std::string& home, const std::string& local_user);

    // From any thread. Errors (kind "usage", phase "resolve"): a value that cannot be expanded, with its
    // place.
    Result<ConfigValues> values_for(const ConfigQuery& query) const;

    // What the hosts that were asked about so far get from ssh and not from here, each keyword once with its
    // place. Keywords that change nothing here (colours, forwardings, logging) are not said. From any thread.
    std::vector<std::string> notes() const;

  private:
    struct Parsed;
    std::shared_ptr<const Parsed> parsed_;
};

}  // namespace cleanslate::agentless::ssh
