// Which files of /dev/shm a `clean_shm:` step removes.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "agentless/process_name.hpp"
#include "agentless/resets.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

constexpr std::size_t most_files = 1000;
constexpr std::size_t most_kept = 1000;  // that are named
constexpr std::uint32_t first_ordinary_uid = 1000;

// A shell pattern of `*` and `?` against a whole name. As in a shell, a point at the beginning is only met by
// one. One way back is enough: what an earlier `*` could take, the last one can.
bool fits_pattern(std::string_view pattern, std::string_view name) {
    if (name.starts_with('.') && !pattern.starts_with('.')) return false;
    std::size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::string owner(const ShmFile& file) {
    return file.user.empty() ? fmt::format("uid {}", file.uid) : printable(file.user);
}

std::string duration(std::uint64_t seconds) {
    if (seconds < 60) return fmt::format("{} s", seconds);
    if (seconds < 3600) return fmt::format("{} min", seconds / 60);
    return seconds < 48 * 3600 ? fmt::format("{} h", seconds / 3600)
                               : fmt::format("{} days", seconds / (24 * 3600));
}

class Cleaner {
  public:
    Cleaner(const playbooks::CleanShmStep& step, const Evidence& evidence, const ChoicePolicy& policy)
        : step_(step), evidence_(evidence), policy_(policy), lineage_(evidence) {
        note_contexts();
        note_workers();
    }

    ShmChoice choose() {
        const auto everywhere = why_none();
        std::size_t unnamed = 0;
        for (const auto& file : *evidence_.shm) {
            if (!is_meant(file)) continue;
            auto why = everywhere ? everywhere : why_kept(file);
            if (!why && choice_.files.size() == most_files)
                why = fmt::format("{} files are enough at once: clear again", most_files);
            if (!why)
                choice_.files.push_back(file);
            else if (choice_.kept.size() < most_kept)
                choice_.kept.push_back({"/dev/shm/" + printable(file.name), std::move(*why)});
            else
                ++unnamed;
        }
        if (unnamed > 0)
            choice_.kept.push_back({fmt::format("{} more files", unnamed), "for such reasons as the others"});
        return std::move(choice_);
    }

  private:
    bool is_meant(const ShmFile& file) const;
    void note_contexts();
    void note_workers();
    std::optional<std::string> why_none() const;
    std::optional<std::string> why_kept(const ShmFile& file) const;
    std::optional<std::string> why_of_owner(const ShmFile& file) const;
    std::string place_of(const Process& process) const;

    const playbooks::CleanShmStep& step_;
    const Evidence& evidence_;
    const ChoicePolicy& policy_;
    const Lineage lineage_;
    std::unordered_map<Pid, std::string> contexts_;  // "GPU 2", by who has one there
    std::map<std::uint32_t, std::string> workers_;   // "pid 812 at GPU 2", by uid
    std::optional<std::string> ownerless_worker_;    // of a uid that could not be read
    ShmChoice choice_;
};

bool Cleaner::is_meant(const ShmFile& file) const {
    return !file.name.empty() && file.name.find('/') == std::string::npos &&
           std::ranges::any_of(step_.names,
                               [&](const std::string& pattern) { return fits_pattern(pattern, file.name); });
}

void Cleaner::note_contexts() {
    for (const auto& app : evidence_.apps) {
        if (!app.pid) continue;
        const auto row = std::ranges::find_if(evidence_.gpus, [&](const GpuRow& gpu) {
            return gpu.index && !gpu.uuid.empty() && gpu.uuid == app.uuid;
        });
        contexts_.emplace(*app.pid, row == evidence_.gpus.end() ? std::string("a GPU")
                                                                : fmt::format("GPU {}", *row->index));
    }
}

// Where `process` works; empty: neither in a job nor at a GPU.
std::string Cleaner::place_of(const Process& process) const {
    if (const auto supervisor = supervisor_of(process, lineage_); supervisor.scheduled())
        return fmt::format("in {}", supervisor.name);
    if (const auto context = contexts_.find(process.key.pid); context != contexts_.end())
        return "at " + context->second;
    return process.opens_device() ? "with a GPU's device file open" : "";
}

void Cleaner::note_workers() {
    for (const auto& process : evidence_.processes) {
        if (has_ended(process) || process.kernel_thread) continue;
        if (process.uid && workers_.contains(*process.uid)) continue;
        const auto place = place_of(process);
        if (place.empty()) continue;
        const auto who = fmt::format("pid {} {}", process.key.pid, place);
        if (process.uid)
            workers_.emplace(*process.uid, who);
        else
            ownerless_worker_ = who;
    }
}

std::optional<std::string> Cleaner::why_none() const {
    if (!evidence_.root) return "others' processes cannot be read: log in as root";
    if (!evidence_.holders_visible || evidence_.proc_hides_others)
        return "not every process could be looked at, so who uses it is not known";
    if (policy_.consent != nullptr && policy_.consent->boot_id != evidence_.boot_id)
        return "the host has booted since the plan";
    return std::nullopt;
}

std::optional<std::string> Cleaner::why_of_owner(const ShmFile& file) const {
    const bool named = std::ranges::any_of(step_.user, [&](const std::string& user) {
        return (!file.user.empty() && user == file.user) || user == std::to_string(file.uid);
    });
    if (step_.user.empty() ? file.uid < first_ordinary_uid : !named)
        return fmt::format("it belongs to {}", owner(file));
    if (const auto worker = workers_.find(file.uid); worker != workers_.end())
        return fmt::format("{} still has {}", owner(file), worker->second);
    if (ownerless_worker_)
        return fmt::format("it may be {}'s: {}, whose owner could not be read", owner(file),
                           *ownerless_worker_);
    return std::nullopt;
}

std::optional<std::string> Cleaner::why_kept(const ShmFile& file) const {
    if (file.links != 1) return fmt::format("it has {} names", file.links);
    if (!file.users.empty()) {
        const Process* user = lineage_.find(file.users.front());
        return fmt::format("open or mapped in pid {}{}", file.users.front(),
                           user == nullptr ? "" : fmt::format(" ({})", printable(name_of(*user))));
    }
    if (auto why = why_of_owner(file)) return why;
    if (!file.age_s) return "its last change is in the future";
    const auto least = static_cast<std::uint64_t>((step_.older_than.count() + 999) / 1000);
    if (*file.age_s < least)
        return fmt::format("changed {} ago, the step wants {}", duration(*file.age_s), duration(least));
    if (policy_.consent != nullptr && !policy_.consent->files.contains({file.device, file.inode}))
        return "not in the plan that was agreed to";
    return std::nullopt;
}

}  // namespace

ShmChoice choose_shm(const playbooks::CleanShmStep& step, const Evidence& evidence,
                     const ChoicePolicy& policy) {
    if (!evidence.complete) return {};
    if (!evidence.shm) return {{}, {{"/dev/shm", "it could not be read"}}};
    return Cleaner(step, evidence, policy).choose();
}

}  // namespace cleanslate::agentless
