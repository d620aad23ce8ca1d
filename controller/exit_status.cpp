#include "controller/exit_status.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>

#include "controller/formats/host_lists.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller {
namespace {

int status_of_hosts(const Report& report) {
    // No host at all proves nothing; that a shard has none is nothing wrong, and no proof of any host either.
    if (report.result.hosts.empty()) return report.share ? 0 : 3;
    const Summary summary = summarize(report);
    if (report.is_run()) {
        if (summary.asked[static_cast<std::size_t>(Asked::not_asked)] > 0) return 3;
        return summary.asked[static_cast<std::size_t>(Asked::failed)] > 0 ? 1 : 0;
    }
    if (!summary.verdict) return 3;
    switch (*summary.verdict) {
        case agentless::Verdict::clean:
            return 0;
        case agentless::Verdict::dirty:
        case agentless::Verdict::sick:
            return 1;
        case agentless::Verdict::unknown:
        case agentless::Verdict::unreachable:
            return 3;
    }
    return exit_internal;
}

bool has_expected_hosts(const Report& report) {
    return count_listed_clean(report) >= static_cast<std::size_t>(std::max(1, *report.expect_hosts));
}

}  // namespace

int exit_status(const Report& report, const Ending& ending) {
    if (ending.write_failed || report.result.audit_failed) return exit_internal;
    if (ending.stop_signal != 0) return ending.stop_signal == SIGINT ? 130 : 143;
    if (report.result.interrupted) return 130;
    if (report.expect_hosts) return has_expected_hosts(report) ? 0 : 1;
    if (report.result.deadline_passed || report.result.failure_limit_reached) return 4;
    return status_of_hosts(report);
}

std::string_view meaning_of(int exit_status, bool is_run) {
    switch (exit_status) {
        case 0:
            return is_run ? "the command succeeded everywhere" : "every host is proven clean";
        case 1:
            return is_run ? "the command failed somewhere" : "some hosts are dirty or sick";
        case 2:
            return "usage: nothing was contacted";
        case 3:
            return is_run ? "some hosts could not be asked" : "some hosts are unknown or unreachable";
        case 4:
            return "stopped by --max-failures or --deadline";
        case 5:
            return "a report or audit could not be written, or an internal error";
        case 130:
        case 143:
            return "interrupted";
    }
    return "unknown";
}

std::string meaning_of(const Report& report) {
    if (report.expect_hosts && (report.exit_status == 0 || report.exit_status == 1)) {
        const std::size_t clean = count_listed_clean(report);
        return fmt::format("{} {} clean, {} expected", count_of(clean, "host"), clean == 1 ? "is" : "are",
                           *report.expect_hosts);
    }
    if (report.exit_status == 0 && report.result.hosts.empty()) return "no host belongs to this shard";
    if (report.exit_status == 0 && std::ranges::any_of(report.result.hosts, is_clean_in_part))
        return "the GPUs that were judged are proven clean";
    return std::string(meaning_of(report.exit_status, report.is_run()));
}

}  // namespace cleanslate::controller
