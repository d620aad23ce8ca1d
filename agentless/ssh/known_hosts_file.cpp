#include "agentless/ssh/known_hosts_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "agentless/ssh/known_hosts.hpp"
#include "agentless/ssh/wire.hpp"
#include "base/result.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

using namespace std::chrono_literals;
using Time = std::chrono::steady_clock::time_point;

constexpr auto lock_wait = 3s;
constexpr auto lock_pause = 10ms;
constexpr int max_replaced = 10;  // so often the file may be replaced under our hands
constexpr std::size_t names_shown = 200;

struct File {
    int fd = -1;
    explicit File(int opened) : fd(opened) {}
    ~File() {
        if (fd >= 0) ::close(fd);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
};

std::unexpected<Error> failed(int error) { return fail("known_hosts", std::strerror(error)); }

// A file system that knows no locks is written to without: one write at the end loses nobody's line either.
Status lock(int fd) {
    const Time until = std::chrono::steady_clock::now() + lock_wait;
    while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return {};
        if (std::chrono::steady_clock::now() > until)
            return fail("known_hosts", "another program keeps it locked");
        std::this_thread::sleep_for(lock_pause);
    }
    return {};
}

// ssh-keygen -R, and ssh where it learns of new keys, put another file in its place.
bool is_still(int fd, const std::string& file) {
    struct stat opened {
    }, named{};
    return ::fstat(fd, &opened) == 0 && ::stat(file.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

Result<std::string> whole_text(int fd) {
    std::string text;
    char buffer[1 << 16];
    for (;;) {
        const ssize_t count = ::pread(fd, buffer, sizeof buffer, static_cast<off_t>(text.size()));
        if (count == 0) return text;
        if (count < 0) return failed(errno);
        text.append(buffer, static_cast<std::size_t>(count));
    }
}

std::string line_of(const NewHostKey& key) {
    std::string name = key.name;
    char salt[20];
    if (key.hashed && ::getentropy(salt, sizeof salt) == 0)
        name = hashed_name(key.name, std::string_view(salt, sizeof salt));
    return fmt::format("{} {} {}\n", name, key_type(key.blob), encode_base64(key.blob));
}

// The lines to add to what the file says now.
std::string lines_to_add(const KnownHosts& there, const std::string& file,
                         const std::vector<NewHostKey>& keys, Unwritten& unwritten) {
    std::string lines;
    for (const NewHostKey& key : keys) {
        const KnownKeys known = there.find(key.name, 22);  // the name has its port in it
        const auto is_ours = [&](const KnownKey* other) {
            return std::ranges::any_of(keys, [&](const NewHostKey& ours) {
                return ours.name == key.name && ours.blob == other->blob;
            });
        };
        const auto disagrees = [&](const KnownKey* other) {
            return other->role == KnownKey::Role::host
                       ? !is_ours(other)
                       : other->role == KnownKey::Role::revoked && other->blob == key.blob;
        };
        const auto other = std::ranges::find_if(known.keys, disagrees);
        if (other != known.keys.end()) {
            unwritten.push_back(fmt::format(
                "the key of {} ({}) was believed, and by now {}:{} {} {}: find out which one is right",
                printable(key.name), fingerprint(key.blob), printable(file), (*other)->line,
                (*other)->role == KnownKey::Role::revoked ? "revokes" : "has", fingerprint((*other)->blob)));
        } else if (std::ranges::none_of(known.keys,
                                        [&](const KnownKey* same) { return same->blob == key.blob; })) {
            lines += line_of(key);
        }
    }
    return lines;
}

// All of it or nothing.
Status append(int fd, const std::string& lines) {
    struct stat before {};
    if (::fstat(fd, &before) != 0) return failed(errno);
    const ssize_t count = ::write(fd, lines.data(), lines.size());
    if (count < 0) return failed(errno);
    if (static_cast<std::size_t>(count) == lines.size()) {
        if (::fdatasync(fd) != 0 && errno != EINVAL && errno != ENOSYS) return failed(errno);
        return {};
    }
    // A full disk took a part. A line that is cut in the middle of a key must not stay.
    struct stat after {};
    if (::fstat(fd, &after) == 0 && after.st_size == before.st_size + count &&
        ::ftruncate(fd, before.st_size) != 0)
        return failed(errno);
    return failed(ENOSPC);
}

// At the end of the file, by one write under a lock. Not by a new file that is renamed over it: ssh appends
// its lines without any lock, and one that came between our reading and our rename would be lost; so would a
// symbolic link. A write at the end (O_APPEND) can lose nothing. False: the file was replaced meanwhile, and
// what was written went with it.
Result<bool> try_append(const std::string& file, const std::vector<NewHostKey>& keys, Unwritten& unwritten) {
    const File opened(
        ::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600));
    if (opened.fd < 0) return failed(errno);
    struct stat status {};
    if (::fstat(opened.fd, &status) != 0) return failed(errno);
    if (S_ISCHR(status.st_mode)) return true;  // /dev/null
    if (!S_ISREG(status.st_mode)) return fail("known_hosts", "it is no regular file");
    if (auto locked = lock(opened.fd); !locked) return std::unexpected(locked.error());
    if (!is_still(opened.fd, file)) return false;
    const auto text = whole_text(opened.fd);
    if (!text) return std::unexpected(text.error());
    KnownHosts there;
    there.read(*text, file);
    unwritten.clear();
    std::string lines = lines_to_add(there, file, keys, unwritten);
    if (lines.empty()) return true;
    if (!text->empty() && text->back() != '\n') lines.insert(0, "\n");
    if (auto appended = append(opened.fd, lines); !appended) return std::unexpected(appended.error());
    return is_still(opened.fd, file);
}

std::string names_of(const std::vector<NewHostKey>& keys) {
    std::string names;
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (i == 0 || keys[i].name != keys[i - 1].name) names += (i == 0 ? "" : ", ") + keys[i].name;
    return printable(ellipsize(names, names_shown));
}

}  // namespace

Unwritten append_host_keys(const std::string& file, const std::vector<NewHostKey>& keys) {
    if (keys.empty()) return {};
    const auto not_written = [&](std::string_view why) {
        return Unwritten{fmt::format("new host keys were not written down: {}: {} ({})",
                                     file.empty() ? "no known_hosts file is configured" : printable(file),
                                     why, names_of(keys))};
    };
    if (file.empty()) return not_written("nowhere to write to");
    const auto slash = file.rfind('/');
    if (slash != 0 && slash != file.npos) ::mkdir(file.substr(0, slash).c_str(), 0700);  // ~/.ssh
    for (int i = 0; i < max_replaced; ++i) {
        Unwritten unwritten;
        const auto done = try_append(file, keys, unwritten);
        if (!done) return not_written(done.error().message);
        if (*done) return unwritten;
    }
    return not_written("it is replaced again and again");
}

bool is_known_hosts_name(std::string_view name) {
    return !name.empty() && name.find_first_of(" \t\r\n,*?!#|") == name.npos && name.front() != '@';
}

}  // namespace cleanslate::agentless::ssh
