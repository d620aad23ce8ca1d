#include "controller/history/diff.hpp"

#include <algorithm>
#include <utility>

#include "controller/history/gpu_moves.hpp"
#include "controller/history/host_states.hpp"

namespace cleanslate::controller::history {
namespace {

using agentless::Verdict;

// A host in both sweeps, or in one of them.
struct Pair {
    const HostState* before = nullptr;
    const HostState* now = nullptr;
};

// Both are sorted by host.
std::vector<Pair> pairs_of(const std::vector<HostState>& before, const std::vector<HostState>& now) {
    std::vector<Pair> pairs;
    auto old = before.begin();
    for (const HostState& state : now) {
        for (; old != before.end() && old->host < state.host; ++old) pairs.push_back({&*old, nullptr});
        const bool both = old != before.end() && old->host == state.host;
        pairs.push_back({both ? &*old++ : nullptr, &state});
    }
    for (; old != before.end(); ++old) pairs.push_back({&*old, nullptr});
    // In the order of the newer report, those that are gone last.
    std::ranges::sort(pairs, {}, [](const Pair& pair) {
        return pair.now != nullptr ? std::pair(0, pair.now->place) : std::pair(1, pair.before->place);
    });
    return pairs;
}

// Which of the older sweep's GPUs were dirty or sick, and whether anything was seen of them.
struct GpusBefore {
    bool seen = false;
    std::vector<StoredGpu> gpus;
};

std::optional<bool> is_newly(const StoredGpu& gpu, const GpusBefore& before) {
    const auto is_bad = [](Verdict verdict) { return verdict == Verdict::dirty || verdict == Verdict::sick; };
    if (!before.seen || !is_bad(gpu.verdict)) return std::nullopt;
    return std::ranges::none_of(before.gpus, [&](const StoredGpu& other) {
        const bool same = gpu.uuid.empty() ? gpu.index == other.index : gpu.uuid == other.uuid;
        return same && is_bad(other.verdict);
    });
}

class Comparison {
  public:
    Comparison(Database& database, Diff& diff) : diff_(diff), reader_(database) {}

    void add(const Pair& pair) {
        const bool in_both = pair.before != nullptr && pair.now != nullptr;
        if (diff_.older && !in_both) {
            if (!diff_.compares_hosts) {
                ++diff_.not_compared;
                return;
            }
            auto& names = pair.now == nullptr ? diff_.hosts_gone : diff_.hosts_new;
            names.push_back(reader_.name(id_of(pair)));
        }
        see_gpus(pair);
        if (pair.now == nullptr) return;
        if (!pair.now->verdict)
            ++diff_.not_looked_at;
        else
            place(pair);
    }
    void finish() {
        if (diff_.older) compare_gpus(gpus_, diff_);
    }

  private:
    static std::int64_t id_of(const Pair& pair) {
        return pair.now != nullptr ? pair.now->host : pair.before->host;
    }

    void place(const Pair& pair) {
        static const HostState nobody{};
        const HostState& before = pair.before == nullptr ? nobody : *pair.before;
        const HostState& now = *pair.now;
        if (now.is_bad()) {
            auto& list = before.was_bad() ? diff_.still_dirty : diff_.newly_dirty;
            list.push_back(change(pair));
        } else if (now.is_dark()) {
            auto& list = before.was_dark() ? diff_.still_unknown : diff_.newly_unknown;
            list.push_back(change(pair));
        } else if (before.was_bad() || before.was_dark()) {
            diff_.newly_clean.push_back(change(pair));
        } else {
            ++diff_.still_clean;
        }
    }

    HostChange change(const Pair& pair) {
        const HostState& now = *pair.now;
        HostChange change;
        change.host = reader_.name(now.host);
        change.verdict = *now.verdict;
        if (pair.before != nullptr) change.before = pair.before->verdict;
        const HostState& runs = now.is_clean() && pair.before != nullptr ? *pair.before : now;
        change.dirty_since = runs.dirty_since;
        change.unknown_since = runs.unknown_since;
        change.why = reader_.word(now.why);
        change.codes = reader_.codes(diff_.newer.id, now.host);
        change.holders = reader_.holders(diff_.newer.id, now.host);
        change.gpus = reader_.gpus(diff_.newer.id, now.host);
        if (change.gpus.empty()) return change;
        GpusBefore before;
        before.seen = pair.before != nullptr && (pair.before->is_bad() || pair.before->is_clean());
        if (before.seen) before.gpus = reader_.gpus(diff_.older->id, now.host);
        for (StoredGpu& gpu : change.gpus) gpu.newly = is_newly(gpu, before);
        return change;
    }

    // Hosts whose set of GPUs is another one.
    void see_gpus(const Pair& pair) {
        const auto set_of = [](const HostState* state) {
            return state == nullptr ? std::nullopt : state->gpu_set;
        };
        const auto before = set_of(pair.before), now = set_of(pair.now);
        if (before == now || (pair.before != nullptr && !before) || (pair.now != nullptr && !now)) return;
        const auto gpus = [&](const std::optional<std::int64_t>& set) {
            return set ? read_gpu_set(reader_.gpu_set(*set)) : std::vector<KnownGpu>{};
        };
        gpus_.push_back({reader_.name(id_of(pair)), gpus(before), gpus(now)});
    }

    Diff& diff_;
    HostReader reader_;
    std::vector<HostGpus> gpus_;
};

// One look at the file, whatever is recorded meanwhile.
Result<Diff> compare(Store& store, SweepId newer, std::optional<SweepId> older) {
    Diff diff;
    auto head = find_sweep(store, newer);
    if (!head) return std::unexpected(head.error());
    diff.newer = std::move(*head);
    if (older) {
        auto before = find_sweep(store, *older);
        if (!before) return std::unexpected(before.error());
        diff.older = std::move(*before);
    } else {
        auto before = predecessor_of(store, diff.newer);
        if (!before) return std::unexpected(before.error());
        diff.older = std::move(*before);
    }
    diff.compares_hosts = diff.older && diff.older->scope == diff.newer.scope &&
                          diff.older->stopped_by.empty() && diff.newer.stopped_by.empty();
    Database& database = store.database();
    const auto now = host_states(database, diff.newer.id);
    const auto before = diff.older ? host_states(database, diff.older->id) : std::vector<HostState>{};
    Comparison comparison(database, diff);
    for (const Pair& pair : pairs_of(before, now)) comparison.add(pair);
    comparison.finish();
    if (auto state = database.state(); !state) return std::unexpected(state.error());
    return diff;
}

}  // namespace

Result<Diff> diff(Store& store, SweepId newer, std::optional<SweepId> older) {
    if (older && *older > newer) std::swap(*older, newer);
    Transaction one_look(store.database(), Transaction::Kind::read);
    return compare(store, newer, older);
}

}  // namespace cleanslate::controller::history
