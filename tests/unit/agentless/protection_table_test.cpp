#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "agentless/protection.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

std::string joined(std::string_view owners) {
    std::string text;
    for (const auto owner : split(owners, ' ')) text.append(text.empty() ? "" : ", ").append(owner);
    return text;
}

std::vector<std::string> rows_of_the_document() {
    std::ifstream file(CLEANSLATE_SOURCE_DIR "/docs/protected.md");
    std::vector<std::string> rows;
    bool in_table = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("| Executable |")) {
            in_table = std::getline(file, line).good();
            continue;
        }
        in_table = in_table && line.starts_with('|');
        if (in_table) rows.push_back(line);
    }
    return rows;
}

TEST(ProtectedDocument, HasExactlyTheRowsOfTheCode) {
    std::vector<std::string> rows;
    for (const auto& entry : protected_entries())
        rows.push_back(fmt::format("| `{}`{} | {} | {} | {} |", entry.exe, entry.script ? " (script)" : "",
                                   joined(entry.owners), entry.in_containers ? "yes" : "no", entry.why));
    EXPECT_EQ(rows_of_the_document(), rows);
}

TEST(ProtectedTable, NamesEveryDaemonThatAKillWouldTurnIntoAnOutage) {
    const auto has = [](std::string_view name) {
        return std::ranges::any_of(protected_entries(), [&](const ProtectedEntry& e) {
            const bool prefix = e.exe.ends_with('*');
            return prefix ? name.starts_with(e.exe.substr(0, e.exe.size() - 1)) : name == e.exe;
        });
    };
    for (const auto* name : {"dcgm-exporter",
                             "nv-hostengine",
                             "dcgmi",
                             "nv-fabricmanager",
                             "nvidia-persistenced",
                             "nvidia-imex",
                             "Xorg",
                             "Xwayland",
                             "gnome-shell",
                             "kwin_wayland",
                             "kwin_x11",
                             "mutter",
                             "plasmashell",
                             "gdm",
                             "gdm3",
                             "sddm",
                             "lightdm",
                             "nvidia-device-plugin",
                             "gpu-feature-discovery",
                             "nvidia-mig-manager",
                             "nvsm",
                             "nvsm_core",
                             "nvidia-vgpud",
                             "nvidia-vgpu-mgr",
                             "nvidia-gridd",
                             "nvidia-powerd",
                             "gpud",
                             "nvidia_gpu_exporter",
                             "node_exporter",
                             "collectd",
                             "telegraf",
                             "nvtop",
                             "nvitop",
                             "gpustat",
                             "nvidia-smi",
                             "sshd",
                             "sshd-session",
                             "sshd-auth",
                             "dropbear",
                             "systemd",
                             "systemd-journald",
                             "dbus-daemon",
                             "slurmd",
                             "slurmstepd",
                             "slurmctld",
                             "munged",
                             "pbs_mom",
                             "kubelet",
                             "containerd",
                             "containerd-shim-runc-v2",
                             "dockerd",
                             "conmon",
                             "crio",
                             "zabbix_agentd",
                             "snapd",
                             "nvidia-cuda-mps-control",
                             "nvidia-cuda-mps-server"})
        EXPECT_TRUE(has(name)) << name;
    EXPECT_FALSE(has("ollama"));
    EXPECT_FALSE(has("python3"));
}

}  // namespace
}  // namespace cleanslate::agentless
