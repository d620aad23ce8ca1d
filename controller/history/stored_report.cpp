#include <fmt/core.h>

#include <unordered_set>

#include "controller/history/database_errors.hpp"
#include "controller/history/packing.hpp"
#include "controller/history/report_parts.hpp"
#include "controller/report_reader.hpp"

namespace cleanslate::controller::history {
namespace {

// More is no report of ours: 100,000 hosts of 16 GPUs take a third of it.
constexpr std::size_t most_bytes = 2u << 30;

// Reads part by part: the whole document is never in memory, only what was read of it.
class PartReader {
  public:
    PartReader(Store& store, SweepId sweep)
        : store_(store),
          parts_(store.database(),
                 "SELECT p.part, p.packed, b.packed FROM parts p JOIN bases b ON b.id = p.base "
                 "WHERE p.sweep = ? ORDER BY p.part") {
        parts_.start(sweep);
    }
    // The next part's text; nothing: there is none left, or an error of the database.
    Result<std::optional<std::string>> next() {
        if (!parts_.step()) return std::nullopt;
        if (parts_.integer(0) != part_++) return std::unexpected(damaged("a part of the report is missing"));
        const auto base = unpacker_.unpack(parts_.bytes(2), {}, most_bytes_of_part);
        if (!base) return std::unexpected(damaged(base.error().message));
        auto text = unpacker_.unpack(parts_.bytes(1), *base, most_bytes_of_part);
        if (!text) return std::unexpected(damaged(text.error().message));
        if ((bytes_ += text->size()) > most_bytes) return std::unexpected(damaged("a report is too large"));
        return std::move(*text);
    }
    Error damaged(const std::string& what) const {
        return history_error(store_.path(), what, move_it_away(store_.path()));
    }

  private:
    Store& store_;
    Statement parts_;
    Unpacker unpacker_;
    std::int64_t part_ = 0;
    std::size_t bytes_ = 0;
};

// A report of which parts are gone, or are there twice, proves nothing about the others.
Status is_whole(Store& store, SweepId sweep, const Report& report, const PartReader& parts) {
    Statement count(store.database(), "SELECT count(*) FROM host_results WHERE sweep = ?");
    count.start(sweep);
    const std::int64_t expected = count.step() ? count.integer(0) : -1;
    std::unordered_set<std::string_view> names;
    for (const auto& host : report.result.hosts) names.insert(host.name);
    if (std::ssize(report.result.hosts) == expected && std::ssize(names) == expected) return {};
    return std::unexpected(parts.damaged(
        fmt::format("the report of sweep {} has {} of its {} hosts", sweep, names.size(), expected)));
}

}  // namespace

Result<Report> load_report(Store& store, SweepId sweep) {
    Transaction one_look(store.database(), Transaction::Kind::read);
    PartReader parts(store, sweep);
    auto head = parts.next();
    if (!head) return std::unexpected(head.error());
    if (auto state = store.database().state(); !state) return std::unexpected(state.error());
    if (!*head)
        return std::unexpected(parts.damaged(fmt::format("the report of sweep {} is not in it", sweep)));
    const std::string where = fmt::format("sweep {} of history {}", sweep, store.path());
    const std::string end = "\n]}\n";
    std::optional<Report> report;
    do {
        auto text = parts.next();
        if (!text) return std::unexpected(text.error());
        if (!*text && report) break;
        auto some = read_report(**head + (*text ? "\n" + **text : "") + end, where);
        if (!some) return std::unexpected(some.error());
        if (!report)
            report = std::move(*some);
        else
            for (auto& host : some->result.hosts) report->result.hosts.push_back(std::move(host));
        if (!*text) break;
    } while (true);
    if (auto state = store.database().state(); !state) return std::unexpected(state.error());
    if (auto whole = is_whole(store, sweep, *report, parts); !whole) return std::unexpected(whole.error());
    return std::move(*report);
}

}  // namespace cleanslate::controller::history
