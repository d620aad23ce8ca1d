#include "agentless/witnesses.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "agentless/holder.hpp"
#include "agentless/supervisor.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

// On a healthy GPU memory.used is the sum over the compute apps and some 20 MiB.
constexpr Mebibytes usual_overhead{64};
// Split into MIG instances, an idle GPU shows 55 to 59 MiB besides.
constexpr Mebibytes mig_overhead{64};
// What an MPS server needs for itself: a context, some 520 MiB without data. What it has beyond may be its
// clients', and stay when they are dead.
constexpr Mebibytes most_of_mps{1024};
constexpr std::size_t most_names = 3;

bool ended(const Holder& holder) { return holder.state == 'Z' || holder.state == 'X'; }
bool has_no_pid(const Holder& holder) { return holder.key.pid == 0; }

// A living process of this host that was seen with the device open, or could not be looked into.
bool present(const Holder& holder) {
    return !holder.ghost && !holder.foreign_pid && !holder.without_device && !has_no_pid(holder) &&
           !ended(holder);
}

bool is_mps_server(const Holder& holder) {
    return holder.exe && holder.exe->ends_with("/nvidia-cuda-mps-server");
}

// Of those that this sweep has signalled: which GPU it had is not seen any more.
bool was_ended_and_hangs(const Evidence& evidence) {
    return std::ranges::any_of(evidence.signalled, [&](ProcessKey key) {
        const Process* process = evidence.find(key.pid);
        return process != nullptr && process->key == key && process->state == 'D' && !process->opens_device();
    });
}

bool is_listed(const Holder& holder) { return !holder.inherited; }

// The holders of one GPU, sorted by what the witnesses say of them.
struct Sorted {
    std::vector<const Holder*> unprotected, guarded;  // present ones
    bool ghosts = false;
    bool torn_down = false;
    bool others = false;  // listed, and not to be found: in another namespace, without pid, or ended
    Mebibytes guarded_memory;
};

Sorted sort(const std::vector<Holder>& holders) {
    Sorted sorted;
    for (const auto& holder : holders) {
        if (!present(holder)) {
            (holder.ghost ? sorted.ghosts : sorted.others) = true;
            sorted.torn_down |= is_being_torn_down(holder);
            continue;
        }
        (holder.is_protected ? sorted.guarded : sorted.unprotected).push_back(&holder);
        if (holder.is_protected && holder.used)
            sorted.guarded_memory +=
                is_mps_server(holder) ? std::min(*holder.used, most_of_mps) : *holder.used;
    }
    return sorted;
}

// "pid 1182 ([Not Found], 76107 MiB)": as the driver lists it.
std::string as_listed(const Holder& holder, const Evidence& evidence) {
    std::vector<std::string> facts;
    for (const auto& app : evidence.apps)
        if (app.pid == holder.key.pid && !app.name.empty()) {
            facts.push_back(ellipsize(printable(app.name), 80));
            break;
        }
    if (holder.used) facts.push_back(fmt::format("{} MiB", holder.used->count));
    return fmt::format("{}{}",
                       has_no_pid(holder) ? "a process without pid" : fmt::format("pid {}", holder.key.pid),
                       facts.empty() ? std::string() : fmt::format(" ({})", fmt::join(facts, ", ")));
}

// Not reaped: by whom, and what that one's supervisor is.
Finding finding_of_zombie(const Holder& holder, const Evidence& evidence) {
    const Process* process = evidence.find(holder.key.pid);
    const Process* parent =
        process == nullptr || process->parent <= 0 ? nullptr : evidence.find(process->parent);
    std::string who = "its parent";
    if (process != nullptr && process->parent > 0) who += fmt::format(", pid {}", process->parent);
    Supervisor supervisor;
    if (parent != nullptr) {
        who += fmt::format(" ({})", printable(parent->comm));
        if (parent->cgroup) supervisor = supervisor_of(*parent->cgroup);
        if (supervisor.kind != SupervisorKind::none && supervisor.kind != SupervisorKind::login_session)
            who += fmt::format(" in {}", supervisor.name);
    }
    auto made =
        finding("zombie-holder", fmt::format("the driver lists {}, which has ended and was not reaped by {}",
                                             as_listed(holder, evidence), who));
    if (!supervisor.stop_command.empty())
        made.remedy = fmt::format("end its parent, or stop what that runs in: `{}`; else reboot",
                                  supervisor.stop_command);
    return made;
}

