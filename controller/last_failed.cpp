#include "controller/last_failed.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>

#include "base/text.hpp"
#include "controller/history/not_clean.hpp"
#include "controller/page.hpp"
#include "controller/settings.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using history::NotClean;
using Names = std::vector<std::string>;

Result<NotClean> read_history(const Options& options, const Environment& environment) {
    const std::string file = options.history ? *options.history : default_history_file(environment);
    if (file.empty())
        return fail("usage", "--last-failed: which history? Neither $XDG_STATE_HOME nor $HOME says",
                    "give --history FILE");
    auto store = history::Store::open(file, history::Use::read);
    if (!store) return std::unexpected(with_context(store.error(), "--last-failed"));
    auto found = history::not_clean(**store, scope_of(options).inventory);
    if (!found) return std::unexpected(with_context(found.error(), "--last-failed"));
    return found;
}

std::string name_of(const NotClean& last) {
    std::string name = fmt::format("sweep {} ({}{}, {}, -l {})", last.sweep.id, last.sweep.command,
                                   last.sweep.dry_run ? " --dry-run" : "", rfc3339(last.sweep.started),
                                   printable(last.sweep.scope.limit));
    if (last.sweeps > 1)
        name += fmt::format(" and {} before it, each host in its newest", count_of(last.sweeps - 1, "sweep"));
    return name;
}

Result<Names> names_of(const Options& options) {
    const auto selection = select_hosts(options);
    if (!selection) return std::unexpected(selection.error());
    Names names;
    for (const auto& host : selection->hosts) names.push_back(host.name);
    return names;
}

// Those of `names` that are, or are not, among `others`.
Names among(const Names& names, const Names& others, bool are) {
    const std::unordered_set<std::string> set(others.begin(), others.end());
    Names kept;
    for (const std::string& name : names)
        if (set.contains(name) == are) kept.push_back(name);
    return kept;
}

}  // namespace

Result<LastFailed> narrow_to_last_failed(const Options& options, const Environment& environment) {
    const auto last = read_history(options, environment);
    if (!last) return std::unexpected(last.error());
    LastFailed result;
    if (last->names.empty()) {
        result.notes.push_back(
            fmt::format("nothing to repeat: {} of {} {} clean then. Nobody is contacted now, and nothing is "
                        "proven of today",
                        count_of(last->hosts, "host"), name_of(*last), last->hosts == 1 ? "was" : "were"));
        return result;
    }
    Options everything = options;
    everything.limit.reset();
    const auto all = names_of(everything);
    if (!all) return std::unexpected(all.error());
    const auto selected = names_of(options);
    if (!selected) return std::unexpected(selected.error());
    if (const Names gone = among(last->names, *all, false); !gone.empty())
        result.notes.push_back(fmt::format("not clean in {}, and gone from the inventory: {}", name_of(*last),
                                           printable(inventory::fold(gone))));
    Names only = among(*selected, last->names, true);
    if (only.empty())
        return fail("limit",
                    fmt::format("--last-failed: of {} not clean in {}, none is selected now",
                                count_of(last->names.size(), "host"), name_of(*last)),
                    "give another -l, or leave --last-failed out");
    result.notes.push_back(
        fmt::format("{} of {} not clean in {}", only.size(), count_of(last->hosts, "host"), name_of(*last)));
    result.narrowed = options;
    result.narrowed->limit = inventory::fold(only);
    result.narrowed->only = std::move(only);
    result.narrowed->last_failed = false;
    return result;
}

}  // namespace cleanslate::controller
