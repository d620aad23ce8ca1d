#pragma once
// The options of ssh that Ansible's variables hold (ansible_ssh_common_args and its kin).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "inventory/host.hpp"

namespace cleanslate::inventory {

// What one of them says. Of each option the first counts, as for ssh.
struct SshArgs {
    std::optional<std::uint16_t> port;
    std::optional<std::string> user;
    std::vector<std::string> identity_files;  // all of them, `~` expanded
    std::optional<std::string> jump;          // as read_hops(): of -J, ProxyJump, or a ProxyCommand of ssh -W
    std::optional<std::vector<std::string>> known_hosts, global_known_hosts;  // `~` expanded
    std::optional<HostKeyTrust> host_keys;
    std::optional<Milliseconds> connect_timeout;
};

// `options` are words as a shell has them. What changes nothing here (ControlMaster, -C, LogLevel, ...) is
// passed over; every other option is an error that names it. Errors have kind "inventory" and no place.
Result<SshArgs> read_ssh_args(std::string_view options);

// The hop that `ssh -W %h:%p [-q] [-l USER] [-p PORT] [-i FILE] [USER@]HOST` stands for, "none" for none;
// FILE is passed over: a hop has the keys that ssh's configuration gives it. Errors: any other command.
Result<std::string> hop_of_proxy_command(std::string_view command);

}  // namespace cleanslate::inventory
