#include "controller/acts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/units.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;
using Kind = CommandAction::Kind;

constexpr std::size_t files_named = 10;

bool was_tried(const CommandAction& action) {
    return !action.planned && !action.withheld && !was_not_sent(action);
}

// "step 3 stop: systemctl stop x.service: exit 0 after 1.2 s": the result is seen however long the command
// is.
void write_act(Page& page, std::size_t indent, const CommandAction& action, bool raw) {
    const auto kind = to_string(action.kind);
    const std::string head = kind == action.command ? fmt::format("step {} ", action.step)
                                                    : fmt::format("step {} {}: ", action.step, kind);
    const std::string tail = ": " + result_of(action);
    const std::size_t used = indent + width_of(head) + width_of(tail);
    const std::size_t room = page.columns() > used + 20 ? page.columns() - used : 20;
    page.line(indent, {{head}, {shortened(shown_command(action.command, raw), room)}, {tail}});
    page.wrapped(indent + 4, action.about, Style::dim);
    if (action.ok || !was_tried(action)) return;
    for (const std::string* stream : {&action.out, &action.err}) {
        const std::string shown = printable_lines(*stream);
        for (std::string_view line : split(trim(shown), '\n'))
            if (!trim(line).empty()) page.cut(indent + 4, {{std::string(trim(line)), Style::dim}});
    }
}

// A daemon that is stopped for a reset, or started again after it.
bool is_daemon_of_reset(const CommandAction& action) {
    return action.kind == Kind::reset && action.command.starts_with("systemctl ");
}

struct Count {
    std::size_t tried = 0, ok = 0;
};

// "2 supervisors stopped", "1 of 2 supervisors stopped".
std::string done_text(const Count& count, std::string_view noun, std::string_view done) {
    if (count.ok == count.tried) return fmt::format("{} {}", count_of(count.tried, noun), done);
    return fmt::format("{} of {} {}", count.ok, count_of(count.tried, noun), done);
}

}  // namespace

std::string result_of(const CommandAction& action) {
    if (action.withheld) return "withheld";
    if (was_not_sent(action)) return "not sent";
    if (action.planned) return "planned";
    std::string how = action.ok ? "done" : "failed";
    if (!action.ran_to_end)
        how = "did not come to its end";
    else if (action.exit_status)
        how = fmt::format("exit {}", *action.exit_status);
    else if (!action.exit_signal.empty())
        how = "ended by " + action.exit_signal;
    return action.took ? how + " after " + format_duration(*action.took) : how;
}

void write_acts(Page& page, std::size_t indent, const HostOutcome& host, bool raw_commands) {
    // Files can be many: those that were removed are counted, of the others the first of each kind are named.
    std::map<std::pair<int, std::string>, std::vector<const CommandAction*>> files;
    const auto fate = [](const CommandAction& action) {
        if (was_tried(action)) return std::string(action.ok ? "removed" : "not removed");
        return result_of(action);
    };
    for (const CommandAction& action : host.commands)
        if (action.kind == Kind::clean_shm) files[{action.step, fate(action)}].push_back(&action);
    for (const CommandAction& action : host.commands) {
        if (action.kind != Kind::clean_shm) {
            write_act(page, indent, action, raw_commands);
            continue;
        }
        const auto found = files.find({action.step, fate(action)});
        if (found == files.end()) continue;  // told with the first
        const auto& [key, list] = *found;
        const std::size_t named = list.size() > 1 && key.second == "removed" ? 0 : files_named;
        for (std::size_t i = 0; i < list.size() && i < named; ++i)
            write_act(page, indent, *list[i], raw_commands);
        if (list.size() > named)
            page.line(indent, {{fmt::format("step {} clean_shm: {}{} {}", key.first,
                                            named > 0 ? "in all " : "", files_text(list), key.second)}});
        files.erase(found);
    }
}

std::string acts_text(const HostOutcome& host) {
    std::map<Kind, Count> counts;
    std::size_t commands = 0;
    for (const CommandAction& action : host.commands) {
        if (!was_tried(action)) continue;
        const bool own =
            action.kind == Kind::run || action.kind == Kind::before || action.kind == Kind::after;
        commands += own ? 1 : 0;
        if (is_daemon_of_reset(action)) continue;
        ++counts[action.kind].tried;
        counts[action.kind].ok += action.ok ? 1 : 0;
    }
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (const Count& count = counts[Kind::stop]; count.tried > 0)
        add(done_text(count, "supervisor", "stopped"));
    if (const Count& count = counts[Kind::reset]; count.tried > 0) add(done_text(count, "GPU", "reset"));
    if (const Count& count = counts[Kind::clean_shm]; count.tried > 0)
        add(done_text(count, "file", "removed"));
    if (const Count& count = counts[Kind::reboot]; count.tried > 0)
        add(count.ok > 0 ? "rebooted" : "reboot failed");
    if (commands > 0) add(count_of(commands, "command") + " run");
    return text;
}

std::string bytes_text(std::uint64_t bytes) {
    constexpr std::uint64_t kib = 1024, mib = kib * kib, gib = kib * mib;
    const auto up = [&](std::uint64_t unit) { return bytes / unit + (bytes % unit != 0 ? 1 : 0); };
    if (bytes < kib) return count_of(bytes, "byte");
    if (bytes < mib) return fmt::format("{} KiB", up(kib));
    if (bytes < 10 * gib) return fmt::format("{} MiB", up(mib));
    return fmt::format("{} GiB", up(gib));
}

std::string files_text(const std::vector<const CommandAction*>& files) {
    std::uint64_t bytes = 0;
    bool known = true;
    for (const CommandAction* file : files) {
        known = known && file->bytes;
        const std::uint64_t more = file->bytes.value_or(0);
        bytes = bytes > UINT64_MAX - more ? UINT64_MAX : bytes + more;
    }
    const std::string count = count_of(files.size(), "file");
    return known ? fmt::format("{} ({})", count, bytes_text(bytes)) : count;
}

}  // namespace cleanslate::controller
