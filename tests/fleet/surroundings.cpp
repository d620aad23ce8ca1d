#include "tests/fleet/surroundings.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

constexpr const char* stand_ins[] = {"systemctl", "docker",  "podman", "scancel", "nvidia-cuda-mps-control",
                                     "reboot",    "shutdown"};

void set_owner_and_age(const std::string& path, const ShmSpec& file, long ahead_s) {
    const uid_t owner = find_user(file.owner)->uid;
    need(::chown(path.c_str(), owner, owner) == 0, "chown " + path);
    timespec times[2]{};
    ::clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec += ahead_s - file.age_s;
    times[1] = times[0];
    need(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0, "utimensat " + path);
}

}  // namespace

void write_session(const SessionSpec& session, pid_t leader) {
    const std::string uid = std::to_string(find_user(session.user)->uid);
    const std::string number = std::to_string(leader > 0 ? leader : 999'999);
    write_file(
        "/run/systemd/sessions/" + session.id,
        "# This is private data. Do not parse.\nUID=" + uid + "\nUSER=" + session.user + "\nACTIVE=" +
            (session.alive ? "1" : "0") + "\nIS_DISPLAY=0\nSTATE=" + (session.alive ? "active" : "closing") +
            "\nREMOTE=1\nSTOPPING=0\nTYPE=tty\nORIGINAL_TYPE=tty\nCLASS=user\nSCOPE=session-" + session.id +
            ".scope\nREMOTE_HOST=192.0.2.7\nSERVICE=sshd\nLEADER=" + number + "\nAUDIT=" + session.id + "\n");
}

void make_shm(const Host& host, const std::string& dev) {
    for (const auto& file : host.shm) {
        const std::string path = dev + "/shm/" + file.name;
        write_file(path, "", 0600);
        need(::truncate(path.c_str(), file.bytes) == 0, "truncate " + path);
        set_owner_and_age(path, file, host.clock_ahead_s());
    }
}

void make_stand_ins(const Host& host, const std::string& local, const std::string& programs) {
    copy_file(programs + "/simcontrol", local + "/simcontrol", 0755);
    for (const std::string name : stand_ins) {
        // A described process may be called so: simworker hands on what is no part of its own.
        if (::access((local + "/" + name).c_str(), F_OK) == 0) continue;
        need(::link((local + "/simcontrol").c_str(), (local + "/" + name).c_str()) == 0, "link " + name);
    }
    if (const long ahead = host.clock_ahead_s(); ahead > 0)
        write_file(
            local + "/date",
            "#!/bin/sh\nPATH=/usr/bin:/bin exec date -d '" + std::to_string(ahead) + " seconds' \"$@\"\n",
            0755);
    errno = 0;
}

void cover_machine_programs() {
    for (const std::string name : stand_ins)
        for (const std::string folder : {"/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/"})
            if (::access((folder + name).c_str(), F_OK) == 0)
                need(::mount("/usr/local/bin/simcontrol", (folder + name).c_str(), nullptr, MS_BIND,
                             nullptr) == 0,
                     "cannot cover " + folder + name);
    errno = 0;
}

void set_clock_ahead(const Host& host, const std::string& file) {
    const long ahead = host.clock_ahead_s();
    if (ahead == 0) return;
    std::string text;
    for (const auto& line : split(read_file("/proc/stat").value_or(""), '\n')) {
        const auto booted = line.starts_with("btime ") ? to_number(line.substr(6)) : std::nullopt;
        text += (booted ? "btime " + std::to_string(*booted + ahead) : line) + "\n";
    }
    write_file(file, text, 0444);
    need(::mount(file.c_str(), "/proc/stat", nullptr, MS_BIND, nullptr) == 0, "cannot mount over /proc/stat");
}

}  // namespace cleanslate::simulated
