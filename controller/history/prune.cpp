#include "controller/history/prune.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <utility>

namespace cleanslate::controller::history {
namespace {

constexpr std::array tables = {"parts", "actions", "findings", "holders", "gpu_results", "host_results"};

Status drop_sweep(Database& database, SweepId sweep) {
    Transaction whole(database, Transaction::Kind::write);
    for (const char* table : tables)
        Statement(database, std::string("DELETE FROM ") + table + " WHERE sweep = ?").run(sweep);
    Statement(database, "DELETE FROM sweeps WHERE id = ?").run(sweep);
    return whole.commit();
}

// One transaction: nobody records a use of something between the look and the deletion.
Status drop_what_nothing_needs(Database& database) {
    Transaction whole(database, Transaction::Kind::write);
    database.execute(R"(
DELETE FROM bases WHERE id NOT IN (SELECT base FROM parts);
DELETE FROM hosts WHERE id NOT IN (SELECT host FROM host_results);
DELETE FROM gpu_sets WHERE id NOT IN (SELECT gpu_set FROM host_results WHERE gpu_set IS NOT NULL);
DELETE FROM scopes WHERE id NOT IN (SELECT scope FROM sweeps);
DELETE FROM words WHERE id NOT IN (SELECT id FROM (
  SELECT why AS id FROM host_results UNION SELECT uuid FROM gpu_results UNION SELECT user FROM holders
  UNION SELECT exe FROM holders UNION SELECT command FROM holders UNION SELECT unit FROM holders
  UNION SELECT code FROM findings UNION SELECT what FROM actions UNION SELECT user FROM actions
  UNION SELECT command FROM actions UNION SELECT result FROM actions) WHERE id IS NOT NULL);
)");
    return whole.commit();
}

// A thousand pages a step: nobody waits long for one.
Status give_back_room(Database& database) {
    for (std::int64_t free = database.integer_of("PRAGMA freelist_count"); free > 0;) {
        database.execute("PRAGMA incremental_vacuum(1000);");
        const std::int64_t left = database.integer_of("PRAGMA freelist_count");
        if (left >= free) break;  // a file that was not made for it
        free = left;
    }
    // In WAL mode the file itself shrinks now; where somebody reads meanwhile, it does so later.
    database.set_keep_waiting([](Milliseconds waited) { return waited < std::chrono::seconds(2); });
    (void)database.integer_of("PRAGMA wal_checkpoint(TRUNCATE)");
    return database.state();
}

std::uint64_t size_of(const std::string& path) {
    std::error_code failed;
    const auto size = std::filesystem::file_size(path, failed);
    return failed ? 0 : size;
}

}  // namespace

Result<Pruning> plan_prune(Store& store, const Keep& keep) {
    auto all = sweeps(store, {});
    if (!all) return std::unexpected(all.error());
    Pruning pruning;
    std::map<std::pair<std::string, std::string>, std::size_t> of_scope;
    for (SweepHead& sweep : *all) {
        const std::size_t newer = of_scope[{sweep.scope.inventory, sweep.scope.limit}]++;
        const bool stays = newer < keep.last || (keep.since && sweep.started >= *keep.since);
        if (stays)
            ++pruning.staying;
        else
            pruning.going.push_back(std::move(sweep));
    }
    std::ranges::reverse(pruning.going);
    return pruning;
}

Result<Pruned> prune(Store& store, const Pruning& pruning) {
    Database& database = store.database();
    Pruned pruned;
    pruned.bytes_before = size_of(store.path());
    for (const SweepHead& sweep : pruning.going)
        if (auto dropped = drop_sweep(database, sweep.id); !dropped) return std::unexpected(dropped.error());
    if (auto dropped = drop_what_nothing_needs(database); !dropped) return std::unexpected(dropped.error());
    if (auto given = give_back_room(database); !given) return std::unexpected(given.error());
    pruned.bytes_after = size_of(store.path());
    return pruned;
}

}  // namespace cleanslate::controller::history
