#include "agentless/ssh/host_keys.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "agentless/ssh/host_key_errors.hpp"
#include "agentless/ssh/known_hosts_file.hpp"
#include "agentless/ssh/wire.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::size_t max_known_hosts = 256u << 20;
constexpr std::string_view no_file = "none";  // UserKnownHostsFile none
constexpr std::size_t changes_shown = 20;     // in hosts

std::string file_of(const HostSettings& settings) {
    const bool none = settings.user_known_hosts.empty() || settings.user_known_hosts.front() == no_file;
    return none ? std::string() : settings.user_known_hosts.front();
}

}  // namespace

std::string known_hosts_name(const HostSettings& settings) {
    const std::string& alias = settings.host_key_alias;
    std::string name = alias.empty() ? known_hosts_name(settings.host_name, settings.port) : alias;
    for (char& letter : name)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return name;
}

Result<std::unique_ptr<HostKeys>> HostKeys::load(const SshOptions& options) {
    std::unique_ptr<HostKeys> keys(new HostKeys);
    const auto settings = settings_for(Endpoint{}, options, SshConfig());
    if (!settings) return std::unexpected(settings.error());
    const auto known = keys->find(*settings);
    if (!known) return std::unexpected(known.error());
    return keys;
}

HostKeys::~HostKeys() { write_down(); }

Result<const KnownHosts*> HostKeys::files(const std::vector<std::string>& names) {
    const auto known = known_.find(names);
    if (known != known_.end()) return known->second.get();
    auto index = std::make_unique<KnownHosts>();
    for (const std::string& file : names) {
        if (file == no_file) continue;
        struct stat status {};
        if (stat(file.c_str(), &status) != 0 && errno == ENOENT) continue;
        const auto text = read_file(file, max_known_hosts);
        if (!text)
            return std::unexpected(
                Error{"known_hosts", "host-key", text.error().message, text.error().remedy});
        index->read(*text, file);
    }
    for (const std::string& note : index->notes())
        if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(note);
    return known_.emplace(names, std::move(index)).first->second.get();
}

Result<KnownKeys> HostKeys::find(const HostSettings& settings) {
    std::vector<std::string> names = settings.user_known_hosts;
    names.insert(names.end(), settings.global_known_hosts.begin(), settings.global_known_hosts.end());
    const auto index = [&] {
        const std::lock_guard lock(mutex_);
        return files(names);
    }();
    if (!index) return std::unexpected(index.error());
    // Without the lock: an index does not change, and hashed names take their time.
    if (!settings.host_key_alias.empty()) return (*index)->find(settings.host_key_alias, 22);
    return (*index)->find(settings.host_name, settings.port);
}

Status HostKeys::check(const HostSettings& settings, const KnownKeys& known, std::string_view blob) {
    const HostKeyMatch match = match_host_key(known, blob);
    const bool is_revoked = match.answer == HostKeyMatch::Answer::revoked;
    if (settings.host_keys == HostKeyPolicy::off && !is_revoked) {
        let_pass(settings, match, blob);
        return {};
    }
    if (match.answer == HostKeyMatch::Answer::known) return {};
    if (match.answer != HostKeyMatch::Answer::unknown)
        return std::unexpected(host_key_error(settings, match, blob));
    return accept(settings, blob);
}

Status HostKeys::accept(const HostSettings& settings, std::string_view blob) {
    const std::lock_guard lock(mutex_);
    auto entry = believed_.find({file_of(settings), known_hosts_name(settings)});
    if (entry == believed_.end()) {
        if (settings.host_keys != HostKeyPolicy::accept_new)
            return std::unexpected(host_key_error(settings, {}, blob));
        entry = believed_.emplace(Place(file_of(settings), known_hosts_name(settings)), Believed{}).first;
        entry->second.blobs.emplace_back(blob);
        entry->second.hashed = settings.hash_known_hosts;
    }
    const std::vector<std::string>& blobs = entry->second.blobs;
    if (std::ranges::find(blobs, blob) != blobs.end()) return {};
    return std::unexpected(changed_meanwhile(blob, blobs.front()));
}

void HostKeys::let_pass(const HostSettings& settings, const HostKeyMatch& match, std::string_view blob) {
    const bool changed =
        match.answer == HostKeyMatch::Answer::changed || match.answer == HostKeyMatch::Answer::other_type;
    const std::lock_guard lock(mutex_);
    unchecked_.insert(settings.alias);
    if (changed) changed_.emplace(settings.alias, changed_unchecked(settings, *match.key, blob));
}

void HostKeys::believe(const HostSettings& settings, std::string_view blob) {
    const std::lock_guard lock(mutex_);
    Believed& believed = believed_[{file_of(settings), known_hosts_name(settings)}];
    believed.hashed = settings.hash_known_hosts;
    if (std::ranges::find(believed.blobs, blob) == believed.blobs.end()) believed.blobs.emplace_back(blob);
}

std::vector<std::string> HostKeys::write_down() {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::vector<NewHostKey>> by_file;
    std::vector<std::string> unwritten;
    for (auto& [place, believed] : believed_) {
        const auto& [file, name] = place;
        if (believed.written == believed.blobs.size()) continue;
        believed.written = believed.blobs.size();
        // All of a name at once, also those that stand there already: they are no strangers there.
        for (const std::string& blob : believed.blobs) {
            if (is_known_hosts_name(name) && is_known_hosts_name(key_type(blob)))
                by_file[file].push_back({name, blob, believed.hashed});
            else
                unwritten.push_back("a new host key was not written down: " + printable(name) +
                                    " cannot stand in known_hosts");
        }
    }
    for (const auto& [file, keys] : by_file)
        for (std::string& why : append_host_keys(file, keys)) unwritten.push_back(std::move(why));
    notes_.insert(notes_.end(), unwritten.begin(), unwritten.end());
    return unwritten;
}

std::vector<std::string> HostKeys::unchecked() const {
    const std::lock_guard lock(mutex_);
    return {unchecked_.begin(), unchecked_.end()};
}

std::vector<std::string> HostKeys::notes() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> notes = notes_;
    std::size_t shown = 0;
    for (const auto& [host, note] : changed_)
        if (shown++ < changes_shown) notes.push_back(note);
    if (shown > changes_shown)
        notes.push_back(fmt::format("{} more hosts showed another key than the one that is known",
                                    shown - changes_shown));
    return notes;
}

}  // namespace cleanslate::agentless::ssh
