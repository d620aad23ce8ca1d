#include "controller/history/report_parts.hpp"

#include <fmt/core.h>

#include "controller/history/database_errors.hpp"
#include "controller/history/packing.hpp"
#include "controller/json_report.hpp"

namespace cleanslate::controller::history {
namespace {

constexpr std::size_t hosts_of_part = 64;
constexpr std::size_t bytes_of_part = 1024 * 1024;  // a host that takes more has a part of its own

struct Base {
    SweepId id = 0;
    std::size_t packed_bytes = 0;
    std::string text;
};

class PartWriter {
  public:
    PartWriter(Database& database, SweepId sweep, std::optional<SweepId> before)
        : database_(database),
          sweep_(sweep),
          before_(before),
          base_of_(database,
                   "SELECT b.id, b.packed FROM parts p JOIN bases b ON b.id = p.base "
                   "WHERE p.sweep = ? AND p.part = ?"),
          insert_base_(database, "INSERT INTO bases(bytes, packed) VALUES(?, ?)"),
          insert_part_(
              database,
              "INSERT INTO parts(sweep, part, base, hosts, bytes, packed) VALUES(?, ?, ?, ?, ?, ?)") {}

    void add_host(std::string_view text) {
        if (hosts_ > 0 && held_.size() + text.size() > bytes_of_part) flush();
        if (hosts_ > 0) held_ += ",\n";
        held_ += text;
        if (++hosts_ == hosts_of_part) flush();
    }
    void add_head(std::string_view text) { store(text, 0); }
    void flush() {
        if (hosts_ > 0) store(held_, hosts_);
        held_.clear();
        hosts_ = 0;
    }

  private:
    // What the part in the same place was packed against the time before; a text of its own where it is to
    // begin anew.
    std::optional<Base> base() {
        if (!before_) return std::nullopt;
        base_of_.start(*before_, part_);
        if (!base_of_.step()) return std::nullopt;
        auto text = unpacker_.unpack(base_of_.bytes(1), {}, most_bytes_of_part);
        if (!text) return std::nullopt;
        return Base{base_of_.integer(0), base_of_.bytes(1).size(), std::move(*text)};
    }

    void store(std::string_view text, std::size_t hosts) {
        if (text.size() > most_bytes_of_part)
            return database_.fail_with(history_error(
                database_.path(),
                fmt::format("a report of {} MiB of one host is too large to keep", text.size() >> 20)));
        std::optional<Base> base = this->base();
        std::string packed = base ? pack(text, base->text) : std::string{};
        // Where it saves less than half there may be a better base, which the text is to itself.
        if (!base || packed.size() * 2 > base->packed_bytes) {
            std::string alone = pack(text, {});
            if (!base || packed.size() * 2 > alone.size()) {
                insert_base_.run(text.size(), Blob{alone});
                base = Base{database_.last_row(), alone.size(), {}};
                packed = pack(text, std::string(text));  // zstd takes no base that is the text's own memory
            }
        }
        insert_part_.run(sweep_, part_, base->id, hosts, text.size(), Blob{packed});
        ++part_;
    }

    std::string pack(std::string_view text, std::string_view base) {
        auto packed = packer_.pack(text, base);
        if (packed) return std::move(*packed);
        database_.fail_with(packed.error());
        return {};
    }

    Database& database_;
    SweepId sweep_;
    std::optional<SweepId> before_;
    Statement base_of_, insert_base_, insert_part_;
    Packer packer_;
    Unpacker unpacker_;
    std::string held_;
    std::size_t hosts_ = 0;
    int part_ = 0;
};

}  // namespace

Status store_report(Database& database, SweepId sweep, std::optional<SweepId> before, const Report& report,
                    bool raw_commands) {
    PartWriter parts(database, sweep, before);
    std::size_t piece = 0;
    const std::size_t hosts = report.result.hosts.size();
    write_json(report, raw_commands, [&](std::string_view text) {
        if (piece == 0)
            parts.add_head(text);
        else if (piece <= hosts)
            parts.add_host(text.substr(piece == 1 ? 1 : 2));  // a line end, and a comma from the second on
        ++piece;
    });
    parts.flush();
    return database.state();
}

}  // namespace cleanslate::controller::history
