#include "controller/history/not_clean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "controller/history/database_errors.hpp"
#include "controller/history/host_rows.hpp"
#include "controller/history/host_states.hpp"

namespace cleanslate::controller::history {
namespace {

// The oldest sweep that can be any host's newest: all of the inventory was looked at in it, or is in the
// shards from it on. Without one the oldest of all.
SweepId oldest_that_counts(Database& database, const std::string& inventory) {
    Statement rows(database,
                   "SELECT s.id, c.hosts FROM scopes c JOIN sweeps s ON s.scope = c.id WHERE c.inventory = ? "
                   "ORDER BY s.id DESC");
    std::map<std::string, std::set<std::string>> shards;  // "4)": "1", "3"
    SweepId oldest = 0;
    for (rows.start(inventory); rows.step();) {
        oldest = rows.integer(0);
        const std::string hosts = rows.text(1);
        if (hosts == "all") break;
        constexpr std::string_view shard_of_all = "all (shard ";
        if (!hosts.starts_with(shard_of_all)) continue;
        const std::string shard = hosts.substr(shard_of_all.size());
        const auto slash = std::min(shard.find('/'), shard.size());
        auto& seen = shards[shard.substr(slash)];
        seen.insert(shard.substr(0, slash));
        if (shard.substr(slash) == fmt::format("/{})", seen.size())) break;
    }
    return oldest;
}

}  // namespace

Result<NotClean> not_clean(Store& store, const std::string& inventory) {
    auto newest = sweeps(store, {1, std::nullopt, inventory});
    if (!newest) return std::unexpected(newest.error());
    if (newest->empty()) {
        Error none = history_error(store.path(), "it has no sweep of inventory " + printable(inventory),
                                   "cleanslate history lists those that are there; check first");
        none.kind = "history_no_sweep";
        return std::unexpected(std::move(none));
    }
    NotClean found;
    found.sweep = std::move(newest->front());
    // Of the rows of a host those of its newest sweep: max() brings the other columns with it.
    Statement rows(
        store.database(),
        "SELECT r.host, max(r.sweep) AS newest, r.state FROM scopes c JOIN sweeps s ON s.scope = c.id "
        "JOIN host_results r ON r.sweep = s.id WHERE c.inventory = ? AND s.id >= ? "
        "GROUP BY r.host ORDER BY newest DESC, r.place");
    HostReader reader(store.database());
    std::set<SweepId> of_a_host;
    for (rows.start(inventory, oldest_that_counts(store.database(), inventory)); rows.step(); ++found.hosts) {
        of_a_host.insert(rows.integer(1));
        const std::int64_t state = rows.integer(2);
        if (state == not_begun || verdict_of(state) != agentless::Verdict::clean)
            found.names.push_back(reader.name(rows.integer(0)));
    }
    found.sweeps = of_a_host.size();
    if (auto state = store.database().state(); !state) return std::unexpected(state.error());
    if (found.hosts == 0)
        return std::unexpected(history_error(store.path(), "its newest sweep has no hosts", "check first"));
    return found;
}

}  // namespace cleanslate::controller::history
