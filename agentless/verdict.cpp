// The verdict on a host: what its GPUs prove together, and whether the survey saw all of it.

#include "agentless/verdict.hpp"

#include <algorithm>

#include "agentless/attribution.hpp"
#include "agentless/findings.hpp"
#include "agentless/gpu_sources.hpp"
#include "agentless/gpu_verdict.hpp"
#include "agentless/judged_gpus.hpp"
#include "agentless/limits.hpp"
#include "agentless/optional_verdict.hpp"
#include "agentless/placement.hpp"
#include "agentless/query_verdict.hpp"
#include "agentless/shared_notes.hpp"
#include "agentless/sight.hpp"
#include "agentless/vgpu_name.hpp"

namespace cleanslate::agentless {
namespace {

void judge_openers(const HostVerdict& host, const Evidence& evidence, Findings& findings) {
    std::vector<const Holder*> unprotected;
    for (const auto& opener : host.openers)
        if (!opener.is_protected && opener_counts(opener, host.gpus, evidence))
            unprotected.push_back(&opener);
    if (!unprotected.empty())
        findings.add(finding(
            "opener", "a device file is open, without a context on any GPU: " + names_of(unprotected)));
}

// The inventory says that there is no GPU, and nothing that was seen says otherwise.
bool zero_gpus_proven(const Evidence& evidence, const Expectations& expectations) {
    if (expectations.gpus != 0 || !evidence.gpus.empty() || !evidence.apps.empty()) return false;
    if (!evidence.stuck.empty() || pci_shows_gpus(evidence)) return false;
    if (evidence.listed && !evidence.listed->empty()) return false;
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
    const auto status = evidence.gpu_query.exit_status;
    none_found = none_found && (!status || *status == 0 || *status == 6);
    if (expectations.parse_only) return none_found;
    if (evidence.gpu_query.timed_out) return false;
    if (!evidence.gpu_query.missing && !status) return false;
    // Without a word of nvidia-smi itself the kernel's side must have been seen to be empty.
    return none_found || (no_driver && evidence.device_minors.has_value());
}

void add_gpus(const Evidence& evidence, const Expectations& expectations, const Placement& placement,
              HostVerdict& host, Findings& findings) {
    Attribution who;
    who.of_slot.resize(placement.slots.size());
    if (!expectations.parse_only) who = attribute(evidence, expectations, placement.slots, findings);
    for (std::size_t i = 0; i < placement.slots.size(); ++i)
        host.gpus.push_back(judge_gpu(placement.slots[i], std::move(who.of_slot[i]), evidence, expectations));
    share_notes(host.gpus, findings);
    note_other_driver(placement.slots, evidence, expectations, findings);
    std::ranges::stable_sort(host.gpus, [](const GpuVerdict& a, const GpuVerdict& b) {
        if (!a.index || !b.index) return a.index.has_value() && !b.index;
        return *a.index < *b.index;
    });
    mark_judged(expectations.only_gpus, host.gpus, findings);
    host.openers = std::move(who.openers);
    judge_openers(host, evidence, findings);
}

Verdict worst(const HostVerdict& host) {
    Verdict verdict = Verdict::clean;
    for (const auto& gpu : host.gpus)
        if (gpu.judged) verdict = worse(verdict, gpu.verdict);
    for (const auto& found : host.findings) verdict = worse(verdict, verdict_of(found.severity));
    return verdict;
}

// Where the GPU is a virtual one that is as it should be.
bool health_not_shown(const GpuRow& row) {
    return !is_vgpu_name(row.name) && std::ranges::any_of(row.troubles, [](const DriverMessage& t) {
        return t.code == "health-not-shown";
    });
}

void judge_complete(const Evidence& evidence, const Expectations& expectations, HostVerdict& host) {
    Findings findings(host.findings);
    for (const auto& tool : evidence.missing_tools)
        findings.add(finding("tool-missing", tool + " was not found on the host"));
    const auto expected = expected_count(evidence, expectations);
    const auto placement = place(evidence, expected.count);
    const bool parse = expectations.parse_only;
    if (!zero_gpus_proven(evidence, expectations)) {
        if (!parse || evidence.gpu_query.exit_status) judge_query(evidence, placement, findings);
        judge_messages(evidence, placement, findings);
        judge_count(evidence, expectations, expected, placement, findings);
        if (!parse) judge_apps(evidence, placement, findings);
    }
    if (!parse) judge_sources(evidence, expectations, placement, findings);
    add_gpus(evidence, expectations, placement, host, findings);
    judge_stuck(evidence, findings);
    judge_optional(evidence, placement, findings);
    if (std::ranges::any_of(evidence.gpus, health_not_shown))
        findings.add(
            finding("health-not-shown", "temperature and performance state were not shown for every GPU"));
    if (parse) {
        findings.add(finding("holders-not-shown", "the rows say nothing of processes"));
        return;
    }
    judge_hung_reads(evidence, findings);
    judge_name_rests(evidence, worst(host) == Verdict::clean, findings);
    judge_sight(evidence, apps_that_count(host.gpus, evidence), expectations, worst(host) == Verdict::clean,
                findings);
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
