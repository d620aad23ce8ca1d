#pragma once
// Which hosts of a sweep in shards have no report.

#include <string>
#include <vector>

#include "agentless/outcome.hpp"
#include "base/result.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

struct NamedReport {
    std::string name;  // of its file, printable: for errors
    Report report;
};

// The hosts of the shards that are not among the reports, in natural order: unknown, with the error
// shard_missing. None where no report is of a shard. Refused (kind "usage", with the files' names): a shard
// that stands twice, shards of another number or of other hosts, reports of shards beside others, and one
// whose hosts are not those of its shard.
Result<std::vector<agentless::HostOutcome>> missing_hosts(const std::vector<NamedReport>& reports);

}  // namespace cleanslate::controller
