// The verdict on a host: what its GPUs prove together, and whether the survey saw all of it.

#include "agentless/verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "agentless/attribution.hpp"
#include "agentless/findings.hpp"
#include "agentless/gpu_verdict.hpp"
#include "agentless/nvidia_smi.hpp"
#include "agentless/placement.hpp"
#include "agentless/query_verdict.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

struct Expected {
    std::optional<int> count;
    std::string_view source;
};

Expected expected_count(const Evidence& evidence, const Expectations& expectations) {
    if (expectations.gpus) return {expectations.gpus, "asked for"};
    if (expectations.any_count) return {};
    if (evidence.driver_gpus)
        return {static_cast<int>(evidence.driver_gpus->size()), "known to the kernel's driver"};
    if (evidence.device_minors)
        return {static_cast<int>(evidence.device_minors->size()), "device files there"};
    return {};
}

void judge_count(const Evidence& evidence, const Expectations& expectations, const Expected& expected,
                 const Placement& placement, Findings& findings) {
    if (!expected.count && !expectations.any_count)
        findings.add(finding("count-unproven", "nothing says how many GPUs there should be"));
    if (evidence.gpus.empty()) findings.add(finding("no-gpus", "no GPU was seen"));
    const bool odd = expected.count && !placement.accounted &&
                     evidence.gpus.size() != static_cast<std::size_t>(std::max(0, *expected.count));
    if (odd)
        findings.add(finding("count-mismatch", fmt::format("{} rows, and {} GPUs {}", evidence.gpus.size(),
                                                           *expected.count, expected.source)));
    const auto& driver = evidence.driver_gpus;
    if (expectations.gpus && driver &&
        driver->size() != static_cast<std::size_t>(std::max(0, *expectations.gpus)))
        findings.add(finding(
            "driver-count-differs",
            fmt::format("{} GPUs expected, the kernel's driver has {}", *expectations.gpus, driver->size())));
}

std::string unread(const Evidence& evidence) {
    if (!evidence.cuts.empty())
        return fmt::format("no answer within the survey's time: {}", fmt::join(evidence.cuts, ", "));
    if (evidence.unreadable == 0) return "some process's descriptors or maps could not be read";
    std::vector<std::string> names;
    for (const auto& p : evidence.processes)
        if (!p.kernel_thread && !(p.fds_readable && p.maps_readable) && names.size() < 3)
            names.push_back(fmt::format("pid {} ({})", p.key.pid, printable(p.comm)));
    if (evidence.unreadable > names.size())
        names.push_back(
            fmt::format("{} {}", evidence.unreadable - names.size(), names.empty() ? "processes" : "more"));
    return fmt::format("descriptors or maps could not be read, even as root, of {}", fmt::join(names, ", "));
}

// Whether every context that the driver lists belongs to a process that could be looked into.
bool apps_are_seen(const Evidence& evidence) {
    return std::ranges::all_of(evidence.apps, [&](const ComputeApp& app) {
        const Process* process = app.pid ? evidence.find(*app.pid) : nullptr;
        return process != nullptr && process->fds_readable && process->maps_readable;
    });
}

// Without a look into every process, the driver's own list is what there is to go by: of a login that is not
// root it must be empty, and where root itself is kept out of some processes (by a sandbox or a security
// module) it must list none of those. What did not answer at all proves nothing.
void judge_sight(const Evidence& evidence, const Expectations& expectations, bool otherwise_clean,
                 Findings& findings) {
    const bool own_view = !evidence.root || evidence.proc_hides_others;
    if (!own_view && evidence.holders_visible) return;
    const bool silent = !own_view && (!evidence.cuts.empty() || evidence.unreadable == 0);
    const bool proven = !otherwise_clean || (own_view ? evidence.apps.empty() : apps_are_seen(evidence));
    const auto severity =
        silent || expectations.require_holders || !proven ? Severity::unknown : Severity::note;
    if (own_view)
        findings.add(finding("holders-not-visible", severity, "others' processes could not be read"));
    else
        findings.add(finding("holders-unreadable", severity, unread(evidence)));
    if (evidence.proc_hides_others) findings.add(finding("proc-hidden", "/proc shows only some processes"));
}

void judge_openers(const std::vector<Holder>& openers, Findings& findings) {
    std::vector<const Holder*> unprotected;
    for (const auto& opener : openers)
        if (!opener.is_protected) unprotected.push_back(&opener);
    if (!unprotected.empty())
        findings.add(finding(
            "opener", "a device file is open, without a context on any GPU: " + names_of(unprotected)));
}

