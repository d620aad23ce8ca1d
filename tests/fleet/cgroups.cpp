#include "tests/fleet/cgroups.hpp"

#include <dirent.h>
#include <poll.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>

#include "tests/fleet/freezer.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

std::vector<std::string> folders_in(const std::string& path) {
    std::vector<std::string> names;
    DIR* folder = ::opendir(path.c_str());
    if (folder == nullptr) return names;
    while (const dirent* entry = ::readdir(folder)) {
        const std::string name = entry->d_name;
        if (entry->d_type == DT_DIR && name != "." && name != "..") names.push_back(path + "/" + name);
    }
    ::closedir(folder);
    return names;
}

// A cgroup stays busy for a moment after its last process has been reaped.
void remove_tree(const std::string& path) {
    for (const auto& child : folders_in(path)) remove_tree(child);
    for (int tries = 0; ::rmdir(path.c_str()) != 0 && errno == EBUSY && tries < 1000; ++tries)
        ::poll(nullptr, 0, 2);
}

}  // namespace

std::vector<Hierarchy> hierarchies() {
    std::vector<Hierarchy> all;
    bool v1 = false;
    const auto lines = split(read_file("/proc/self/cgroup").value_or(""), '\n');
    for (const auto& line : lines) {
        if (line.starts_with("0::"))
            all.push_back({"unified", "", true, false});
        else
            v1 = true;
        if (line.find(":name=systemd:") != std::string::npos)
            all.push_back({"systemd", "none,name=systemd", false, false});
        if (line.find(":freezer:") != std::string::npos) all.push_back({"freezer", "freezer", false, false});
    }
    for (auto& hierarchy : all) hierarchy.alone = hierarchy.v2 && !v1;
    return all;
}

void mount_hierarchy(const Hierarchy& hierarchy, const std::string& where) {
    const char* type = hierarchy.v2 ? "cgroup2" : "cgroup";
    const char* options = hierarchy.options.empty() ? nullptr : hierarchy.options.c_str();
    need(::mount(type, where.c_str(), type, MS_NOSUID | MS_NODEV | MS_NOEXEC, options) == 0,
         "cannot mount the cgroup hierarchy " + hierarchy.name);
}

FleetCgroups::FleetCgroups(const std::string& folder, const std::string& fleet) {
    for (const auto& hierarchy : hierarchies()) {
        const std::string mounted = folder + "/" + hierarchy.name;
        make_folder(mounted);
        mount_hierarchy(hierarchy, mounted);
        roots_.push_back(mounted + "/" + fleet);
        make_folder(roots_.back());
    }
    errno = 0;
    need(!roots_.empty(), "this machine has no cgroups");
}

void FleetCgroups::add(const std::string& host, int pid) {
    for (const auto& root : roots_) {
        make_folder(root + "/" + host);
        write_file(root + "/" + host + "/cgroup.procs", std::to_string(pid));
    }
}

void FleetCgroups::thaw() const {
    for (const auto& root : roots_) simulated::thaw(root);
}

void FleetCgroups::remove() {
    for (const auto& root : roots_) remove_tree(root);
    roots_.clear();
}

}  // namespace cleanslate::simulated
