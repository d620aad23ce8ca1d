// A finished sweep into the history.

#include <algorithm>

#include "controller/audit_query.hpp"
#include "controller/help_texts.hpp"
#include "controller/history/database_errors.hpp"
#include "controller/history/history.hpp"
#include "controller/history/host_rows.hpp"
#include "controller/history/report_parts.hpp"

namespace cleanslate::controller::history {
namespace {

std::int64_t scope_id(Database& database, const SweepScope& scope) {
    Statement find(database, "SELECT id FROM scopes WHERE inventory = ? AND hosts = ?");
    find.start(scope.inventory, scope.limit);
    if (find.step()) return find.integer(0);
    Statement insert(database, "INSERT INTO scopes(inventory, hosts) VALUES(?, ?)");
    insert.run(scope.inventory, scope.limit);
    return database.last_row();
}

std::optional<SweepId> newest_of(Database& database, std::int64_t scope) {
    Statement find(database, "SELECT max(id) FROM sweeps WHERE scope = ?");
    find.start(scope);
    return find.step() ? find.integer_or_nothing(0) : std::nullopt;
}

std::string_view stopped_by(const agentless::SweepResult& result) {
    return result.interrupted             ? "interrupted"
           : result.deadline_passed       ? "deadline"
           : result.failure_limit_reached ? "max-failures"
                                          : "";
}

SweepId insert_sweep(Database& database, const Report& report, std::int64_t scope, std::int64_t started) {
    const Summary summary = summarize(report);
    const auto not_begun = static_cast<std::size_t>(std::ranges::count_if(report.result.hosts, not_tried));
    const auto& hosts = summary.hosts;
    const auto& gpus = summary.gpus;
    Statement insert(database,
                     "INSERT INTO sweeps(scope, started, took_ms, command, playbook, dry_run, declined, "
                     "stopped_by, exit_status, hosts_clean, hosts_dirty, hosts_sick, hosts_unknown, "
                     "hosts_unreachable, hosts_not_begun, gpus_clean, gpus_dirty, gpus_sick, gpus_unknown, "
                     "program) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.run(scope, started, report.took.count(), report.command, report.playbook, report.dry_run,
               report.declined, stopped_by(report.result), report.exit_status, hosts[0], hosts[1], hosts[2],
               hosts[3] - std::min(hosts[3], not_begun), hosts[4], not_begun, gpus[0], gpus[1], gpus[2],
               gpus[3], program_version());
    return database.last_row();
}

}  // namespace

Result<SweepId> record(Store& store, const Report& report, const SweepScope& scope, bool raw_commands) {
    Database& database = store.database();
    const auto started = parse_time(report.started);
    if (!started)
        return std::unexpected(history_error(store.path(), "a sweep without a time cannot be recorded"));
    Transaction whole(database, Transaction::Kind::write);
    const std::int64_t of_scope = scope_id(database, scope);
    const std::optional<SweepId> before = newest_of(database, of_scope);
    const SweepId sweep = insert_sweep(database, report, of_scope, *started);
    if (auto stored = store_report(database, sweep, before, report, raw_commands); !stored)
        return std::unexpected(stored.error());
    {
        HostRows rows(database, sweep, *started, before);
        for (const auto& host : report.result.hosts) rows.add(host);
    }
    if (auto committed = whole.commit(); !committed) return std::unexpected(committed.error());
    return sweep;
}

}  // namespace cleanslate::controller::history
