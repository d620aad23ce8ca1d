#include "controller/missing_shards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/text.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using agentless::HostOutcome;

using ByShard = std::map<int, const NamedReport*>;

std::string text_of(const Shard& shard) { return "shard " + to_string(shard); }

// The reports by their shards.
Result<ByShard> by_shard(const std::vector<NamedReport>& reports) {
    ByShard shards;
    const NamedReport& first = reports.front();
    const Share& whole = *first.report.share;
    for (const NamedReport& one : reports) {
        const Share& share = *one.report.share;
        if (share.shard.count != whole.shard.count)
            return fail("usage",
                        fmt::format("{} is {} and {} is {}: they are not of one sweep", first.name,
                                    text_of(whole.shard), one.name, text_of(share.shard)),
                        "merge the shards of one sweep");
        if (share.selection != whole.selection || share.hosts_in_all != whole.hosts_in_all)
            return fail("usage",
                        fmt::format("{} is a shard of {} hosts and {} of {} hosts that are not the same",
                                    first.name, whole.hosts_in_all, one.name, share.hosts_in_all),
                        "has the inventory changed in between? Run all shards again");
        const auto [before, fresh] = shards.emplace(share.shard.index, &one);
        if (!fresh)
            return fail(
                "usage",
                fmt::format("{} and {} are both {}", before->second->name, one.name, text_of(share.shard)),
                "give one report of each shard");
    }
    return shards;
}

HostOutcome missing_host(const std::string& name, const Shard& shard) {
    HostOutcome host;
    host.name = name;
    host.port = 0;
    const std::string message = text_of(shard) + " has no report among those that were merged";
    const std::string remedy =
        fmt::format("run it again with --shard {}, and merge all reports once more", to_string(shard));
    host.error = Error{"shard_missing", "", message, remedy};
    host.findings.push_back({agentless::Severity::unknown, "shard-missing", message, remedy});
    return host;
}

std::unexpected<Error> misplaced(const NamedReport& report, const std::string& host, const char* is) {
    return fail(
        "usage",
        fmt::format("{}: {} {} {}", report.name, printable(host), is, text_of(report.report.share->shard)),
        "give the report as --format json wrote it");
}

}  // namespace

Result<std::vector<HostOutcome>> missing_hosts(const std::vector<NamedReport>& reports) {
    const auto is_of_shard = [](const NamedReport& one) { return one.report.share.has_value(); };
    const auto part = std::ranges::find_if(reports, is_of_shard);
    if (part == reports.end()) return std::vector<HostOutcome>{};
    if (const auto other = std::ranges::find_if_not(reports, is_of_shard); other != reports.end())
        return fail("usage",
                    fmt::format("{} is {} and {} is of no shard", part->name,
                                text_of(part->report.share->shard), other->name),
                    "merge the shards of one sweep, and nothing else");
    const auto shards = by_shard(reports);
    if (!shards) return std::unexpected(shards.error());
    const Share& whole = *reports.front().report.share;
    auto names = inventory::unfold(whole.selection);
    if (!names || names->size() != whole.hosts_in_all)
        return fail("usage",
                    fmt::format("{}: shard.selection does not name {} hosts", reports.front().name,
                                whole.hosts_in_all),
                    "give the report as --format json wrote it");
    std::unordered_map<std::string_view, const NamedReport*> reported;
    for (const NamedReport& one : reports)
        for (const HostOutcome& host : one.report.result.hosts) reported.emplace(host.name, &one);
    std::vector<HostOutcome> missing;
    for (const std::string& name : *names) {
        const int index = shard_of(name, whole.shard.count);
        const auto shard = shards->find(index);
        const auto found = reported.find(name);
        if (found != reported.end() && (shard == shards->end() || shard->second != found->second))
            return misplaced(*found->second, name, "does not belong to");
        if (found == reported.end() && shard != shards->end())
            return misplaced(*shard->second, name, "is missing in");
        if (found == reported.end())
            missing.push_back(missing_host(name, {index, whole.shard.count}));
        else
            reported.erase(found);
    }
    if (!reported.empty())
        return misplaced(*reported.begin()->second, std::string(reported.begin()->first),
                         "is none of the selected hosts of");
    return missing;
}

}  // namespace cleanslate::controller
