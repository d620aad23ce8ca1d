#pragma once
// Matches made by hand: holding_gpu() & exe("python").

#include <string>
#include <utility>
#include <vector>

#include "playbooks/playbook.hpp"

namespace cleanslate::agentless::testing {

inline playbooks::Match cmdline(std::string pattern) {
    playbooks::Match match;
    match.cmdline = {std::move(pattern)};
    return match;
}
inline playbooks::Match name(std::string pattern) {
    playbooks::Match match;
    match.name = {std::move(pattern)};
    return match;
}
inline playbooks::Match exe(std::string pattern) {
    playbooks::Match match;
    match.exe = {std::move(pattern)};
    return match;
}
inline playbooks::Match pid(int number) {
    playbooks::Match match;
    match.pid = {number};
    return match;
}
inline playbooks::Match holding_gpu() {
    playbooks::Match match;
    match.holding_gpu = true;
    return match;
}
inline playbooks::Match tree() {
    playbooks::Match match;
    match.tree = true;
    return match;
}

inline playbooks::Match descendants() {
    playbooks::Match match;
    match.descendants = true;
    return match;
}
inline playbooks::Match orphaned() {
    playbooks::Match match;
    match.orphaned = true;
    return match;
}
inline playbooks::Match on_gpus(std::vector<std::string> gpus) {
    playbooks::Match match;
    match.gpus = std::move(gpus);
    return match;
}
inline playbooks::Match of_user(std::string user) {
    playbooks::Match match;
    match.user = {std::move(user)};
    return match;
}

inline playbooks::Match operator&(playbooks::Match a, const playbooks::Match& b) {
    if (!b.cmdline.empty()) a.cmdline = b.cmdline;
    if (!b.name.empty()) a.name = b.name;
    if (!b.exe.empty()) a.exe = b.exe;
    if (!b.pid.empty()) a.pid = b.pid;
    a.holding_gpu |= b.holding_gpu;
    a.tree |= b.tree;
    a.descendants |= b.descendants;
    a.orphaned |= b.orphaned;
    if (!b.gpus.empty()) a.gpus = b.gpus;
    if (!b.user.empty()) a.user = b.user;
    return a;
}

}  // namespace cleanslate::agentless::testing
