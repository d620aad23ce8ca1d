#include "controller/merge_reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "controller/audit_query.hpp"
#include "controller/exit_status.hpp"
#include "controller/missing_shards.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

// Shards of one sweep begin together; a report of another day is one that a failed shard has left as it was.
// Tasks of an array may wait for each other, and the night before is 24 hours away.
constexpr Milliseconds most_apart{24 * 3'600'000}, most_apart_of_shards{12 * 3'600'000};

constexpr int interrupted = 130, terminated = 143;

// Whole seconds since 1970, as far as it is told.
std::int64_t began(const Report& report) { return parse_time(report.started).value_or(0); }

Status may_stand_together(const NamedReport& first, const NamedReport& other) {
    const auto refuse = [&](const std::string& a, const std::string& b) {
        return fail("usage",
                    fmt::format("{} is {} and {} is {}: they are not shards of one sweep", first.name, a,
                                other.name, b),
                    "merge those of one command");
    };
    if (first.report.command != other.report.command)
        return refuse("of " + first.report.command, "of " + other.report.command);
    const auto kind = [](const Report& report) -> std::string {
        return report.dry_run ? "a dry run" : "none";
    };
    if (first.report.dry_run != other.report.dry_run) return refuse(kind(first.report), kind(other.report));
    return {};
}

bool is_earlier(const NamedReport& a, const NamedReport& b) { return began(a.report) < began(b.report); }

Status check_times(const std::vector<NamedReport>& reports, std::optional<Milliseconds> within) {
    const auto is_shard = [](const NamedReport& one) { return one.report.share.has_value(); };
    const Milliseconds most =
        within.value_or(std::ranges::all_of(reports, is_shard) ? most_apart_of_shards : most_apart);
    const auto [first, last] = std::ranges::minmax_element(reports, is_earlier);
    const Milliseconds apart{(began(last->report) - began(first->report)) * 1000};
    if (apart <= most) return {};
    return fail(
        "usage",
        fmt::format("{} was begun at {} and {} at {}, {} later: they are not shards of one sweep",
                    first->name, printable(first->report.started), last->name,
                    printable(last->report.started), format_duration(apart)),
        "has a shard failed and left its file as it was? Merge reports of one sweep; --within says how "
        "far apart they may be");
}

Status check_names(const std::vector<NamedReport>& reports) {
    std::unordered_map<std::string_view, std::string_view> files;
    for (const NamedReport& one : reports) {
        for (const HostOutcome& host : one.report.result.hosts) {
            const auto [found, fresh] = files.emplace(host.name, one.name);
            if (fresh) continue;
            return fail(
                "usage",
                fmt::format("{} stands in {} and in {}", printable(host.name), found->second, one.name),
                "each host belongs to one shard: is one of the files the merged one of before?");
        }
    }
    return {};
}

// Each that is said, once, with commas between.
std::string joined(const std::vector<NamedReport>& reports, std::string Report::*text) {
    std::vector<std::string> said;
    std::string all;
    for (const NamedReport& one : reports) {
        const std::string& more = one.report.*text;
        if (more.empty() || std::ranges::find(said, more) != said.end()) continue;
        said.push_back(more);
        all += (all.empty() ? "" : ",") + more;
    }
    return all;
}

// Of what the hosts do not tell; otherwise 0.
int worse_end(int a, int b) {
    for (const int status : {exit_internal, interrupted, terminated})
        if (a == status || b == status) return status;
    return 0;
}

void add_result(SweepResult& all, SweepResult one, bool has_no_port, std::unordered_set<std::string>& noted) {
    for (HostOutcome& host : one.hosts) {
        if (has_no_port) host.port = 0;
        all.hosts.push_back(std::move(host));
    }
    all.interrupted |= one.interrupted;
    all.deadline_passed |= one.deadline_passed;
    all.failure_limit_reached |= one.failure_limit_reached;
    if (one.audit_failed && !all.audit_failed) all.audit_error = std::move(one.audit_error);
    all.audit_failed |= one.audit_failed;
    for (std::string& note : one.notes)
        if (noted.insert(note).second) all.notes.push_back(std::move(note));
}

}  // namespace

Result<Report> merge_reports(std::vector<NamedReport> reports, std::optional<Milliseconds> within) {
    for (const NamedReport& other : reports)
        if (auto may = may_stand_together(reports.front(), other); !may) return std::unexpected(may.error());
    if (auto times = check_times(reports, within); !times) return std::unexpected(times.error());
    if (auto once = check_names(reports); !once) return std::unexpected(once.error());
    auto missing = missing_hosts(reports);
    if (!missing) return std::unexpected(missing.error());
    const auto is_local = [](const NamedReport& one) { return one.report.local; };
    const auto has_no_limit = [](const NamedReport& one) { return one.report.limit.empty(); };
    Report all;
    all.command = reports.front().report.command;
    all.dry_run = reports.front().report.dry_run;
    all.playbook = joined(reports, &Report::playbook);
    all.inventory = joined(reports, &Report::inventory);
    if (std::ranges::none_of(reports, has_no_limit)) all.limit = joined(reports, &Report::limit);
    all.local = std::ranges::all_of(reports, is_local);
    const Report& first = std::ranges::min_element(reports, is_earlier)->report;
    all.started = first.started;
    const std::int64_t start = began(first);
    std::unordered_set<std::string> noted;
    for (NamedReport& one : reports) {
        const Milliseconds after{(began(one.report) - start) * 1000};
        all.took = std::max(all.took, after + one.report.took);
        all.declined |= one.report.declined;
        all.exit_status = worse_end(all.exit_status, one.report.exit_status);
        add_result(all.result, std::move(one.report.result), one.report.local && !all.local, noted);
    }
    for (HostOutcome& host : *missing) all.result.hosts.push_back(std::move(host));
    return all;
}

int exit_status_of_read(const Report& report) {
    Ending ending;
    ending.write_failed = report.exit_status == exit_internal;
    if (report.exit_status == interrupted) ending.stop_signal = SIGINT;
    if (report.exit_status == terminated) ending.stop_signal = SIGTERM;
    return exit_status(report, ending);
}

}  // namespace cleanslate::controller
