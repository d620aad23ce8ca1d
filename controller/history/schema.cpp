#include "controller/history/schema.hpp"

#include <fmt/core.h>

#include <array>
#include <iterator>

#include "controller/history/database_errors.hpp"

namespace cleanslate::controller::history {
namespace {

// What the columns hold:
//   times are seconds since 1970; took_ms and ms milliseconds; *_mib whole MiB; NULL: not observed.
//   words: every text that comes again and again, once. `code`, `user`, ... are ids of words.
//   state, verdict: 0 clean, 1 dirty, 2 sick, 3 unknown, 4 unreachable; state 5: never begun.
//   dirty_since, unknown_since: when the first sweep of the unbroken run began (docs/history.md).
//   gpu_sets.gpus: a JSON list of [index, uuid, bus id, name], as the host shows them. host_results.gpu_set
//   is the last one that was seen of the host in this scope, up to this sweep. flags: 1 protected, 2 ghost, 4
//   inherited, 8 foreign pid, 16 without device. parts: the JSON report in pieces, part 0 its head, packed
//   against a base that nights have in common.
constexpr Step version_1 = R"(
CREATE TABLE scopes(
  id INTEGER PRIMARY KEY, inventory TEXT NOT NULL, hosts TEXT NOT NULL, UNIQUE(inventory, hosts));
CREATE TABLE sweeps(
  id INTEGER PRIMARY KEY AUTOINCREMENT, scope INTEGER NOT NULL REFERENCES scopes(id),
  started INTEGER NOT NULL, took_ms INTEGER NOT NULL, command TEXT NOT NULL, playbook TEXT NOT NULL,
  dry_run INTEGER NOT NULL, declined INTEGER NOT NULL, stopped_by TEXT NOT NULL, exit_status INTEGER NOT NULL,
  hosts_clean INTEGER NOT NULL, hosts_dirty INTEGER NOT NULL, hosts_sick INTEGER NOT NULL,
  hosts_unknown INTEGER NOT NULL, hosts_unreachable INTEGER NOT NULL, hosts_not_begun INTEGER NOT NULL,
  gpus_clean INTEGER NOT NULL, gpus_dirty INTEGER NOT NULL, gpus_sick INTEGER NOT NULL,
  gpus_unknown INTEGER NOT NULL, program TEXT NOT NULL);
CREATE INDEX sweeps_of_scope ON sweeps(scope, id);
CREATE TABLE hosts(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE words(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE gpu_sets(id INTEGER PRIMARY KEY, gpus TEXT NOT NULL UNIQUE);
CREATE TABLE host_results(
  sweep INTEGER NOT NULL REFERENCES sweeps(id), host INTEGER NOT NULL, place INTEGER NOT NULL,
  state INTEGER NOT NULL, gpu_set INTEGER, dirty_since INTEGER, unknown_since INTEGER, why INTEGER,
  PRIMARY KEY(sweep, host)) WITHOUT ROWID;
CREATE TABLE gpu_results(
  sweep INTEGER NOT NULL REFERENCES sweeps(id), host INTEGER NOT NULL, place INTEGER NOT NULL,
  gpu INTEGER, uuid INTEGER, verdict INTEGER NOT NULL, used_mib INTEGER,
  PRIMARY KEY(sweep, host, place)) WITHOUT ROWID;
CREATE TABLE holders(
  sweep INTEGER NOT NULL REFERENCES sweeps(id), host INTEGER NOT NULL, place INTEGER NOT NULL,
  gpu_place INTEGER, gpu INTEGER, pid INTEGER, start INTEGER, user INTEGER, exe INTEGER, command INTEGER,
  unit INTEGER, used_mib INTEGER, age_s INTEGER, flags INTEGER NOT NULL,
  PRIMARY KEY(sweep, host, place)) WITHOUT ROWID;
CREATE TABLE findings(
  sweep INTEGER NOT NULL REFERENCES sweeps(id), host INTEGER NOT NULL, code INTEGER NOT NULL,
  severity INTEGER NOT NULL, gpus INTEGER NOT NULL,
  PRIMARY KEY(sweep, host, code)) WITHOUT ROWID;
CREATE TABLE actions(
  sweep INTEGER NOT NULL REFERENCES sweeps(id), host INTEGER NOT NULL, place INTEGER NOT NULL,
  step INTEGER NOT NULL, what INTEGER NOT NULL, pid INTEGER, start INTEGER, user INTEGER, command INTEGER,
  result INTEGER, ms INTEGER,
  PRIMARY KEY(sweep, host, place)) WITHOUT ROWID;
CREATE TABLE bases(id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, packed BLOB NOT NULL);
CREATE TABLE parts(
  id INTEGER PRIMARY KEY, sweep INTEGER NOT NULL REFERENCES sweeps(id), part INTEGER NOT NULL,
  base INTEGER NOT NULL REFERENCES bases(id), hosts INTEGER NOT NULL, bytes INTEGER NOT NULL,
  packed BLOB NOT NULL);
CREATE UNIQUE INDEX parts_of_sweep ON parts(sweep, part);
CREATE INDEX parts_of_base ON parts(base);
)";

constexpr std::array all_steps{version_1};

// Whose it is, as far as it says. An empty database is anybody's.
bool is_ours(Database& database, std::int64_t version) {
    const std::int64_t id = database.integer_of("PRAGMA application_id");
    if (id == application_id) return true;
    return id == 0 && version == 0 && database.integer_of("SELECT count(*) FROM sqlite_schema") == 0;
}

// In one transaction with the version that it makes: whoever else migrates at the same time has done it, or
// does it afterwards.
Status take_step(Database& database, std::span<const Step> steps) {
    Transaction transaction(database, Transaction::Kind::write);
    const std::int64_t version = database.integer_of("PRAGMA user_version");
    if (version >= 0 && version < std::ssize(steps)) {
        database.execute(steps[static_cast<std::size_t>(version)]);
        database.execute(
            fmt::format("PRAGMA application_id={}; PRAGMA user_version={};", application_id, version + 1)
                .c_str());
    }
    return transaction.commit();
}

}  // namespace

std::span<const Step> steps() { return all_steps; }

Result<std::int64_t> own_version(Database& database, std::span<const Step> steps) {
    const std::int64_t version = database.integer_of("PRAGMA user_version");
    const bool ours = is_ours(database, version);
    if (auto state = database.state(); !state) return std::unexpected(state.error());
    if (!ours)
        return std::unexpected(history_error(database.path(), "it is another program's database",
                                             "name another file with --history"));
    if (version >= 0 && version <= std::ssize(steps)) return version;
    return std::unexpected(
        history_error(database.path(),
                      fmt::format("a newer cleanslate has written it (version {}; this one knows up to {})",
                                  version, steps.size()),
                      "run the newer program, or name another file with --history"));
}

Status migrate(Database& database, std::span<const Step> steps) {
    for (;;) {
        const auto version = own_version(database, steps);
        if (!version) return std::unexpected(version.error());
        if (*version == std::ssize(steps)) return {};
        if (auto taken = take_step(database, steps); !taken) return taken;
    }
}

}  // namespace cleanslate::controller::history
