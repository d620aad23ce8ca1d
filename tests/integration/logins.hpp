#pragma once
// The ways in that an operator may have: as root, as an ordinary user whom sudo asks for nothing, and as one
// without sudo. Who logs in without being root is alice.

#include <unistd.h>

#include <set>
#include <string>
#include <vector>

#include "tests/fleet/selftest/running_fleet.hpp"

namespace cleanslate::testing {

enum class Login { root, sudo, user };

// A host that is there once for each login has the login behind its name.
inline std::string at(const std::string& host, Login login) {
    return host + (login == Login::root ? "" : login == Login::sudo ? "-sudo" : "-user");
}

// The first lines of such a host's description.
inline std::string through(Login login) {
    return login == Login::root   ? ""
           : login == Login::sudo ? "inventory ansible_user alice\ninventory become true\n"
                                  : "inventory ansible_user alice\n";
}

// Where there is no sudo, that login's hosts are left out.
inline std::vector<Login> logins_to_root() {
    return access("/usr/bin/sudo", X_OK) == 0 ? std::vector{Login::root, Login::sudo}
                                              : std::vector{Login::root};
}

// "a,a-sudo,b,b-sudo": for --limit.
inline std::string listed(const std::vector<std::string>& hosts, const std::vector<Login>& logins) {
    std::string all;
    for (const auto& host : hosts)
        for (const auto login : logins) all += (all.empty() ? "" : ",") + at(host, login);
    return all;
}

// Run on a host: its own sudoers, over the machine's, with such rules; sudo notes its attempts in a file.
inline std::string give_sudoers(const std::string& rules) {
    return "set -e; printf '%s\\n' 'Defaults logfile=/var/log/sudo.log, !syslog' '" + rules +
           "' >/run/sudoers; chmod 440 /run/sudoers; mount --bind /run/sudoers /etc/sudoers; "
           "printf '127.0.0.1 localhost '\"$(hostname)\"'\\n' >/run/names; mount --bind /run/names "
           "/etc/hosts; ";
}

// On all hosts that alice logs in to: on those with sudo she may use it for everything, and is asked for
// nothing; on those without, for nothing.
inline void set_up_logins(const simulated::RunningFleet& fleet) {
    if (access("/usr/bin/sudo", X_OK) != 0) return;
    std::set<std::string> hosts;
    for (const auto& process : fleet.processes()) hosts.insert(process.host);
    for (const auto& host : hosts) {
        if (!host.ends_with("-sudo") && !host.ends_with("-user")) continue;
        const auto done = fleet.on(
            host,
            give_sudoers(host.ends_with("-sudo") ? "alice ALL=(ALL) NOPASSWD: ALL" : "root ALL=(ALL) ALL"));
        EXPECT_EQ(done.status, 0) << host << ": " << done.out;
    }
}

}  // namespace cleanslate::testing
