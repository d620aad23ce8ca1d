#pragma once
// The one door to SQLite: a connection, prepared statements and transactions that free what they hold. The
// first error stays (`state()`), and whatever is asked after it does nothing: a caller asks once, at the end.
// Private to the history.

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/units.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace cleanslate::controller::history {

// Asked every moment in which another program has the file locked: how long that has been. False gives up.
using KeepWaiting = std::function<bool(Milliseconds)>;
bool half_a_minute(Milliseconds waited);

// Bytes, which are no text.
struct Blob {
    std::string_view bytes;
};

class Database;

// One prepared statement, used as often as one likes. Parameters are bound in their order.
class Statement {
  public:
    Statement(Database& database, std::string_view sql);

    // Begins with these parameters; `step()` then goes from row to row.
    template <class... Values>
    void start(const Values&... values) {
        reset();
        int place = 0;
        (bind(++place, values), ...);
    }
    // True: there is a row. False: there is none left, or an error.
    bool step();
    // Begins, and goes to the end.
    template <class... Values>
    void run(const Values&... values) {
        start(values...);
        while (step()) continue;
        reset();
    }

    // Of the row, columns counted from 0. Whatever is there is read as what is asked for: a hostile file
    // yields odd values, and no more.
    std::int64_t integer(int column) const;
    std::optional<std::int64_t> integer_or_nothing(int column) const;
    std::string text(int column) const;        // empty where nothing is there
    std::string_view bytes(int column) const;  // valid until the next step
    bool is_null(int column) const;

  private:
    void reset();
    void bind(int place, std::integral auto value) { bind_integer(place, static_cast<std::int64_t>(value)); }
    void bind(int place, std::string_view text);
    void bind(int place, const std::string& text) { bind(place, std::string_view(text)); }
    void bind(int place, const char* text) { bind(place, std::string_view(text)); }
    void bind(int place, Blob blob);
    void bind(int place, std::nullptr_t);
    template <class Value>
    void bind(int place, const std::optional<Value>& value) {
        value ? bind(place, *value) : bind(place, nullptr);
    }
    void bind_integer(int place, std::int64_t value);
    void check(int code);

    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    Database& database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
  public:
    enum class Access {
        change,
        look,  // of what nobody changes meanwhile: nothing is written, not even beside it
    };
    // Opens what is there (a file of no bytes is an empty database); `path` is absolute.
    static Result<std::unique_ptr<Database>> open(const std::string& path, KeepWaiting keep_waiting,
                                                  Access access = Access::change);
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    const std::string& path() const { return path_; }
    bool read_only() const;
    void set_keep_waiting(KeepWaiting keep_waiting) { keep_waiting_ = std::move(keep_waiting); }

    // Several statements without parameters and results, all of our own.
    void execute(const char* sql);
    // The first column of the first row; 0 and "" where there is none.
    std::int64_t integer_of(std::string_view sql);
    std::string text_of(std::string_view sql);
    std::int64_t last_row() const;
    // Rows that the last statement changed.
    std::int64_t changes() const;

    // The first thing that went wrong, of kind "history", with the file's name and a remedy.
    Status state() const { return state_; }
    // Whether that was another program's lock.
    bool was_busy() const { return busy_; }
    void forget_error();
    void fail_with(Error error);

  private:
    friend class Statement;
    friend class Transaction;
    explicit Database(std::string path) : path_(std::move(path)) {}
    void guard();
    void check(int code);
    bool wait(int times);

    struct Close {
        void operator()(sqlite3* connection) const;
    };
    std::string path_;
    KeepWaiting keep_waiting_;
    Milliseconds waited_{0};
    std::unique_ptr<sqlite3, Close> connection_;
    Status state_;
    bool busy_ = false;
};

// All of it or nothing: without a commit, what was done is undone.
class Transaction {
  public:
    enum class Kind { read, write };  // read: one look at what was there when it began
    Transaction(Database& database, Kind kind);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    // The database's state: an error of anything before undoes everything.
    Status commit();

  private:
    Database& database_;
    bool open_ = false;
};

}  // namespace cleanslate::controller::history
