// Who is logged in, whose own systemd runs, which login sessions still have their way in, and what a
// container is there for.
#include <algorithm>

#include "agentless/ownership.hpp"
#include "agentless/process_name.hpp"
#include "agentless/roles.hpp"

namespace cleanslate::agentless {

namespace {

// Of those that let people in, the ones behind which a person sits; `sudo -u alice server` is no login.
bool is_named_as_login(const Process& process) {
    static const std::vector<std::string_view> names = {"sshd",  "sshd-session", "sshd-auth", "dropbear",
                                                        "login", "telnetd",      "in.telnetd"};
    return fits_any(names, name_of(process));
}

// Mosh: its server is started through sshd, which leaves right after that, and serves the person from then
// on. Whether somebody is at the other end is not to be seen, so that he may be. One's own program of that
// name lets nobody in.
bool serves_a_login(const Process& process) {
    return name_of(process) == "mosh-server" && process.uid && runs_system_file(process);
}

bool is_systemd(const Process& process) { return name_of(process) == "systemd" || process.comm == "systemd"; }

}  // namespace

Ownership::Ownership(const Evidence& evidence, const Lineage& lineage)
    : evidence_(evidence), lineage_(lineage) {
    see_logins();
    see_managers();
    see_scopes();
    see_main_program();
}

void Ownership::see_logins() {
    if (evidence_.sessions)
        for (const auto& session : *evidence_.sessions) {
            if (session.closing) continue;
            if (session.uid)
                logged_in_.insert(*session.uid);
            else
                anybody_may_be_in_ = true;
        }
    for (const auto& process : evidence_.processes) {
        if (has_ended(process) || !process.uid) continue;
        bool in_multiplexer = false, through_a_login = serves_a_login(process);
        for (const Process* above : lineage_.ancestors(process)) {
            through_a_login = through_a_login || (above->uid == 0U && is_named_as_login(*above));
            in_multiplexer = in_multiplexer || keeps_terminals(*above);
        }
        // A multiplexer's shells keep their terminals when everybody has left.
        const bool at_a_terminal = is_shell(process) && process.tty != 0 && !in_multiplexer;
        if (through_a_login || at_a_terminal) logged_in_.insert(*process.uid);
    }
}

void Ownership::see_managers() {
    for (const auto& process : evidence_.processes) {
        if (has_ended(process) || process.key.pid == 1 || !is_systemd(process)) continue;
        const bool told = process.exe && process.exe_owner;
        if (told && !(runs_system_file(process) && base_name(*process.exe) == "systemd")) continue;
        if (process.uid)
            managers_.insert(*process.uid);
        else
            any_manager_may_live_ = true;
    }
}

void Ownership::see_scopes() {
    for (const auto& process : evidence_.processes) {
        if (has_ended(process) || !process.cgroup) continue;
        if (process.uid.value_or(0) != 0 || !is_named_as_login(process)) continue;
        const auto supervisor = supervisor_of(*process.cgroup);
        if (supervisor.kind == SupervisorKind::login_session) living_scopes_.insert(supervisor.path);
    }
}

void Ownership::see_main_program() {
    const Process* init = lineage_.find(1);
    if (init == nullptr || !is_container_init(*init)) return;
    for (const auto& process : evidence_.processes)
        if (process.parent == 1 && (main_start_ == 0 || process.key.start < main_start_))
            main_start_ = process.key.start;
}

bool Ownership::is_logged_in(std::uint32_t uid) const {
    return anybody_may_be_in_ || logged_in_.contains(uid);
}

bool is_logged_in(std::uint32_t uid, const Evidence& evidence, const Lineage& lineage) {
    return Ownership(evidence, lineage).is_logged_in(uid);
}

}  // namespace cleanslate::agentless
