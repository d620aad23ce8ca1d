// The table of docs/protected.md, row by row; a test compares the two.
#include "agentless/protection.hpp"

namespace cleanslate::agentless {

namespace {

constexpr bool containers = true;
constexpr bool host = false;
constexpr bool script = true;
constexpr bool on_gpus = true;

// clang-format off
const std::vector<ProtectedEntry> entries = {
    // What keeps the GPUs working and what watches them.
    {"nvidia-persistenced", "root nvidia-persistenced", containers, false, "without it the driver unloads"},
    {"nv-fabricmanager", "root", containers, false, "killed: CUDA error 802 on NVSwitch machines while every GPU looks healthy"},
    {"nvidia-imex", "root", containers, false, "memory shared between hosts over NVLink goes through it"},
    {"nv-hostengine", "root nvidia-dcgm", containers, false, "killed: GPUs froze (Xid 119, 120) until a reboot"},
    {"dcgm-exporter", "root", containers, false, "killed: GPUs froze (Xid 119, 120) until a reboot"},
    {"dcgmi", "any", containers, false, "killed: GPUs froze (Xid 119, 120) until a reboot"},
    {"nvidia-device-plugin", "root", containers, false, "offers the GPUs to Kubernetes"},
    {"gpu-feature-discovery", "root", containers, false, "labels the node for Kubernetes"},
    {"nvidia-mig-manager", "root", containers, false, "partitions the GPUs"},
    {"nvidia-cuda-mps-control", "any", containers, false, "MPS: quit it by its own command", on_gpus},
    {"nvidia-cuda-mps-server", "any", containers, false, "MPS: quit it by its control daemon's command", on_gpus},
    {"nvsm*", "root nvsm", host, false, "health monitor of DGX systems"},
    {"nvidia-vgpud", "root", host, false, "sets up the virtual GPUs of guests"},
    {"nvidia-vgpu-mgr", "root", host, false, "serves the virtual GPUs of guests"},
    {"nvidia-gridd", "root", host, false, "licenses a virtual GPU"},
    {"nvidia-powerd", "root", host, false, "balances power between processor and GPU"},
    {"gpud", "root", containers, false, "watches the GPUs' health"},
    {"nvidia_gpu_exporter", "root nobody nvidia_gpu_exporter prometheus", containers, false, "monitoring"},
    {"node_exporter", "root nobody node_exporter node-exporter prometheus", containers, false, "monitoring"},
    {"prometheus-node-exporter", "root prometheus", containers, false, "monitoring, as Debian names it"},
    {"collectd", "root collectd", containers, false, "monitoring"},
    {"telegraf", "root telegraf", containers, false, "monitoring"},
    {"zabbix_agentd", "root zabbix", containers, false, "monitoring"},
    {"zabbix_agent2", "root zabbix", containers, false, "monitoring"},
    {"/opt/datadog-agent/*", "root dd-agent", containers, false, "monitoring"},
    {"nvidia-smi", "any", host, false, "only looks"},
    {"nvtop", "any", host, false, "only looks"},
    {"nvitop", "any", host, script, "only looks"},
    {"gpustat", "any", host, script, "only looks"},
    // A person's desktop.
    {"Xorg", "any", host, false, "desktop", on_gpus},
    {"Xwayland", "any", host, false, "desktop", on_gpus},
    {"gnome-shell", "any", host, false, "desktop", on_gpus},
    {"mutter*", "any", host, false, "desktop", on_gpus},
    {"kwin_wayland*", "any", host, false, "desktop", on_gpus},
    {"kwin_x11", "any", host, false, "desktop", on_gpus},
    {"plasmashell", "any", host, false, "desktop", on_gpus},
    {"cinnamon", "any", host, false, "desktop", on_gpus},
    {"sway", "any", host, false, "desktop", on_gpus},
    {"weston", "any", host, false, "desktop", on_gpus},
    {"gdm*", "any", host, false, "login screen, and the parent of the desktop", on_gpus},
    {"sddm*", "any", host, false, "login screen, and the parent of the desktop", on_gpus},
    {"lightdm*", "any", host, false, "login screen, and the parent of the desktop", on_gpus},
    // What must not die for a GPU's sake.
    {"sshd", "any", containers, false, "the way in"},
    {"sshd-session", "any", containers, false, "the way in"},
    {"sshd-auth", "any", containers, false, "the way in"},
    {"dropbear", "any", containers, false, "the way in"},
    {"systemd", "any", containers, false, "init, and each user's own manager"},
    {"systemd-*", "root systemd-network systemd-resolve systemd-timesync systemd-oom systemd-journal-remote", host, false, "systemd's daemons"},
    {"dbus-daemon", "any", host, false, "message bus of the system and of each login"},
    {"dbus-broker*", "any", host, false, "message bus of the system and of each login"},
    {"cron", "root", host, false, "starts unrelated work"},
    {"crond", "root", host, false, "starts unrelated work"},
    {"atd", "root daemon", host, false, "starts unrelated work"},
    {"slurmd", "root", containers, false, "the node's end of Slurm"},
    {"slurmstepd", "root", containers, false, "parent of each Slurm job"},
    {"slurmctld", "root slurm", containers, false, "Slurm's controller"},
    {"slurmd-wlm", "root", containers, false, "the node's end of Slurm, as Debian calls it"},
    {"slurmstepd-wlm", "root", containers, false, "parent of each Slurm job, as Debian calls it"},
    {"slurmctld-wlm", "root slurm", containers, false, "Slurm's controller, as Debian calls it"},
    {"munged", "root munge", containers, false, "Slurm's authentication"},
    {"pbs_mom", "root", host, false, "the node's end of PBS"},
    {"kubelet", "root", containers, false, "the node's end of Kubernetes"},
    {"k3s*", "root", containers, false, "the node's end of Kubernetes"},
    {"containerd", "root", containers, false, "runs containers"},
    {"containerd-shim*", "root", containers, false, "parent of each container"},
    {"dockerd", "root", containers, false, "runs containers"},
    {"conmon", "any", host, false, "parent of each container"},
    {"crio", "root", containers, false, "runs containers"},
    {"snapd", "root", host, false, "runs snaps"},
};
// clang-format on

}  // namespace

const std::vector<ProtectedEntry>& protected_entries() { return entries; }

}  // namespace cleanslate::agentless
