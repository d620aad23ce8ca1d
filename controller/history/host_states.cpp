#include "controller/history/host_states.hpp"

#include <algorithm>
#include <tuple>

#include "controller/history/host_rows.hpp"

namespace cleanslate::controller::history {

using agentless::Verdict;

namespace {

std::optional<int> small_number(std::optional<std::int64_t> value) {
    return value && *value >= 0 && *value < 1'000'000 ? std::optional(static_cast<int>(*value))
                                                      : std::nullopt;
}

std::optional<Mebibytes> mib(std::optional<std::int64_t> value) {
    return value ? std::optional(Mebibytes{*value}) : std::nullopt;
}

// One process has a row a GPU.
bool same_process(const StoredHolder& a, const StoredHolder& b) {
    return a.pid && a.pid == b.pid && a.start == b.start && a.gpus.empty() == b.gpus.empty();
}

void join(std::vector<StoredHolder>& holders, StoredHolder holder) {
    const auto known =
        std::ranges::find_if(holders, [&](const auto& other) { return same_process(other, holder); });
    if (known == holders.end()) return holders.push_back(std::move(holder));
    known->gpus.insert(known->gpus.end(), holder.gpus.begin(), holder.gpus.end());
    if (holder.used) known->used = known->used.value_or(Mebibytes{}) + *holder.used;
}

}  // namespace

Verdict verdict_of(std::int64_t stored) {
    return stored >= 0 && stored <= static_cast<std::int64_t>(Verdict::unreachable)
               ? static_cast<Verdict>(stored)
               : Verdict::unknown;
}

std::vector<HostState> host_states(Database& database, SweepId sweep) {
    Statement rows(database,
                   "SELECT host, place, state, gpu_set, dirty_since, unknown_since, why FROM host_results "
                   "WHERE sweep = ? ORDER BY host");
    std::vector<HostState> states;
    for (rows.start(sweep); rows.step();) {
        HostState state;
        state.host = rows.integer(0);
        state.place = rows.integer(1);
        if (rows.integer(2) != not_begun) state.verdict = verdict_of(rows.integer(2));
        state.gpu_set = rows.integer_or_nothing(3);
        state.dirty_since = rows.integer_or_nothing(4);
        state.unknown_since = rows.integer_or_nothing(5);
        state.why = rows.integer_or_nothing(6);
        states.push_back(state);
    }
    return states;
}

HostReader::HostReader(Database& database)
    : name_(database, "SELECT name FROM hosts WHERE id = ?"),
      word_(database, "SELECT text FROM words WHERE id = ?"),
      set_(database, "SELECT gpus FROM gpu_sets WHERE id = ?"),
      codes_(database,
             "SELECT w.text FROM findings f JOIN words w ON w.id = f.code WHERE f.sweep = ? AND f.host = ? "
             "ORDER BY f.severity DESC, w.text"),
      gpus_(
          database,
          "SELECT g.gpu, w.text, g.verdict, g.used_mib FROM gpu_results g LEFT JOIN words w ON w.id = g.uuid "
          "WHERE g.sweep = ? AND g.host = ? ORDER BY g.place"),
      holders_(
          database,
          "SELECT h.gpu_place, h.gpu, h.pid, h.start, u.text, e.text, c.text, n.text, h.used_mib, h.age_s, "
          "h.flags FROM holders h LEFT JOIN words u ON u.id = h.user LEFT JOIN words e ON e.id = h.exe "
          "LEFT JOIN words c ON c.id = h.command LEFT JOIN words n ON n.id = h.unit "
          "WHERE h.sweep = ? AND h.host = ? ORDER BY h.place") {}

std::string HostReader::name(std::int64_t host) {
    name_.start(host);
    return name_.step() ? name_.text(0) : "?";
}

std::string HostReader::word(std::optional<std::int64_t> id) {
    if (!id) return {};
    word_.start(*id);
    return word_.step() ? word_.text(0) : std::string{};
}

std::string HostReader::gpu_set(std::int64_t id) {
    set_.start(id);
    return set_.step() ? set_.text(0) : std::string{};
}

std::vector<std::string> HostReader::codes(SweepId sweep, std::int64_t host) {
    std::vector<std::string> codes;
    for (codes_.start(sweep, host); codes_.step();) codes.push_back(codes_.text(0));
    return codes;
}

std::vector<StoredGpu> HostReader::gpus(SweepId sweep, std::int64_t host) {
    std::vector<StoredGpu> gpus;
    for (gpus_.start(sweep, host); gpus_.step();)
        gpus.push_back({small_number(gpus_.integer_or_nothing(0)), gpus_.text(1),
                        verdict_of(gpus_.integer(2)), mib(gpus_.integer_or_nothing(3)), std::nullopt});
    return gpus;
}

std::vector<StoredHolder> HostReader::holders(SweepId sweep, std::int64_t host) {
    std::vector<StoredHolder> holders;
    for (holders_.start(sweep, host); holders_.step();) {
        StoredHolder holder;
        if (const auto gpu = small_number(holders_.integer_or_nothing(1))) holder.gpus = {*gpu};
        holder.pid = holders_.integer_or_nothing(2);
        holder.start = holders_.integer_or_nothing(3);
        holder.user = holders_.text(4);
        holder.exe = holders_.text(5);
        holder.command = holders_.text(6);
        holder.unit = holders_.text(7);
        holder.used = mib(holders_.integer_or_nothing(8));
        holder.age_s = holders_.integer_or_nothing(9);
        const std::int64_t flags = holders_.integer(10);
        holder.is_protected = (flags & 1) != 0;
        holder.ghost = (flags & 2) != 0;
        holder.inherited = (flags & 4) != 0;
        holder.foreign_pid = (flags & 8) != 0;
        holder.without_device = (flags & 16) != 0;
        join(holders, std::move(holder));
    }
    std::ranges::stable_sort(holders, std::greater<>{}, [](const StoredHolder& holder) {
        return holder.used.value_or(Mebibytes{-1}).count;
    });
    return holders;
}

}  // namespace cleanslate::controller::history
