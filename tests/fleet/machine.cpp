#include "tests/fleet/machine.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

#include "tests/fleet/cgroups.hpp"
#include "tests/fleet/kernel_view.hpp"
#include "tests/fleet/surroundings.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

void bind(const std::string& from, const std::string& to) {
    need(::mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) == 0, "cannot mount over " + to);
}

void make_device(const std::string& path, unsigned minor_number, unsigned major_number = 1) {
    need(::mknod(path.c_str(), S_IFCHR | 0666, makedev(major_number, minor_number)) == 0, "mknod " + path);
    need(::chmod(path.c_str(), 0666) == 0, "chmod " + path);
}

void make_dev(const Host& host, const std::string& dev) {
    make_folder(dev);
    make_device(dev + "/null", 3);
    make_device(dev + "/zero", 5);
    make_device(dev + "/full", 7);
    make_device(dev + "/random", 8);
    make_device(dev + "/urandom", 9);
    make_device(dev + "/tty", 0, 5);
    if (host.needs_wedge()) make_device(dev + "/fuse", 229, 10);
    make_folder(dev + "/shm", 01777);
    make_folder(dev + "/pts");
    for (const auto& [name, target] :
         {std::pair{"ptmx", "pts/ptmx"}, std::pair{"fd", "/proc/self/fd"},
          std::pair{"stdin", "/proc/self/fd/0"}, std::pair{"stdout", "/proc/self/fd/1"},
          std::pair{"stderr", "/proc/self/fd/2"}})
        need(::symlink(target, (dev + "/" + name).c_str()) == 0, std::string("symlink /dev/") + name);
    make_gpu_files(host, dev);
    make_shm(host, dev);
}

std::string shell_path(const Host& host) {
    if (host.shell[0] == '/') return host.shell;
    return "/usr/local/bin/" + host.shell.substr(host.shell.rfind('/') + 1);
}

void make_accounts(const Host& host, const std::string& etc) {
    make_folder(etc);
    std::string passwd;
    std::string group = "tty:x:5:\nnogroup:x:65533:\n";
    std::string shadow;
    for (const auto& user : users()) {
        const std::string name = user.name;
        const bool person = user.uid >= 1000 && user.uid < 60000;
        const std::string id = std::to_string(user.uid);
        const std::string home = user.uid == 0 ? "/root" : person ? "/home/" + name : "/nonexistent";
        const std::string shell = user.uid == 0 ? shell_path(host) : person ? "/bin/sh" : "/usr/sbin/nologin";
        passwd +=
            name + ":x:" + id + ":" + id + "::" + (name == "sshd" ? "/run/sshd" : home) + ":" + shell + "\n";
        group += name + ":x:" + id + ":\n";
        shadow += name + ":*:20000:0:99999:7:::\n";
    }
    write_file(etc + "/passwd", passwd);
    write_file(etc + "/group", group);
    write_file(etc + "/shadow", shadow, 0600);
    write_file(etc + "/hostname", host.name + "\n");
}

void make_home(const std::string& home, const User& user, const std::string& public_key) {
    make_folder(home + "/.ssh", 0700);
    write_file(home + "/.ssh/authorized_keys", public_key, 0600);
    for (const auto& path : {home, home + "/.ssh", home + "/.ssh/authorized_keys"})
        need(::chown(path.c_str(), user.uid, user.uid) == 0, "chown " + path);
    need(::chmod(home.c_str(), 0700) == 0, "chmod " + home);
}

void make_homes(const Host& host, const std::string& stage, const std::string& public_key) {
    for (const auto& user : users()) {
        if (user.uid == 0) make_home(stage + "/root", user, public_key);
        if (user.uid >= 1000 && user.uid < 60000) make_home(stage + "/home/" + user.name, user, public_key);
    }
    if (!host.bashrc.empty()) copy_file(host.folder + "/" + host.bashrc, stage + "/root/.bashrc", 0644);
}

// Each executable of the description is simworker under that name: a hard link, or the user's own file at
// home.
void make_programs(const Host& host, const std::string& stage, const std::string& programs) {
    make_folder(stage + "/opt");
    make_folder(stage + "/local");
    if (host.driver == "not-runnable")
        write_file(stage + "/local/nvidia-smi", "#!/no/such/interpreter\n", 0755);
    else if (host.driver != "missing")
        copy_file(programs + "/nvidia-smi", stage + "/local/nvidia-smi", 0755);
    if (host.shell[0] != '/')
        copy_file(host.folder + "/" + host.shell,
                  stage + "/local/" + host.shell.substr(host.shell.rfind('/') + 1), 0755);
    copy_file(programs + "/simworker", stage + "/simworker", 0755);
    for (const auto& process : host.processes) {
        std::string place;
        if (process.exe.starts_with("/opt/")) place = stage + process.exe;
        if (process.exe.starts_with("/usr/local/bin/")) place = stage + "/local" + process.exe.substr(14);
        if (process.exe.starts_with("/home/")) {
            make_folder(folder_of(stage + process.exe));
            copy_file(programs + "/simworker", stage + process.exe, 0755);
            const uid_t owner = find_user(process.user)->uid;
            need(::chown((stage + process.exe).c_str(), owner, owner) == 0, "chown " + process.exe);
        }
        if (place.empty() || ::access(place.c_str(), F_OK) == 0) continue;
        make_folder(folder_of(place));
        need(::link((stage + "/simworker").c_str(), place.c_str()) == 0, "link " + place);
    }
    make_stand_ins(host, stage + "/local", programs);
    errno = 0;
}

