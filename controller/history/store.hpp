#pragma once
// A history that is open: one SQLite file, docs/history.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "controller/history/database.hpp"
#include "controller/history/journal.hpp"

namespace cleanslate::controller::history {

using SweepId = std::int64_t;

enum class Use {
    record,  // made where it is not there (mode 0600, missing folders 0700); it must be writable
    change,  // it must be there and writable
    read,    // it must be there; also one that may only be read
};

class Store {
  public:
    // Errors of kind "history": what cannot be opened, is damaged, another program's or a newer one's: it is
    // left as it is. Of kind "history_missing": there is none. `journal`: absent, what its file
    // system can do.
    static Result<std::unique_ptr<Store>> open(const std::string& path, Use use,
                                               KeepWaiting keep_waiting = half_a_minute,
                                               std::optional<Journal> journal = std::nullopt);
    Database& database() { return *database_; }
    void set_keep_waiting(KeepWaiting keep_waiting) { database_->set_keep_waiting(std::move(keep_waiting)); }
    // Absolute.
    const std::string& path() const { return database_->path(); }

  private:
    explicit Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}
    std::unique_ptr<Database> database_;
};

}  // namespace cleanslate::controller::history
