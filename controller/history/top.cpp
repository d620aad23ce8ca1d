#include "controller/history/top.hpp"

#include <fmt/core.h>

namespace cleanslate::controller::history {
namespace {

// `key` is a column of both tables; `name` how its id is spelled out.
std::vector<TopRow> rows_of(Database& database, std::string_view key, std::string_view name,
                            std::int64_t since, std::size_t most) {
    // Of a sweep all processes together; of a day its worst sweep.
    Statement rows(database, fmt::format(R"(
WITH found(sweep, host, what, mib) AS (
  SELECT sweep, host, {0}, sum(used_mib) FROM holders
    WHERE sweep IN (SELECT id FROM sweeps WHERE started >= ?1) AND flags & 1 = 0 GROUP BY sweep, host, {0}
  UNION ALL
  SELECT DISTINCT sweep, host, {0}, 0 FROM actions
    WHERE sweep IN (SELECT id FROM sweeps WHERE started >= ?1) AND pid IS NOT NULL),
nights(what, host, mib) AS (
  SELECT f.what, f.host, max(ifnull(f.mib, 0)) FROM found f JOIN sweeps s ON s.id = f.sweep
    GROUP BY f.what, f.host, s.started / 86400)
SELECT {1}, count(*) AS host_nights, count(DISTINCT host), sum(mib) AS mib_nights, max(mib)
  FROM nights GROUP BY what ORDER BY host_nights DESC, mib_nights DESC, 1 LIMIT ?2)",
                                         key, name));
    std::vector<TopRow> found;
    for (rows.start(since, most); rows.step();)
        found.push_back({rows.text(0), static_cast<std::size_t>(rows.integer(1)),
                         static_cast<std::size_t>(rows.integer(2)), rows.integer(3), rows.integer(4)});
    return found;
}

}  // namespace

Result<Top> top(Store& store, std::int64_t since, std::size_t most) {
    Database& database = store.database();
    Transaction one_look(database, Transaction::Kind::read);
    Top top;
    top.since = since;
    {
        Statement count(database, "SELECT count(*) FROM sweeps WHERE started >= ?");
        count.start(since);
        if (count.step()) top.sweeps = static_cast<std::size_t>(count.integer(0));
    }
    constexpr std::string_view word = "(SELECT text FROM words WHERE id = what)";
    top.users = rows_of(database, "user", word, since, most);
    top.commands = rows_of(database, "command", word, since, most);
    top.hosts = rows_of(database, "host", "(SELECT name FROM hosts WHERE id = what)", since, most);
    if (auto state = database.state(); !state) return std::unexpected(state.error());
    return top;
}

}  // namespace cleanslate::controller::history
