#include "controller/sweep_lock.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <filesystem>

#include "base/text.hpp"
#include "controller/files.hpp"

namespace cleanslate::controller {
namespace {

// FNV-1a: tells inventories apart, and the same everywhere.
std::string hash_of(std::string_view text) {
    std::uint64_t hash = 14'695'981'039'346'656'037u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211u;
    return fmt::format("{:016x}", hash);
}

std::string holder_text(const std::string& inventory, const Actor& actor) {
    std::string who = printable(actor.login.empty() ? actor.user : actor.login);
    if (!actor.from.empty()) who += "@" + printable(actor.from);
    return fmt::format("pid {}, {}, since {}\n{}\n", actor.pid, who, rfc3339(std::time(nullptr)),
                       printable(inventory));
}

// The first line. Who has just taken the lock has not written it yet.
std::string read_holder(int fd) {
    char text[512];
    const ssize_t got = ::pread(fd, text, sizeof text, 0);
    const std::string_view whole(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    const std::string line = printable(whole.substr(0, whole.find('\n')));
    return line.empty() ? "a process that has just begun" : line;
}

std::unexpected<Error> unusable(const std::string& path, int error) {
    return fail("write", fmt::format("the lock of --exclusive: {}: {}", printable(path), reason(error)));
}

}  // namespace

Result<SweepLock> SweepLock::take(const std::string& folder, const std::string& inventory,
                                  const Actor& actor) {
    const std::string path = folder + "/" + hash_of(inventory) + ".lock";
    if (auto made = make_parents(path); !made) return std::unexpected(made.error());
    FileHandle file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (!file.valid()) return unusable(path, errno);
    struct stat what {};
    if (::fstat(file.get(), &what) != 0) return unusable(path, errno);
    if (!S_ISREG(what.st_mode)) return fail("write", printable(path) + " is no regular file");
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return unusable(path, errno);
        return fail("locked",
                    fmt::format("another sweep of {} is under way ({}): nothing was contacted",
                                printable(inventory), read_holder(file.get())),
                    "wait for its end, or end it; without --exclusive two sweeps may overlap");
    }
    // Who holds it is told where it can be; a full disk does not keep a lock from being held.
    if (::ftruncate(file.get(), 0) == 0)
        static_cast<void>(write_all(file.get(), holder_text(inventory, actor)));
    return SweepLock(std::move(file), path);
}

std::string default_lock_folder(const Environment& environment) {
    const std::string audit = default_audit_file(environment);
    if (audit.empty()) return {};
    return std::filesystem::path(audit).parent_path().string() + "/locks";
}

}  // namespace cleanslate::controller
