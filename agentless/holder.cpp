#include "agentless/holder.hpp"

#include <fmt/format.h>

#include "agentless/supervisor.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

std::optional<std::string> command_of(const Process& process, bool raw) {
    if (!process.argv) return std::nullopt;
    if (process.argv->empty()) return "[" + printable(process.comm) + "]";
    if (!raw) return masked_command(*process.argv);
    std::string joined;
    for (const auto& argument : *process.argv) joined += (joined.empty() ? "" : " ") + argument;
    return printable(joined);
}

std::optional<std::string> unit_of(const Process& process) {
    if (!process.cgroup) return std::nullopt;
    const auto supervisor = supervisor_of(*process.cgroup);
    if (supervisor.kind == SupervisorKind::none || supervisor.kind == SupervisorKind::login_session)
        return std::nullopt;
    return printable(supervisor.name);
}

}  // namespace

Holder describe(const Process& process, const Evidence& evidence, const Expectations& expectations) {
    Holder holder;
    holder.key = process.key;
    if (!process.user.empty())
        holder.user = printable(process.user);
    else if (process.uid)
        holder.user = fmt::format("uid {}", *process.uid);
    if (process.exe) holder.exe = printable(*process.exe);
    holder.command = command_of(process, expectations.raw_commands);
    holder.state = process.state;
    if (const auto rule = protected_by(process, evidence, expectations.protection)) {
        holder.is_protected = true;
        holder.protected_by = printable(*rule);
    }
    holder.unit = unit_of(process);
    holder.age_s = process.age_s;
    return holder;
}

bool is_being_torn_down(const Holder& holder) { return holder.without_device && holder.state == 'D'; }

}  // namespace cleanslate::agentless
