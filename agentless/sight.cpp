#include "agentless/sight.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

std::string named(Pid pid, const Evidence& evidence) {
    const Process* process = evidence.find(pid);
    return process == nullptr ? fmt::format("pid {}", pid)
                              : fmt::format("pid {} ({})", pid, printable(process->comm));
}

// What hangs of one process, and who hangs there.
struct Hang {
    std::set<std::string> files;
    std::set<Pid> readers;
};

std::map<Pid, Hang> hangs(const Evidence& evidence) {
    std::map<Pid, Hang> all;
    for (const auto& process : evidence.processes)
        if (process.wedged) all[process.key.pid];
    for (const auto& read : evidence.stuck_reads) {
        auto& hang = all[read.pid];
        hang.files.insert(read.file);
        if (read.reader > 0) hang.readers.insert(read.reader);
    }
    return all;
}

// Cuts that are not the hung reads themselves.
std::vector<std::string> other_cuts(const Evidence& evidence) {
    std::set<std::string> hung;
    for (const auto& read : evidence.stuck_reads) hung.insert(fmt::format("{} of {}", read.file, read.pid));
    std::vector<std::string> cuts;
    for (const auto& cut : evidence.cuts)
        if (!hung.contains(cut)) cuts.push_back(cut);
    return cuts;
}

std::string unread(const Evidence& evidence, const std::vector<std::string>& cuts) {
    if (!cuts.empty()) return fmt::format("no answer within the survey's time: {}", fmt::join(cuts, ", "));
    if (evidence.unreadable == 0) return "some process's descriptors or maps could not be read";
    std::vector<std::string> names;
    for (const auto& p : evidence.processes)
        if (!p.kernel_thread && !p.wedged && !(p.fds_readable && p.maps_readable) && names.size() < 3)
            names.push_back(named(p.key.pid, evidence));
    if (evidence.unreadable > names.size())
        names.push_back(
            fmt::format("{} {}", evidence.unreadable - names.size(), names.empty() ? "processes" : "more"));
    return fmt::format("descriptors or maps could not be read, even as root, of {}", fmt::join(names, ", "));
}

// Whether every context that the driver lists belongs to a process that could be looked into.
bool apps_are_seen(const std::vector<ComputeApp>& apps, const Evidence& evidence) {
    return std::ranges::all_of(apps, [&](const ComputeApp& app) {
        const Process* process = app.pid ? evidence.find(*app.pid) : nullptr;
        return process != nullptr && process->fds_readable && process->maps_readable;
    });
}

}  // namespace

std::string stuck_name(Pid pid, const Evidence& evidence) {
    const Process* process = evidence.find(pid);
    if (process == nullptr) return fmt::format("pid {}", pid);
    std::vector<std::string> facts;
    if (process->age_s && *process->age_s > 0) facts.push_back(fmt::format("for {} s", *process->age_s));
    if (process->parent > 0) facts.push_back("started by " + named(process->parent, evidence));
    return fmt::format("pid {}{}", pid,
                       facts.empty() ? std::string() : fmt::format(" ({})", fmt::join(facts, ", ")));
}

void judge_hung_reads(const Evidence& evidence, Findings& findings) {
    for (const auto& [pid, hang] : hangs(evidence)) {
        auto text = fmt::format(
            "reading {} of {} does not come back",
            hang.files.empty() ? std::string("/proc") : fmt::format("{}", fmt::join(hang.files, ", ")),
            named(pid, evidence));
        if (!hang.readers.empty())
            text += fmt::format("; an earlier look still hangs there: pid {}", fmt::join(hang.readers, ", "));
        findings.add(finding("driver-hung", text));
    }
}

// Without a look into every process, the driver's own list is what there is to go by: of a login that is not
// root it must be empty, and where root itself is kept out of some processes (by a sandbox or a security
// module) it must list none of those. What did not answer at all proves nothing.
void judge_sight(const Evidence& evidence, const std::vector<ComputeApp>& apps,
                 const Expectations& expectations, bool otherwise_clean, Findings& findings) {
    const bool own_view = !evidence.root || evidence.proc_hides_others;
    if (!own_view && evidence.holders_visible) return;
    const auto cuts = other_cuts(evidence);
    const bool silent = !own_view && (!evidence.cuts.empty() || evidence.unreadable == 0);
    const bool proven = !otherwise_clean || (own_view ? apps.empty() : apps_are_seen(apps, evidence));
    const auto severity =
        silent || expectations.require_holders || !proven ? Severity::unknown : Severity::note;
    const bool only_hung = cuts.empty() && evidence.unreadable == 0 && !hangs(evidence).empty();
    if (own_view)
        findings.add(finding("holders-not-visible", severity, "others' processes could not be read"));
    else if (!only_hung)  // that is named already
        findings.add(finding("holders-unreadable", severity, unread(evidence, cuts)));
    if (evidence.proc_hides_others) findings.add(finding("proc-hidden", "/proc shows only some processes"));
}

bool lists_all(const Evidence& evidence) {
    return std::ranges::find(evidence.cuts, "files") == evidence.cuts.end();
}

}  // namespace cleanslate::agentless
