#include "agentless/launchers.hpp"

#include <algorithm>

#include "agentless/process_name.hpp"
#include "agentless/roles.hpp"

namespace cleanslate::agentless {

namespace {

// By name alone: sparing one too many is the safe side here.
bool never_launches(const Process& process) {
    return is_shell(process) || is_named_as_way_in(process) || keeps_terminals(process) ||
           is_named_as_supervisor(process);
}

bool same_user_and_cgroup(const Process& a, const Process& b) {
    return a.uid && a.uid == b.uid && a.cgroup && a.cgroup == b.cgroup;
}

bool leads_a_session(const Process& process) { return process.session == process.key.pid; }

enum class ShellUse { command, script, person };

// What a shell was started for, by its arguments.
ShellUse use_of_shell(const std::vector<std::string>& argv) {
    for (std::size_t i = 1; i < argv.size(); ++i) {
        const std::string_view argument = argv[i];
        if (!argument.starts_with('-') && !argument.starts_with('+')) return ShellUse::script;
        if (argument == "--init-file" || argument == "--rcfile" || argument == "-o" || argument == "-O") ++i;
        const bool letters = !argument.starts_with("--");
        if (argument == "--command" || (letters && argument.find('c') != std::string_view::npos))
            return ShellUse::command;
    }
    return ShellUse::person;
}

// "-bash", `bash -l`, or one that leads its session and was given no command and no script.
bool is_login_shell(const Process& process) {
    if (!is_shell(process) || !process.argv || process.argv->empty()) return false;
    const auto& argv = *process.argv;
    const auto use = use_of_shell(argv);
    if (use == ShellUse::command) return false;
    if (argv.front().starts_with('-')) return true;
    const auto login = [](const std::string& argument) {
        return argument == "--login" || (!argument.starts_with("--") && argument.starts_with('-') &&
                                         argument.find('l') != std::string::npos);
    };
    return use == ShellUse::person &&
           (leads_a_session(process) || std::any_of(argv.begin() + 1, argv.end(), login));
}

}  // namespace

std::vector<const Process*> launchers_of(const Process& target, const Evidence& evidence,
                                         const Lineage& lineage, const ProtectionRules& rules) {
    std::vector<const Process*> launchers;
    for (const Process* above : lineage.ancestors(target)) {
        if (!same_user_and_cgroup(*above, target) || never_launches(*above) || has_ended(*above) ||
            protected_by(*above, evidence, rules) || may_be_protected(*above, rules))
            break;
        launchers.push_back(above);
        if (leads_a_session(*above)) break;
    }
    return launchers;
}

const Process* possible_restarter(const Process& target, const Lineage& lineage) {
    const Process* parent = lineage.parent(target);
    if (parent == nullptr || parent->key.pid == 1 || parent->kernel_thread || has_ended(*parent) ||
        is_init(*parent) || is_named_as_way_in(*parent) || keeps_terminals(*parent) || is_way_in(*parent))
        return nullptr;
    const bool by_hand = is_shell(*parent) && parent->argv && use_of_shell(*parent->argv) == ShellUse::person;
    return by_hand ? nullptr : parent;
}

bool is_way_in(const Process& process) { return is_login_shell(process) || lets_people_in(process); }

}  // namespace cleanslate::agentless
