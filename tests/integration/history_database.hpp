#pragma once
// A history's file as somebody else sees it: by SQLite alone.

#include <sqlite3.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace cleanslate::testing {

class HistoryDatabase {
  public:
    // As any program does: what a killed one left is put right on the way.
    explicit HistoryDatabase(const std::string& file) {
        if (::sqlite3_open_v2(file.c_str(), &connection_, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK)
            throw std::runtime_error(file + " can not be opened");
        ::sqlite3_busy_timeout(connection_, 60'000);
    }
    ~HistoryDatabase() { ::sqlite3_close(connection_); }
    HistoryDatabase(const HistoryDatabase&) = delete;
    HistoryDatabase& operator=(const HistoryDatabase&) = delete;

    // Every row, its columns between bars.
    std::string rows(const std::string& sql) const {
        std::string text;
        const auto take = [](void* out, int count, char** columns, char**) {
            for (int i = 0; i < count; ++i)
                *static_cast<std::string*>(out) +=
                    std::string(columns[i] == nullptr ? "-" : columns[i]) + "|";
            *static_cast<std::string*>(out) += "\n";
            return 0;
        };
        char* error = nullptr;
        if (::sqlite3_exec(connection_, sql.c_str(), take, &text, &error) != SQLITE_OK)
            text = std::string("error: ") + error;
        ::sqlite3_free(error);
        return text;
    }
    int sweeps() const { return std::atoi(rows("SELECT count(*) FROM sweeps").c_str()); }
    bool intact() const {
        return rows("PRAGMA integrity_check") == "ok|\n" && rows("PRAGMA foreign_key_check").empty();
    }
    // All that is kept of the first sweeps.
    std::string content(int first_sweeps) const {
        std::string text;
        const std::string ids =
            "(SELECT id FROM sweeps ORDER BY id LIMIT " + std::to_string(first_sweeps) + ")";
        for (const std::string table : {"host_results", "gpu_results", "holders", "findings", "actions"})
            text += rows("SELECT * FROM " + table + " WHERE sweep IN " + ids + " ORDER BY 1, 2, 3");
        text += rows("SELECT * FROM sweeps WHERE id IN " + ids + " ORDER BY id");
        return text + rows(
                          "SELECT p.sweep, p.part, p.hosts, hex(p.packed), hex(b.packed) FROM parts p "
                          "JOIN bases b ON b.id = p.base WHERE p.sweep IN " +
                          ids + " ORDER BY 1, 2");
    }

  private:
    sqlite3* connection_ = nullptr;
};

}  // namespace cleanslate::testing
