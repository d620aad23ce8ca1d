#pragma once
// The machine's cgroup hierarchies (v2, and v1's name=systemd and freezer where the machine has them): each
// fleet has one folder in them, each host one below, which is the root of the host's own cgroup namespace.

#include <string>
#include <vector>

namespace cleanslate::simulated {

struct Hierarchy {
    std::string name;     // "unified" (v2), "systemd", "freezer"
    std::string options;  // of its mount
    bool v2 = false;
    bool alone = false;  // v2 on a machine without v1
};

// Those that /proc/self/cgroup names.
std::vector<Hierarchy> hierarchies();

// Mounts `hierarchy` at `where` (a folder that exists) in the calling process's mount namespace; dies where
// it cannot.
void mount_hierarchy(const Hierarchy& hierarchy, const std::string& where);

class FleetCgroups {
  public:
    // Mounts all hierarchies below `folder`; the caller has a mount namespace of its own. `fleet` is a name
    // that no other fleet has.
    FleetCgroups(const std::string& folder, const std::string& fleet);
    void add(const std::string& host, int pid);
    // Lets go what hosts have frozen: it could not be ended.
    void thaw() const;
    // Removes the folders; all their processes are gone, or just going.
    void remove();

  private:
    std::vector<std::string> roots_;  // the fleet's folder in each hierarchy
};

}  // namespace cleanslate::simulated
