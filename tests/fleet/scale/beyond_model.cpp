#include <algorithm>

#include "tests/fleet/scale/model.hpp"

namespace cleanslate::simulated {

namespace {

struct Limit {
    bool beyond;
    const char* words;
};

std::string first_of(std::initializer_list<Limit> limits, const std::string& whose = "") {
    const auto found = std::ranges::find(limits, true, &Limit::beyond);
    return found == limits.end() ? "" : whose + found->words;
}

bool is_workers(std::string_view exe) {
    return exe.starts_with("/opt/") || exe.starts_with("/usr/local/bin/") || exe.starts_with("/home/");
}

std::string beyond(const ProcessSpec& p) {
    return first_of({{p.exe.empty(), "forked by its parent"},
                     {!is_workers(p.exe), "exe is a program of the machine"},
                     {!p.rename.empty(), "rename"},
                     {p.restart_ms >= 0, "restart"},
                     {p.inherits, "inherit"},
                     {!p.reaps, "reaps no"},
                     {p.wedged, "wedged"},
                     {!p.unreadable.empty(), "unreadable"},
                     {p.has_tty, "tty"},
                     {p.mps, "mps"},
                     {p.only_mapped, "only mapped"},
                     {!p.passes_to.empty(), "passes-to"},
                     {p.teardown_ms > 0, "teardown"},
                     {p.frozen, "frozen"},
                     {p.refill > 0, "refill"},
                     {p.forks_on_term, "term fork"},
                     {!p.moves_on_term.empty(), "term move"},
                     {!p.moves.empty(), "moves"},
                     {p.padding > 0, "padding"},
                     {!p.instances.empty(), "instance"},
                     {!p.ends.empty(), "ends"}},
                    "process " + p.name + ": ");
}

}  // namespace

std::string beyond_model(const Host& host) {
    auto words = first_of({{host.driver != "ok", "driver"},
                           {!host.smi_lacks.empty(), "smi-lacks"},
                           {!host.hang_on.empty(), "hang-on"},
                           {host.slow_ms > 0, "slow"},
                           {!host.sshd.empty(), "sshd"},
                           {host.shell != "/bin/bash", "shell"},
                           {!host.bashrc.empty(), "bashrc"},
                           {host.container, "container"},
                           {!host.sessions.empty(), "login-session"},
                           {!host.shm.empty(), "shm"},
                           {!host.managed.empty(), "unit"},
                           {host.reboot != "ok", "reboot"},
                           {host.unreachable, "unreachable"}});
    for (const auto& gpu : host.gpus)
        if (words.empty())
            words = first_of({{!gpu.instances.empty(), "mig"}, {gpu.reset != "ok", "reset"}}, "gpu: ");
    for (const auto& process : host.processes)
        if (words.empty()) words = beyond(process);
    return words;
}

}  // namespace cleanslate::simulated
