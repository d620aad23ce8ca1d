// `match:` of a signal step.
#include <fmt/format.h>

#include "base/text.hpp"
#include "playbooks/steps.hpp"

namespace cleanslate::playbooks {
namespace {

constexpr int max_pid = 4'194'304;  // the kernel's PID_MAX_LIMIT

Status read_key(const Reader& in, std::string_view key, const yaml::Node& value, Match& match) {
    const auto pattern = [&](std::vector<std::string>& into) -> Status {
        auto read = in.pattern(value, key);
        if (!read) return std::unexpected(read.error());
        into.push_back(std::move(*read));
        return {};
    };
    if (key == "cmdline") return pattern(match.cmdline);
    if (key == "name") return pattern(match.name);
    if (key == "exe") return pattern(match.exe);
    if (key == "tree") return keep(match.tree, in.boolean(value, key));
    if (key == "pid") {
        auto pid = in.integer(value, key, 1, max_pid);
        if (!pid) return std::unexpected(pid.error());
        if (*pid == 1) return in.refuse(value, "pid 1 is never signalled", "name another process");
        match.pid.push_back(static_cast<int>(*pid));
        return {};
    }
    auto holding = in.text(value, key);
    if (!holding) return std::unexpected(holding.error());
    if (*holding != "gpu")
        return in.refuse(value, fmt::format("`holding: {}`", ellipsize(printable(*holding), 40)),
                         "write `holding: gpu`, the only one so far");
    match.holding_gpu = true;
    return {};
}

}  // namespace

Result<Match> read_match(const Reader& in, const yaml::Node& node) {
    static const std::vector<std::string> keys{"holding", "cmdline", "name", "exe", "pid", "tree"};
    constexpr std::string_view right =
        "write at least one of `holding: gpu`, `cmdline`, `name`, `exe` or `pid`; all that are given must "
        "hold";
    if (node.is_null() || (node.is_mapping() && node.entries.empty()))
        return in.refuse(node, "an empty `match` would mean every process", std::string(right));
    if (auto known = check_keys(node, in.file(), "`match`", keys); !known)
        return std::unexpected(known.error());
    Match match;
    for (const auto& [key, value] : node.entries)
        if (auto read = read_key(in, key.text, value, match); !read) return std::unexpected(read.error());
    if (!match.picks())
        return in.refuse(node,
                         "`tree` alone picks no process: it adds the launchers of those that are picked",
                         std::string(right));
    return match;
}

}  // namespace cleanslate::playbooks
