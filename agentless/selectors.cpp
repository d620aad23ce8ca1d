#include "agentless/selectors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/process_name.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

constexpr std::size_t shortest_container_id = 12;
constexpr std::size_t container_id_length = 64;

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool names_owner(const std::string& entry, const Process& process) {
    if (is_number(entry)) return parse_number(entry) == std::uint64_t{*process.uid};
    return !entry.empty() && entry == process.user;
}

bool names_container(std::string_view entry, std::string_view id) {
    if (entry == id) return true;
    return id.size() == container_id_length && entry.size() >= shortest_container_id && id.starts_with(entry);
}

bool names(SupervisorKind kind, const std::string& entry, const Supervisor& supervisor) {
    if (entry.empty() || supervisor.id.empty()) return false;
    if (kind == SupervisorKind::container) return names_container(entry, supervisor.id);
    if (kind == SupervisorKind::systemd_unit) return fits(entry, supervisor.id);
    return entry == supervisor.id;
}

// A user's own units are units too.
SupervisorKind kind_of(const Supervisor& supervisor) {
    return supervisor.kind == SupervisorKind::user_unit ? SupervisorKind::systemd_unit : supervisor.kind;
}

// A container stays one inside of somebody's job or pod.
bool is_in_none(SupervisorKind kind, const Process& process, const Supervisor& supervisor) {
    if (!process.cgroup || kind_of(supervisor) == kind) return false;
    return kind != SupervisorKind::container ||
           !(supervisor.in_container || supervisor.kind == SupervisorKind::pod);
}

bool fits_key(const std::vector<std::string>& entries, SupervisorKind kind, const Process& process,
              const Supervisor& supervisor) {
    if (entries.empty()) return true;
    return std::ranges::any_of(entries, [&](const std::string& entry) {
        if (entry == "none") return is_in_none(kind, process, supervisor);
        if (kind_of(supervisor) != kind) return false;
        return entry == "any" || names(kind, entry, supervisor);
    });
}

struct Key {
    std::string_view name;
    const std::vector<std::string>& entries;
    SupervisorKind kind;
};

std::vector<Key> keys_of(const playbooks::Match& match) {
    return {{"slurm_job", match.slurm_job, SupervisorKind::slurm_job},
            {"pod", match.pod, SupervisorKind::pod},
            {"container", match.container, SupervisorKind::container},
            {"unit", match.unit, SupervisorKind::systemd_unit}};
}

}  // namespace

bool fits_owner(const playbooks::Match& match, const Process& process) {
    const bool asked = !match.user.empty() || !match.not_user.empty() || match.uid_at_least;
    if (!asked) return true;
    if (!process.uid) return false;
    const auto owns = [&](const std::string& entry) { return names_owner(entry, process); };
    if (!match.user.empty() && std::ranges::none_of(match.user, owns)) return false;
    const auto may_own = [&](const std::string& entry) {
        return owns(entry) || (process.user.empty() && !is_number(entry));
    };
    if (std::ranges::any_of(match.not_user, may_own)) return false;
    return !match.uid_at_least || *process.uid >= *match.uid_at_least;
}

bool fits_supervisor(const playbooks::Match& match, const Process& process, const Supervisor& supervisor) {
    return std::ranges::all_of(
        keys_of(match), [&](const Key& key) { return fits_key(key.entries, key.kind, process, supervisor); });
}

std::vector<std::string> words_of_owner(const playbooks::Match& match) {
    std::vector<std::string> words;
    const auto list = [&](std::string_view key, const std::vector<std::string>& entries) {
        if (entries.empty()) return;
        std::string all;
        for (const auto& entry : entries) all.append(all.empty() ? "" : ", ").append(printable(entry));
        words.push_back(fmt::format("{} {}", key, all));
    };
    list("user", match.user);
    list("not_user", match.not_user);
    if (match.uid_at_least) words.push_back(fmt::format("uid_at_least {}", *match.uid_at_least));
    return words;
}

std::vector<std::string> words_of_supervisor(const playbooks::Match& match, const Supervisor& supervisor) {
    std::vector<std::string> words;
    for (const auto& key : keys_of(match)) {
        if (key.entries.empty()) continue;
        words.push_back(kind_of(supervisor) == key.kind ? printable(supervisor.name)
                                                        : fmt::format("{} none", key.name));
    }
    return words;
}

}  // namespace cleanslate::agentless
