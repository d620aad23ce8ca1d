#include "agentless/supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agentless/cgroup_path.hpp"
#include "agentless/process_name.hpp"

namespace cleanslate::agentless {

namespace {

constexpr std::string_view digits = "0123456789";
constexpr std::string_view hex = "0123456789abcdef";
constexpr std::size_t container_id_length = 64;
constexpr std::size_t shown_id_length = 12;
constexpr std::size_t longest_number = 20;

// Units that run unrelated work too: nobody is told to stop them for a GPU's sake, and what appears in them
// is no respawn. Those of sshd hold login sessions where PAM does not move these elsewhere.
const std::vector<std::string_view> login_units = {"ssh.service", "sshd.service", "ssh@*", "sshd@*",
                                                   "dropbear*"};
const std::vector<std::string_view> shared_units = {"cron.service",
                                                    "crond.service",
                                                    "anacron.service",
                                                    "atd.service",
                                                    "slurmd.service",
                                                    "docker.service",
                                                    "k3s*",
                                                    "rke2*",
                                                    "containerd.service",
                                                    "crio.service",
                                                    "kubelet.service",
                                                    "podman.service",
                                                    "systemd-*",
                                                    "dbus*",
                                                    "user@*",
                                                    "salt-minion.service",
                                                    "puppet.service",
                                                    "pbs.service",
                                                    "snapd.service"};

bool all_of(std::string_view text, std::string_view alphabet) {
    return !text.empty() && text.find_first_not_of(alphabet) == std::string_view::npos;
}

// The number between `before` and `after` where `part` is made of just these; empty: it is not.
std::string_view number_in(std::string_view part, std::string_view before, std::string_view after = {}) {
    if (part.size() <= before.size() + after.size() || !part.starts_with(before) || !part.ends_with(after))
        return {};
    part = part.substr(before.size(), part.size() - before.size() - after.size());
    return part.size() <= longest_number && all_of(part, digits) ? part : std::string_view{};
}

std::string quoted(std::string_view unit) {
    return unit.find('\\') == std::string_view::npos ? std::string(unit) : fmt::format("'{}'", unit);
}

// A user's own systemd: below it he may create and name cgroups as he likes.
struct UserManager {
    std::size_t at;  // the part's place; the number of parts where there is none
    std::string_view uid;
};

UserManager user_manager(const CgroupPath& path) {
    for (std::size_t i = 0; i < path.parts.size(); ++i)
        if (const auto uid = number_in(path.parts[i], "user@", ".service"); !uid.empty()) return {i, uid};
    return {path.parts.size(), {}};
}

std::string stop_of_user_unit(std::string_view uid, std::string_view unit) {
    return fmt::format("systemctl --user --machine={}@ stop {}", uid, quoted(unit));
}

Supervisor job(std::string_view id, std::string_view path) {
    Supervisor job{SupervisorKind::slurm_job, "slurm job (id not shown)", {}, {}, std::string(path), false};
    if (id.empty()) return job;
    job.name = fmt::format("slurm job {}", id);
    job.stop_command = fmt::format("scancel {}", id);
    job.job_id = job.id = id;
    return job;
}

// v1: /slurm/uid_1000/job_42/step_0/task_0, with the node's name as /slurm_gpu01/...
// v2: /system.slice/slurmstepd.scope/job_42/step_0/user/task_0, with the node's name as
// gpu01_slurmstepd.scope
std::optional<Supervisor> slurm_job(const CgroupPath& path, std::size_t end) {
    bool in_slurm = false;
    for (std::size_t i = 0; i < end; ++i) {
        const auto part = path.parts[i];
        if (const auto id = number_in(part, "job_"); in_slurm && !id.empty()) return job(id, path.down_to(i));
        in_slurm = in_slurm || part == "slurm" || part.starts_with("slurm_") ||
                   part.ends_with("slurmstepd.scope") || part == "slurmd.service";
    }
    return std::nullopt;
}

// The pod's uid in "pod<uid>", "kubepods-burstable-pod<uid with _>.slice" or the same with
// ":cri-containerd:<id>". 8-4-4-4-12 hex digits, or 32 for a pod that the kubelet read from a file.
std::string pod_uid(std::string_view part) {
    part = part.substr(0, part.find(".slice"));
    const auto at = part.rfind("pod");
    if (at == std::string_view::npos || (at > 0 && part[at - 1] != '-')) return {};
    std::string uid(part.substr(at + 3));
    std::ranges::replace(uid, '_', '-');
    if (uid.size() == 32) return all_of(uid, hex) ? uid : std::string{};
    if (uid.size() != 36) return {};
    for (std::size_t i = 0; i < uid.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? uid[i] != '-' : hex.find(uid[i]) == std::string_view::npos) return {};
    }
    return uid;
}

// kubectl has no way to name a pod by its uid.
std::string delete_pod(std::string_view uid) {
    return fmt::format(
        "kubectl get pods -A -o jsonpath='{{range .items[?(@.metadata.uid==\"{}\")]}}"
        "{{.metadata.namespace}} {{.metadata.name}}{{end}}' | xargs -r kubectl delete pod -n",
        uid);
}

std::optional<Supervisor> pod(const CgroupPath& path, std::size_t end) {
    bool in_kubepods = false;
    for (std::size_t i = 0; i < end; ++i) {
        in_kubepods = in_kubepods || path.parts[i].find("kubepods") != std::string_view::npos;
        if (!in_kubepods) continue;
        if (const auto uid = pod_uid(path.parts[i]); !uid.empty())
            return Supervisor{SupervisorKind::pod,
                              "pod " + uid,
                              delete_pod(uid),
                              {},
                              std::string(path.down_to(i)),
                              true,
                              uid};
    }
    if (in_kubepods) return Supervisor{SupervisorKind::pod, "pod (uid not shown)", {}, {}, {}};
    return std::nullopt;
}

struct Engine {
    std::string_view prefix;  // of the scope's name, before the container's id
    std::string_view name;
    std::string_view stop;
};
constexpr std::array<Engine, 5> engines{{
    {"docker-", "docker", "docker stop "},
    {"libpod-", "podman", "podman stop "},
    {"cri-containerd-", "containerd", "crictl stop "},
    {"crio-", "cri-o", "crictl stop "},
    {"nerdctl-", "containerd", "nerdctl stop "},
}};

bool is_container_id(std::string_view text) {
    return text.size() == container_id_length && all_of(text, hex);
}

std::optional<Supervisor> container_at(const CgroupPath& path, std::size_t i) {
    auto part = path.parts[i];
    const auto before = i > 0 ? path.parts[i - 1] : std::string_view{};
    const auto make = [&](std::string_view engine, std::string_view id, std::string_view stop) {
        const auto shown = is_container_id(id) ? id.substr(0, shown_id_length) : id;
        return Supervisor{SupervisorKind::container,
                          fmt::format("{} {}", engine, shown),
                          stop.empty() ? std::string{} : fmt::format("{}{}", stop, shown),
                          {},
                          std::string(path.down_to(i)),
                          true,
                          std::string(id)};
    };
    if (part.ends_with(".scope")) part.remove_suffix(6);
    for (const auto& engine : engines)
        if (part.starts_with(engine.prefix) && is_container_id(part.substr(engine.prefix.size())))
            return make(engine.name, part.substr(engine.prefix.size()), engine.stop);
    if (is_container_id(part))
        return before == "docker" ? make("docker", part, "docker stop ") : make("container", part, {});
    const bool payload = part.starts_with("lxc.payload.");
    const auto name = payload ? part.substr(12) : part;
    if ((payload || before == "lxc") && is_unit(name, {})) return make("lxc", name, {});
    return std::nullopt;
}

// The innermost one.
std::optional<Supervisor> container(const CgroupPath& path, const UserManager& manager) {
    for (std::size_t i = path.parts.size(); i-- > 0;) {
        auto found = container_at(path, i);
        if (!found) continue;
        if (i > manager.at) {  // of a user's own engine, which root's does not know
            const bool scope = is_unit(path.parts[i], ".scope");
            found->stop_command = scope ? stop_of_user_unit(manager.uid, path.parts[i]) : std::string{};
        }
        return found;
    }
    return std::nullopt;
}

bool is_shared(std::string_view unit) {
    return fits_any(shared_units, unit) || unit.ends_with("slurmstepd.scope");
}

Supervisor unit_at(const CgroupPath& path, std::size_t i, const UserManager& manager) {
    const auto name = unit_name(path.parts[i]);
    const bool service = name.ends_with(".service");
    Supervisor unit{SupervisorKind::systemd_unit,
                    std::string(name),
                    {},
                    {},
                    std::string(path.down_to(i)),
                    service,
                    std::string(name)};
    if (i > manager.at) {
        unit.kind = SupervisorKind::user_unit;
        unit.stop_command = stop_of_user_unit(manager.uid, name);
    } else if ((fits("session-*", name) && !service) || fits_any(login_units, name)) {
        unit.kind = SupervisorKind::login_session;
        unit.restarts = false;
    } else if (is_shared(name)) {
        unit.restarts = false;
    } else {
        unit.stop_command = "systemctl stop " + quoted(name);
    }
    return unit;
}

// The innermost one. init.scope holds the manager itself: what is above it counts.
std::optional<Supervisor> unit(const CgroupPath& path, const UserManager& manager) {
    for (std::size_t i = path.parts.size(); i-- > 0;) {
        const auto name = unit_name(path.parts[i]);
        if (name != "init.scope" && (is_unit(name, ".service") || is_unit(name, ".scope")))
            return unit_at(path, i, manager);
    }
    return std::nullopt;
}

Supervisor found_in(const CgroupPath& path, const UserManager& manager,
                    const std::optional<Supervisor>& inside) {
    // Scheduled work only above a user's own manager: below it anybody could have made the cgroup, and so be
    // spared.
    if (auto found = slurm_job(path, manager.at)) return *found;
    if (auto found = pod(path, manager.at)) return *found;
    if (inside) return *inside;
    if (auto found = unit(path, manager)) return *found;
    return {};
}

}  // namespace

Supervisor supervisor_of(std::string_view cgroup) {
    const auto path = split_cgroup(cgroup);
    const auto manager = user_manager(path);
    const auto inside = container(path, manager);
    auto found = found_in(path, manager, inside);
    found.user_manager = manager.uid;
    found.in_container = inside.has_value();
    return found;
}

Supervisor supervisor_of(const Process& process, const Lineage& lineage) {
    auto found = process.cgroup ? supervisor_of(*process.cgroup) : Supervisor{};
    if (found.scheduled()) return found;
    for (const Process* above : lineage.ancestors(process)) {
        if (above->uid != 0U || !is_slurmstepd(*above)) continue;
        // It titles itself "slurmstepd: [42.batch]".
        const std::string_view title =
            above->argv && !above->argv->empty() ? above->argv->front() : std::string_view{};
        std::string_view id;
        for (const std::string_view before : {"slurmstepd: [", "slurmstepd-wlm: ["})
            if (title.starts_with(before)) id = title.substr(before.size());
        id = number_in(id.substr(0, id.find('.')), {});
        auto scheduled = job(id, {});
        scheduled.user_manager = found.user_manager;
        scheduled.in_container = found.in_container;
        return scheduled;
    }
    return found;
}

}  // namespace cleanslate::agentless