// "; its memory may be kept by pid 70 (sleep 1000)": the heirs on the GPU, protected ones where there are no
// others.
std::string keepers(const std::vector<Holder>& holders) {
    std::vector<std::string> names;
    std::size_t more = 0;
    const bool unprotected = std::ranges::any_of(
        holders, [](const Holder& holder) { return holder.inherited && !holder.is_protected; });
    for (const auto& holder : holders) {
        if (!holder.inherited || (unprotected && holder.is_protected)) continue;
        if (names.size() == most_names)
            ++more;
        else
            names.push_back(holder.command
                                ? fmt::format("pid {} ({}{})", holder.key.pid, ellipsize(*holder.command, 40),
                                              holder.is_protected ? ", protected" : "")
                                : name_of(holder));
    }
    if (names.empty()) return "";
    return fmt::format("; its memory may be kept by {}{}", fmt::join(names, ", "),
                       more == 0 ? std::string() : fmt::format(" and {} more", more));
}

void find_odd_holders(const std::vector<Holder>& holders, const Evidence& evidence, Findings& findings) {
    for (const auto& holder : holders) {
        if (holder.inherited) continue;
        const auto say = [&](std::string_view code, std::string_view what) {
            findings.add(
                finding(code, fmt::format("the driver lists {}, {}", as_listed(holder, evidence), what)));
        };
        if (holder.ghost)
            say("ghost", "which no longer lives" + keepers(holders));
        else if (holder.foreign_pid)
            say("foreign-holder", "which is no process of this /proc");
        else if (has_no_pid(holder))
            findings.add(
                finding("holder-without-pid",
                        fmt::format("the driver lists a holder without its pid{}",
                                    holder.used ? fmt::format(", with {} MiB", holder.used->count) : "")));
        else if (is_being_torn_down(holder))
            say("holder-torn-down", "which is still being torn down by the driver (state D)");
        else if (holder.without_device)
            say("holder-without-device", "which lives and has no device file open under a name known here");
        else if (ended(holder))
            findings.add(finding_of_zombie(holder, evidence));
    }
}

bool has(const std::vector<int>& minors, int minor) {
    return std::ranges::find(minors, minor) != minors.end();
}

// By name: every process with this device file open, or the protected ones that map it.
enum class Files { open, mapped_by_protected };
std::vector<std::string> with_file(int minor, Files files, const Evidence& evidence,
                                   const Expectations& expectations) {
    std::vector<std::string> names;
    for (const auto& process : evidence.processes) {
        const bool maps = has(process.mapped_minors, minor);
        if (!maps && (files != Files::open || !has(process.open_minors, minor))) continue;
        const auto holder = describe(process, evidence, expectations);
        if (files == Files::open)
            names.push_back(name_of(holder) + (holder.is_protected ? ", protected" : ""));
        else if (holder.is_protected)
            names.push_back(name_of(holder));
    }
    if (names.size() > most_names) {
        const auto more = names.size() - most_names;
        names.resize(most_names);
        names.push_back(fmt::format("{} more", more));
    }
    return names;
}

std::string listed_names(const std::vector<Holder>& holders, const Evidence& evidence) {
    std::vector<std::string> names;
    for (const auto& holder : holders)
        if (is_listed(holder) && names.size() < most_names) names.push_back(as_listed(holder, evidence));
    return names.empty() ? "nobody" : fmt::format("{}", fmt::join(names, ", "));
}

// Memory that no process in sight accounts for.
void find_ownerless(const Slot& slot, const GpuVerdict& gpu, const Evidence& evidence,
                    const Expectations& expectations, Findings& findings) {
    const std::string used =
        gpu.used ? fmt::format("{} MiB are used", gpu.used->count) : "what is used is not shown";
    std::string files = "which device file is its own is not known";
    if (const auto* kernel = driver_gpu_of(slot, evidence); kernel != nullptr && kernel->minor) {
        const auto mapping = with_file(*kernel->minor, Files::mapped_by_protected, evidence, expectations);
        if (!mapping.empty() && std::ranges::none_of(gpu.holders, is_listed)) {
            findings.add(finding("graphics-memory",
                                 fmt::format("{}, the driver lists nobody, and the GPU is mapped by {}", used,
                                             fmt::join(mapping, ", "))));
            return;
        }
        const auto open = with_file(*kernel->minor, Files::open, evidence, expectations);
        files = open.empty() ? "no process was seen with the device open"
                             : fmt::format("the device is open in {}", fmt::join(open, "; "));
    }
    findings.add(finding("memory-without-holder", fmt::format("{}, the driver lists {}, and {}", used,
                                                              listed_names(gpu.holders, evidence), files)));
}