// The inventory says that there is no GPU, and nothing that was seen says otherwise.
bool zero_gpus_proven(const Evidence& evidence, const Expectations& expectations) {
    if (expectations.gpus != 0 || !evidence.gpus.empty() || !evidence.apps.empty()) return false;
    if (evidence.driver_gpus && !evidence.driver_gpus->empty()) return false;
    if (evidence.device_minors && !evidence.device_minors->empty()) return false;
    bool none_found = false, no_driver = evidence.gpu_query.missing;
    for (const auto& message : evidence.messages) {
        if (message.code == "no-devices")
            none_found = true;
        else if (message.code == "driver-not-loaded")
            no_driver = true;
        else if (message.trouble != Trouble::none)
            return false;
    }
    if (expectations.parse_only) return none_found;
    if (evidence.gpu_query.timed_out) return false;
    if (!evidence.gpu_query.missing && !evidence.gpu_query.exit_status) return false;
    // Without a word of nvidia-smi itself the kernel's side must have been seen to be empty.
    return none_found || (no_driver && evidence.device_minors.has_value());
}

void add_gpus(const Evidence& evidence, const Expectations& expectations, const Placement& placement,
              HostVerdict& host, Findings& findings) {
    Attribution who;
    who.of_slot.resize(placement.slots.size());
    if (!expectations.parse_only) who = attribute(evidence, expectations, placement.slots, findings);
    for (std::size_t i = 0; i < placement.slots.size(); ++i)
        host.gpus.push_back(judge_gpu(placement.slots[i], std::move(who.of_slot[i]), expectations));
    std::ranges::stable_sort(host.gpus, [](const GpuVerdict& a, const GpuVerdict& b) {
        if (!a.index || !b.index) return a.index.has_value() && !b.index;
        return *a.index < *b.index;
    });
    host.openers = std::move(who.openers);
    judge_openers(host.openers, findings);
}

Verdict worst(const HostVerdict& host) {
    Verdict verdict = Verdict::clean;
    for (const auto& gpu : host.gpus) verdict = worse(verdict, gpu.verdict);
    for (const auto& found : host.findings) verdict = worse(verdict, verdict_of(found.severity));
    return verdict;
}

bool health_not_shown(const GpuRow& row) {
    return std::ranges::any_of(row.troubles,
                               [](const DriverMessage& t) { return t.code == "health-not-shown"; });
}

void judge_complete(const Evidence& evidence, const Expectations& expectations, HostVerdict& host) {
    Findings findings(host.findings);
    for (const auto& tool : evidence.missing_tools)
        findings.add(finding("tool-missing", tool + " was not found on the host"));
    const auto expected = expected_count(evidence, expectations);
    const auto placement = place(evidence, expected.count);
    if (!zero_gpus_proven(evidence, expectations)) {
        if (!expectations.parse_only) judge_query(evidence, placement, findings);
        judge_messages(evidence, placement, findings);
        judge_count(evidence, expectations, expected, placement, findings);
        if (!expectations.parse_only) judge_apps(evidence, placement, findings);
    }
    add_gpus(evidence, expectations, placement, host, findings);
    if (std::ranges::any_of(evidence.gpus, health_not_shown))
        findings.add(
            finding("health-not-shown", "temperature and performance state were not shown for every GPU"));
    if (expectations.parse_only) {
        findings.add(finding("holders-not-shown", "the rows say nothing of processes"));
        return;
    }
    judge_sight(evidence, expectations, worst(host) == Verdict::clean, findings);
}

}  // namespace

std::string_view to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::clean:
            return "clean";
        case Verdict::dirty:
            return "dirty";
        case Verdict::sick:
            return "sick";
        case Verdict::unknown:
            return "unknown";
        case Verdict::unreachable:
            break;
    }
    return "unreachable";
}

std::string_view to_string(Severity severity) {
    switch (severity) {
        case Severity::note:
            return "note";
        case Severity::dirty:
            return "dirty";
        case Severity::sick:
            return "sick";
        case Severity::unknown:
            break;
    }
    return "unknown";
}

HostVerdict judge(const Evidence& evidence, const Expectations& expectations) {
    HostVerdict host;
    if (!evidence.complete) {
        const auto& why = evidence.incomplete_reason;
        host.findings.push_back(finding("survey-incomplete", "the survey did not come to its own end" +
                                                                 (why.empty() ? std::string() : ": " + why)));
        return host;
    }
    judge_complete(evidence, expectations, host);
    host.verdict = worst(host);
    return host;
}

}  // namespace cleanslate::agentless
