#include "agentless/ssh/host_keys.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "agentless/ssh/wire.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::size_t max_known_hosts = 256u << 20;

std::unexpected<Error> not_believed(std::string kind, std::string message, std::string remedy) {
    return std::unexpected(Error{std::move(kind), "host-key", std::move(message), std::move(remedy)});
}

std::string describe(std::string_view blob) {
    return fmt::format("{} {}", printable(ellipsize(key_type(blob), 60)), fingerprint(blob));
}

std::unexpected<Error> unknown_key(std::string_view host, std::uint16_t port, std::string_view blob,
                                   const std::string& file) {
    return not_believed(
        "host_key_unknown", fmt::format("its host key {} is in no known_hosts file", describe(blob)),
        fmt::format(
            "compare the fingerprint, then: ssh-keyscan -p {} {} >> {}; or use --host-key-check accept-new",
            port, printable(host), printable(file)));
}

std::unexpected<Error> other_type(std::string_view host, std::uint16_t port, std::string_view blob,
                                  const KnownKey& key) {
    return not_believed("host_key_unknown",
                        fmt::format("it showed the host key {}, while only a key of type {} is known ({})",
                                    describe(blob), printable(ellipsize(key.type, 60)), printable(key.place)),
                        fmt::format("compare the fingerprint, then add what ssh-keyscan -p {} {} prints",
                                    port, printable(host)));
}

std::unexpected<Error> changed_key(const std::string& name, std::string_view blob, std::string_view old,
                                   std::string_view place) {
    return not_believed(
        "host_key_changed",
        fmt::format("its host key has changed: now {}, known is {} ({})", describe(blob), fingerprint(old),
                    printable(place)),
        fmt::format("if the host was reinstalled: ssh-keygen -R '{}'; if not, somebody may be in between",
                    printable(name)));
}

std::unexpected<Error> revoked_key(std::string_view blob, const KnownKey& key) {
    return not_believed("host_key_revoked",
                        fmt::format("its host key {} is revoked ({})", describe(blob), printable(key.place)),
                        "do not log in there until the host has a new key");
}

// Appends one line with one write, after a newline where the file does not end in one.
Status append_line(const std::string& file, std::string line) {
    const auto failed = [&] { return fail("known_hosts", printable(file) + ": " + std::strerror(errno)); };
    const std::string folder = file.substr(0, file.rfind('/') + 1);
    if (!folder.empty()) ::mkdir(folder.c_str(), 0700);  // ~/.ssh; whatever is wrong with it shows next
    const int fd = ::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return failed();
    struct Close {
        int fd;
        ~Close() { ::close(fd); }
    } const close{fd};
    char last = '\n';
    struct stat status {};
    if (fstat(fd, &status) != 0) return failed();
    if (status.st_size > 0 && pread(fd, &last, 1, status.st_size - 1) < 0) return failed();
    if (last != '\n') line.insert(0, "\n");
    if (::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return failed();
    return {};
}

}  // namespace

Result<std::unique_ptr<HostKeys>> HostKeys::load(const SshOptions& options) {
    std::unique_ptr<HostKeys> keys(new HostKeys);
    const auto settings = settings_for(Endpoint{}, options, SshConfig());
    if (!settings) return std::unexpected(settings.error());
    const auto known = keys->find(*settings);
    if (!known) return std::unexpected(known.error());
    return keys;
}

Result<const KnownHosts*> HostKeys::files(const std::vector<std::string>& names) {
    const auto known = known_.find(names);
    if (known != known_.end()) return known->second.get();
    auto index = std::make_unique<KnownHosts>();
    for (const std::string& file : names) {
        struct stat status {};
        if (stat(file.c_str(), &status) != 0 && errno == ENOENT) continue;
        const auto text = read_file(file, max_known_hosts);
        if (!text)
            return std::unexpected(
                Error{"known_hosts", "host-key", text.error().message, text.error().remedy});
        index->read(*text, file);
    }
    notes_.insert(notes_.end(), index->notes().begin(), index->notes().end());
    return known_.emplace(names, std::move(index)).first->second.get();
}

Result<KnownKeys> HostKeys::find(const HostSettings& settings) {
    std::vector<std::string> names = settings.user_known_hosts;
    names.insert(names.end(), settings.global_known_hosts.begin(), settings.global_known_hosts.end());
    const std::lock_guard lock(mutex_);
    const auto index = files(names);
    if (!index) return std::unexpected(index.error());
    return (*index)->find(settings.host_name, settings.port);
}

Status HostKeys::check(const HostSettings& settings, const KnownKeys& known, std::string_view blob) {
    const std::string name = known_hosts_name(settings.host_name, settings.port);
    const std::string file = settings.user_known_hosts.empty() ? "" : settings.user_known_hosts.front();
    const HostKeyMatch match = match_host_key(known, blob);
    switch (match.answer) {
        case HostKeyMatch::Answer::known:
            return {};
        case HostKeyMatch::Answer::revoked:
            return revoked_key(blob, *match.key);
        case HostKeyMatch::Answer::changed:
            if (settings.host_keys == HostKeyPolicy::off) return {};
            return changed_key(name, blob, match.key->blob, match.key->place);
        case HostKeyMatch::Answer::other_type:
            if (settings.host_keys == HostKeyPolicy::off) return {};
            return other_type(settings.host_name, settings.port, blob, *match.key);
        case HostKeyMatch::Answer::unknown:
            break;
    }
    if (settings.host_keys == HostKeyPolicy::off) return {};
    if (settings.host_keys == HostKeyPolicy::strict)
        return unknown_key(settings.host_name, settings.port, blob, file);
    return accept(name, file, blob);
}

Status HostKeys::accept(const std::string& name, const std::string& file, std::string_view blob) {
    const std::lock_guard lock(mutex_);
    const auto [entry, is_new] = accepted_.emplace(name, blob);
    if (!is_new) {
        if (entry->second == blob) return {};
        return changed_key(name, blob, entry->second, "accepted a moment ago");
    }
    // A name that would make two fields, a pattern or a comment of itself is believed, not written.
    const std::string type(key_type(blob));
    const bool writable =
        (name + type).find_first_of(" \t\r\n,*?!#|") == std::string::npos && !name.starts_with('@');
    const auto written = writable
                             ? append_line(file, fmt::format("{} {} {}\n", name, type, encode_base64(blob)))
                             : Status(fail("known_hosts", printable(name) + " cannot stand in known_hosts"));
    if (!written) notes_.push_back("a new host key was not written down: " + written.error().message);
    return {};
}

std::vector<std::string> HostKeys::notes() const {
    const std::lock_guard lock(mutex_);
    return notes_;
}

}  // namespace cleanslate::agentless::ssh
