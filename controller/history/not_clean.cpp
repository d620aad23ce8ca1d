#include "controller/history/not_clean.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "controller/history/database_errors.hpp"
#include "controller/history/host_states.hpp"

namespace cleanslate::controller::history {

Result<NotClean> not_clean(Store& store, const std::string& inventory) {
    auto newest = sweeps(store, {1, std::nullopt, inventory});
    if (!newest) return std::unexpected(newest.error());
    if (newest->empty()) {
        Error none = history_error(store.path(), "it has no sweep of inventory " + printable(inventory),
                                   "cleanslate history lists those that are there; check first");
        none.kind = "history_no_sweep";
        return std::unexpected(std::move(none));
    }
    NotClean found{std::move(newest->front()), {}, 0};
    auto states = host_states(store.database(), found.sweep.id);
    std::ranges::sort(states, {}, &HostState::place);
    HostReader reader(store.database());
    for (const HostState& state : states)
        if (!state.is_clean()) found.names.push_back(reader.name(state.host));
    found.hosts = states.size();
    if (auto state = store.database().state(); !state) return std::unexpected(state.error());
    if (states.empty())
        return std::unexpected(history_error(store.path(), "its newest sweep has no hosts", "check first"));
    return found;
}

}  // namespace cleanslate::controller::history