bool is_split(const Slot& slot) {
    return slot.row != nullptr &&
           std::ranges::find(slot.row->optional, OptionalCell{"mig.mode.current", "Enabled"}) !=
               slot.row->optional.end();
}

// memory.used against the sum over the compute apps.
void compare_memory(const Slot& slot, const GpuVerdict& gpu, const Limit& limit, bool ownerless,
                    const Evidence& evidence, Findings& findings) {
    Mebibytes sum;
    std::int64_t listed = 0;
    bool all_known = true;
    for (const auto& holder : gpu.holders) {
        if (!is_listed(holder)) continue;
        ++listed;
        all_known = all_known && holder.used.has_value();
        sum += holder.used.value_or(Mebibytes{});
    }
    if (!gpu.used || listed == 0) return;
    if (sum > *gpu.used + Mebibytes{listed})  // each is rounded
        findings.add(finding("holder-without-memory",
                             fmt::format("{} MiB are used, and the driver lists {}", gpu.used->count,
                                         listed_names(gpu.holders, evidence))));
    // What is known to be used on an idle GPU has no holder there either.
    auto overhead =
        limit.source == Limit::Source::usual ? usual_overhead : std::max(usual_overhead, limit.most);
    if (is_split(slot)) overhead += mig_overhead;
    if (all_known && !ownerless && *gpu.used > sum + overhead)
        findings.add(finding("memory-unexplained",
                             fmt::format("{} MiB are used, {} MiB of it by all that the driver lists: {}",
                                         gpu.used->count, sum.count, listed_names(gpu.holders, evidence))));
}

// Before any signal: SIGKILL too reaches it only when the kernel lets it go.
void find_uninterruptible(const std::vector<const Holder*>& holders, Findings& findings) {
    for (const Holder* holder : holders)
        if (holder->state == 'D')
            findings.add(
                finding("holder-uninterruptible",
                        fmt::format("{} is in uninterruptible sleep (D); what it waits for is not known",
                                    name_of(*holder))));
}

void find_mps(const std::vector<Holder>& holders, Findings& findings) {
    for (const auto& holder : holders)
        if (present(holder) && is_mps_server(holder))
            findings.add(finding(
                "mps-server",
                fmt::format("pid {} (nvidia-cuda-mps-server) is a holder{}", holder.key.pid,
                            holder.used ? fmt::format(", with {} MiB", holder.used->count) : std::string())));
}

}  // namespace

void judge_witnesses(const Slot& slot, const GpuVerdict& gpu, const Limit& limit, const Evidence& evidence,
                     const Expectations& expectations, Findings& findings) {
    const auto sorted = sort(gpu.holders);
    const auto own = sorted.guarded_memory;
    const bool over = gpu.used && *gpu.used - own > limit.most;
    if (over) {
        auto used =
            finding("memory-in-use",
                    fmt::format("{} MiB used{}, the limit is {} MiB", gpu.used->count,
                                own.count > 0 ? fmt::format(", {} MiB of it by protected holders", own.count)
                                              : std::string(),
                                limit.most.count));
        // Without anybody to be ended, what to do is said with what is found below.
        if (!expectations.parse_only && sorted.unprotected.empty()) used.remedy.clear();
        findings.add(std::move(used));
    } else if (gpu.used && *gpu.used > limit.most) {
        findings.add(
            finding("protected-memory", fmt::format("{} MiB used, {} MiB of it by {}", gpu.used->count,
                                                    own.count, names_of(sorted.guarded))));
    }
    if (!sorted.unprotected.empty()) findings.add(finding("held", "held by " + names_of(sorted.unprotected)));
    if (expectations.parse_only) return;
    find_odd_holders(gpu.holders, evidence, findings);
    // While one is torn down whose memory it may be, waiting is all there is to do.
    const bool on_its_way = sorted.torn_down || was_ended_and_hangs(evidence);
    const bool ownerless =
        !on_its_way && sorted.unprotected.empty() && (sorted.ghosts || (over && !sorted.others));
    if (ownerless) find_ownerless(slot, gpu, evidence, expectations, findings);
    compare_memory(slot, gpu, limit, ownerless, evidence, findings);
    find_uninterruptible(sorted.unprotected, findings);
    find_mps(gpu.holders, findings);
}

}  // namespace cleanslate::agentless
