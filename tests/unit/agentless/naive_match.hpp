#pragma once
// The naive reading of a match: what docs/killing.md says of each key, written anew and without the code
// under test.

#include <algorithm>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "agentless/evidence.hpp"
#include "playbooks/playbook.hpp"

namespace cleanslate::agentless::naive {

using playbooks::Match;

inline bool ended(const Process& p) { return p.state == 'Z' || p.state == 'X'; }

inline bool has(const std::vector<std::string>& list, const std::string& entry) {
    return std::ranges::find(list, entry) != list.end();
}

inline bool found(const std::vector<std::string>& patterns, const std::string& text) {
    return std::ranges::any_of(patterns, [&](const std::string& pattern) {
        return std::regex_search(text, std::regex(pattern, std::regex::extended));
    });
}

// "?" is a GPU that nobody can name.
inline std::string uuid_of_minor(const Evidence& e, int minor) {
    if (e.driver_gpus)
        for (const auto& gpu : *e.driver_gpus)
            if (gpu.minor == minor) return gpu.uuid;
    return "?";
}

inline std::optional<int> minor_of_uuid(const Evidence& e, const std::string& uuid) {
    if (e.driver_gpus)
        for (const auto& gpu : *e.driver_gpus)
            if (gpu.uuid == uuid) return gpu.minor;
    return std::nullopt;
}

inline bool alive(const Evidence& e, Pid pid) {
    return std::ranges::any_of(e.processes, [&](const Process& p) { return p.key.pid == pid && !ended(p); });
}

inline bool listed(const Evidence& e, const Process& p) {
    return std::ranges::any_of(
        e.apps, [&](const ComputeApp& app) { return app.pid == p.key.pid && app.name != "[Not Found]"; });
}

inline std::set<std::string> gpus_used(const Evidence& e, const Process& p) {
    std::set<std::string> used;
    if (ended(p)) return used;
    bool whole = e.app_query.exit_status == 0, foreign = false, heir = false;
    for (const auto& app : e.apps) {
        if (!app.pid) {
            whole = false;
        } else if (alive(e, *app.pid) && app.name != "[Not Found]") {
            if (app.pid == p.key.pid) used.insert(app.uuid);
        } else if (e.proc_hides_others) {
            foreign = true;
        } else if (!listed(e, p) && !p.open_minors.empty()) {
            const auto minor = minor_of_uuid(e, app.uuid);
            const bool opens = minor && std::ranges::find(p.open_minors, *minor) != p.open_minors.end();
            if (minor && !opens) continue;
            heir = true;
            used.insert(minor ? app.uuid : "?");
        }
    }
    if (listed(e, p) && whole) return used;
    for (const int minor : p.mapped_minors) used.insert(uuid_of_minor(e, minor));
    if (!heir || !whole || foreign)
        for (const int minor : p.open_minors) used.insert(uuid_of_minor(e, minor));
    if (!p.fds_readable || !p.maps_readable) used.insert("?");
    return used;
}

inline std::set<std::string> wanted(const Match& match, const Evidence& e) {
    std::set<std::string> uuids;
    for (const auto& entry : match.gpus)
        for (const auto& row : e.gpus)
            if (row.uuid == entry || std::to_string(*row.index) == entry) uuids.insert(row.uuid);
    return uuids;
}

inline bool uses_another(const Match& match, const Evidence& e, const Process& p) {
    const auto allowed = wanted(match, e);
    return std::ranges::any_of(gpus_used(e, p),
                               [&](const std::string& uuid) { return !allowed.contains(uuid); });
}

// Of the paths that RandomHost makes: "slurm_job 42", "pod ...", "container ...", "unit ...", or nothing.
inline std::string place(const Process& p) {
    const auto& path = *p.cgroup;
    const auto last = path.substr(path.rfind('/') + 1);
    if (path.find("user@") == std::string::npos) {
        if (path.starts_with("/slurm/")) return "slurm_job " + path.substr(path.find("job_") + 4, 2);
        if (path.starts_with("/kubepods/"))
            return path == "/kubepods/pod1" ? "pod ?" : "pod " + path.substr(path.find("/pod3") + 4, 36);
        if (last.starts_with("docker-")) return "container " + last.substr(7, 64);
        if (last.ends_with(".service") && last != "ssh.service") return "unit " + last;
        return {};
    }
    return last == "own.service" ? "unit own.service" : "unit user@1000.service";
}

inline bool in_place(const std::vector<std::string>& entries, const std::string& key, const Process& p) {
    if (entries.empty()) return true;
    if (!p.cgroup) return false;
    const auto where = place(p);
    const bool here = where.starts_with(key + " ");
    const bool inside_too =
        key == "container" && (p.cgroup->find("docker") != std::string::npos || where.starts_with("pod "));
    const auto name = here ? where.substr(key.size() + 1) : std::string();
    return std::ranges::any_of(entries, [&](const std::string& entry) {
        if (entry == "none") return !here && !inside_too;
        if (!here) return false;
        if (entry == "any" || entry == name) return true;
        if (entry.ends_with("*")) return name.starts_with(entry.substr(0, entry.size() - 1));
        return key == "container" && name.starts_with(entry);
    });
}

inline bool owner_fits(const Match& match, const Process& p) {
    if (match.user.empty() && match.not_user.empty() && !match.uid_at_least) return true;
    if (!p.uid) return false;
    const auto uid = std::to_string(*p.uid);
    if (!match.user.empty() && !has(match.user, uid) && !(!p.user.empty() && has(match.user, p.user)))
        return false;
    if (has(match.not_user, uid) || (!p.user.empty() && has(match.not_user, p.user))) return false;
    if (p.user.empty() && (has(match.not_user, "alice") || has(match.not_user, "root"))) return false;
    return !match.uid_at_least || *p.uid >= *match.uid_at_least;
}

inline bool identity_fits(const Match& match, const Process& p) {
    if (!match.not_cgroup.empty() && (!p.cgroup || found(match.not_cgroup, *p.cgroup))) return false;
    return owner_fits(match, p) && in_place(match.slurm_job, "slurm_job", p) &&
           in_place(match.pod, "pod", p) && in_place(match.container, "container", p) &&
           in_place(match.unit, "unit", p);
}

// All keys but `orphaned`.
inline bool fits(const Match& match, const Evidence& e, const Process& p) {
    const bool holds = p.opens_device() || (listed(e, p) && !(p.fds_readable && p.maps_readable));
    if ((match.holding_gpu || !match.gpus.empty() || match.used_at_least) && !holds) return false;
    if (!match.gpus.empty()) {
        const auto allowed = wanted(match, e);
        if (std::ranges::none_of(gpus_used(e, p), [&](const auto& uuid) { return allowed.contains(uuid); }))
            return false;
    }
    std::int64_t used = 0;
    for (const auto& app : e.apps)
        if (app.pid == p.key.pid && app.used && app.name != "[Not Found]") used += app.used->count;
    if (match.used_at_least && (used == 0 || used < match.used_at_least->count)) return false;
    if (match.older_than &&
        !(p.age_s && 1000 * static_cast<std::int64_t>(*p.age_s) >= match.older_than->count()))
        return false;
    if (!match.pid.empty() && std::ranges::find(match.pid, p.key.pid) == match.pid.end()) return false;
    std::string line;
    for (const auto& argument : *p.argv) line += (line.empty() ? "" : " ") + argument;
    if (!match.cmdline.empty() && !found(match.cmdline, line)) return false;
    if (!match.name.empty() && !found(match.name, p.comm)) return false;
    if (!match.exe.empty() && !(p.exe && found(match.exe, *p.exe))) return false;
    if (!match.cgroup.empty() && !(p.cgroup && found(match.cgroup, *p.cgroup))) return false;
    return identity_fits(match, p);
}

// What speaks against `orphaned` whoever looks; empty: nothing.
inline std::string owned(const Evidence& e, const Process& p) {
    if (!p.uid || !p.cgroup) return "not read";
    if (!p.cgroup->starts_with("/user") && *p.cgroup != "/" && *p.cgroup != "/system.slice/ssh.service")
        return "in " + *p.cgroup;
    bool here = false;
    if (e.sessions)
        for (const auto& session : *e.sessions) {
            here = here || (!session.closing && session.uid == p.uid);
            if (p.cgroup->ends_with("session-" + session.id + ".scope") && !session.closing)
                return "its session is alive";
        }
    if (p.cgroup->ends_with(".scope") && !e.sessions) return "nothing says that its session is closed";
    if (here && (p.tty != 0 || p.ignores_hangup || p.comm == "tmux" || p.cgroup->ends_with("ssh.service")))
        return "its owner is logged in";
    return {};
}

}  // namespace cleanslate::agentless::naive
