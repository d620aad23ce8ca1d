#include "controller/history/not_clean.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/text.hpp"
#include "controller/history/database_errors.hpp"
#include "controller/history/host_states.hpp"

namespace cleanslate::controller::history {
namespace {

// The newest sweep of each scope, newest first, down to one of the whole inventory.
std::vector<SweepId> newest_of_scopes(Database& database, const std::string& inventory) {
    Statement rows(database,
                   "SELECT max(s.id) AS newest, c.hosts FROM scopes c JOIN sweeps s ON s.scope = c.id "
                   "WHERE c.inventory = ? GROUP BY c.id ORDER BY newest DESC");
    std::vector<SweepId> newest;
    for (rows.start(inventory); rows.step();) {
        newest.push_back(rows.integer(0));
        if (rows.text(1) == "all") break;
    }
    return newest;
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
    HostReader reader(store.database());
    std::unordered_set<std::int64_t> seen;
    for (const SweepId sweep : newest_of_scopes(store.database(), inventory)) {
        auto states = host_states(store.database(), sweep);
        std::ranges::sort(states, {}, &HostState::place);
        bool newest_of_one = false;
        for (const HostState& state : states) {
            if (!seen.insert(state.host).second) continue;
            newest_of_one = true;
            if (!state.is_clean()) found.names.push_back(reader.name(state.host));
        }
        if (newest_of_one) ++found.sweeps;
    }
    found.hosts = seen.size();
    if (auto state = store.database().state(); !state) return std::unexpected(state.error());
    if (seen.empty())
        return std::unexpected(history_error(store.path(), "its newest sweep has no hosts", "check first"));
    return found;
}

}  // namespace cleanslate::controller::history