void make_run(const Host& host, const std::string& run, const Luggage& luggage) {
    make_folder(run + "/sshd");
    make_folder(run + "/lock", 01777);
    make_folder(run + "/simhost");
    if (host.systemd) {
        make_folder(run + "/systemd/system");
        make_folder(run + "/systemd/sessions");
    }
    write_file(run + "/simhost/host", "name " + host.name + "\n" + host.text);
    write_file(run + "/simhost/started", "", 0666);
    copy_file(luggage.host_key, run + "/simhost/host_key", 0600);
    std::string options;  // of two lines on one option sshd takes the first
    for (const auto& line : host.sshd) options += line + "\n";
    write_file(
        run + "/simhost/sshd_config",
        options + "Port " + std::to_string(luggage.port) + "\nListenAddress " + luggage.address +
            "\nHostKey /run/simhost/host_key\nPidFile /run/sshd.pid\nPermitRootLogin prohibit-password\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\nUseDNS no\nPrintMotd no\n"
            "AuthorizedKeysFile .ssh/authorized_keys\nAcceptEnv LANG LC_*\nLogLevel VERBOSE\n"
            "Subsystem sftp internal-sftp\n");
}

void mount_own_proc(const std::string& stage) {
    need(::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0,
         "cannot mount /proc");
    bind(stage + "/driver", "/proc/driver");
    std::string id = read_file("/proc/sys/kernel/random/uuid").value_or("");
    write_file(stage + "/boot_id", id, 0444);
    bind(stage + "/boot_id", "/proc/sys/kernel/random/boot_id");
}

// A machine without PCI gets a bus folder with nothing else in it.
void mount_own_pci(const std::string& stage) {
    if (::access("/sys/bus/pci", F_OK) == 0) return bind(stage + "/bus/pci", "/sys/bus/pci");
    errno = 0;
    bind(stage + "/bus", "/sys/bus");
}

void mount_own_cgroups(const std::string& stage) {
    const auto all = hierarchies();
    if (all.size() == 1 && all[0].alone) return mount_hierarchy(all[0], "/sys/fs/cgroup");
    make_folder(stage + "/cgroup");
    for (const auto& hierarchy : all) {
        make_folder(stage + "/cgroup/" + hierarchy.name);
        mount_hierarchy(hierarchy, stage + "/cgroup/" + hierarchy.name);
    }
    need(::mount((stage + "/cgroup").c_str(), "/sys/fs/cgroup", nullptr, MS_BIND | MS_REC, nullptr) == 0,
         "cannot mount over /sys/fs/cgroup");
}

}  // namespace

void furnish(const Host& host, const Luggage& luggage) {
    const std::string& stage = luggage.stage;
    need(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "cannot make mounts private");
    need(::mount("simhost", stage.c_str(), "tmpfs", MS_NOSUID, "mode=0755") == 0, "cannot mount a tmpfs");
    ::umask(022);
    make_dev(host, stage + "/dev");
    make_driver(host, stage + "/driver");
    make_pci(host, stage + "/bus/pci");
    make_accounts(host, stage + "/etc");
    make_homes(host, stage, luggage.public_key);
    make_programs(host, stage, luggage.programs);
    make_run(host, stage + "/run", luggage);
    make_folder(stage + "/tmp", 01777);
    make_folder(stage + "/log");
    mount_own_proc(stage);
    set_clock_ahead(host, stage + "/stat");
    mount_own_pci(stage);
    mount_own_cgroups(stage);
    for (const char* name : {"passwd", "group", "shadow", "hostname"})
        if (::access((std::string("/etc/") + name).c_str(), F_OK) == 0)
            bind(stage + "/etc/" + name, std::string("/etc/") + name);
    need(::sethostname(host.name.c_str(), host.name.size()) == 0, "sethostname");
    // The stage may lie below any of these: they are mounted through a descriptor.
    const std::pair<const char*, const char*> covers[] = {
        {"dev", "/dev"},   {"run", "/run"},   {"opt", "/opt"},     {"local", "/usr/local/bin"},
        {"home", "/home"}, {"root", "/root"}, {"log", "/var/log"}, {"tmp", "/tmp"}};
    const Fd base(::open(stage.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    need(static_cast<bool>(base), "open " + stage);
    const std::string opened = "/proc/self/fd/" + std::to_string(base.get());
    for (const auto& [from, to] : covers) bind(opened + "/" + from, to);
    cover_machine_programs();
    need(::umount2(opened.c_str(), MNT_DETACH) == 0, "umount " + stage);
    need(::mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
                 "newinstance,ptmxmode=0666,mode=620,gid=5") == 0,
         "cannot mount /dev/pts");
    errno = 0;
}

}  // namespace cleanslate::simulated
