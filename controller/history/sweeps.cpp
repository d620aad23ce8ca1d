#include "controller/history/sweeps.hpp"

#include <fmt/core.h>

#include <limits>

#include "base/text.hpp"
#include "controller/history/database_errors.hpp"

namespace cleanslate::controller::history {
namespace {

constexpr std::string_view columns =
    "SELECT s.id, s.started, s.took_ms, s.command, s.playbook, c.inventory, c.hosts, s.dry_run, s.declined, "
    "s.stopped_by, s.exit_status, s.hosts_clean, s.hosts_dirty, s.hosts_sick, s.hosts_unknown, "
    "s.hosts_unreachable, s.hosts_not_begun, s.gpus_clean, s.gpus_dirty, s.gpus_sick, s.gpus_unknown, "
    "s.program "
    "FROM sweeps s JOIN scopes c ON c.id = s.scope ";

std::size_t count(const Statement& row, int column) {
    const std::int64_t value = row.integer(column);
    return value < 0 ? 0 : static_cast<std::size_t>(value);
}

SweepHead head_of(const Statement& row) {
    SweepHead head;
    head.id = row.integer(0);
    head.started = row.integer(1);
    head.took = Milliseconds{row.integer(2)};
    head.command = row.text(3);
    head.playbook = row.text(4);
    head.scope = {row.text(5), row.text(6)};
    head.dry_run = row.integer(7) != 0;
    head.declined = row.integer(8) != 0;
    head.stopped_by = row.text(9);
    head.exit_status = static_cast<int>(row.integer(10));
    for (int i = 0; i < 5; ++i) head.hosts[static_cast<std::size_t>(i)] = count(row, 11 + i);
    head.not_begun = count(row, 16);
    for (int i = 0; i < 4; ++i) head.gpus[static_cast<std::size_t>(i)] = count(row, 17 + i);
    head.program = row.text(21);
    return head;
}

Error no_sweep(const Store& store, const std::string& what) {
    Error error = history_error(store.path(), what, "cleanslate history lists those that are there");
    error.kind = "history_no_sweep";
    return error;
}

// The only row that there may be.
Result<std::optional<SweepHead>> one(Store& store, Statement& statement) {
    std::optional<SweepHead> head;
    if (statement.step()) head = head_of(statement);
    if (auto state = store.database().state(); !state) return std::unexpected(state.error());
    return head;
}

}  // namespace

Result<std::vector<SweepHead>> sweeps(Store& store, const SweepQuery& query) {
    Statement rows(store.database(), std::string(columns) +
                                         "WHERE s.started >= ?1 AND (?2 IS NULL OR c.inventory = ?2) "
                                         "ORDER BY s.id DESC LIMIT ?3");
    const std::int64_t last = query.last ? static_cast<std::int64_t>(*query.last) : -1;
    std::vector<SweepHead> heads;
    for (rows.start(query.since.value_or(std::numeric_limits<std::int64_t>::min()), query.inventory, last);
         rows.step();)
        heads.push_back(head_of(rows));
    if (auto state = store.database().state(); !state) return std::unexpected(state.error());
    return heads;
}

Result<SweepHead> find_sweep(Store& store, SweepId id) {
    Statement row(store.database(), std::string(columns) + "WHERE s.id = ?");
    row.start(id);
    auto head = one(store, row);
    if (!head) return std::unexpected(head.error());
    if (!*head) return std::unexpected(no_sweep(store, fmt::format("it has no sweep {}", id)));
    return std::move(**head);
}

Result<SweepHead> find_sweep(Store& store, std::string_view word) {
    if (word == "last") {
        Statement row(store.database(), std::string(columns) + "ORDER BY s.id DESC LIMIT 1");
        auto head = one(store, row);
        if (!head) return std::unexpected(head.error());
        if (!*head) return std::unexpected(no_sweep(store, "it has no sweep yet"));
        return std::move(**head);
    }
    const auto id = parse_number(word);
    if (!id || *id > static_cast<std::uint64_t>(std::numeric_limits<SweepId>::max()))
        return std::unexpected(
            no_sweep(store, "a sweep is named by its number, or last, not '" + printable(word) + "'"));
    return find_sweep(store, static_cast<SweepId>(*id));
}

Result<std::optional<SweepHead>> predecessor_of(Store& store, const SweepHead& sweep) {
    Statement row(store.database(),
                  std::string(columns) +
                      "WHERE s.scope = (SELECT scope FROM sweeps WHERE id = ?1) AND s.id < ?1 "
                      "ORDER BY s.id DESC LIMIT 1");
    row.start(sweep.id);
    return one(store, row);
}

}  // namespace cleanslate::controller::history
