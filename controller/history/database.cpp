#include "controller/history/database.hpp"

#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <limits>
#include <thread>

#include "controller/history/database_errors.hpp"

namespace cleanslate::controller::history {
namespace {

constexpr int most_bytes = 320 * 1024 * 1024;  // of one value
constexpr int most_sql = 64 * 1024;

std::string uri_of(const std::string& path) {
    std::string uri = "file:";
    for (const char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 || c == '/');
        uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
    }
    return uri;
}

}  // namespace

bool half_a_minute(Milliseconds waited) { return waited < std::chrono::seconds(30); }

// --- Statement

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { ::sqlite3_finalize(statement); }

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
    if (!database_.state_) return;
    sqlite3_stmt* statement = nullptr;
    check(::sqlite3_prepare_v3(database_.connection_.get(), sql.data(), static_cast<int>(sql.size()), 0,
                               &statement, nullptr));
    statement_.reset(statement);
}

void Statement::check(int code) { database_.check(code); }

void Statement::reset() {
    if (!statement_) return;
    ::sqlite3_reset(statement_.get());  // says again what step() has said
    ::sqlite3_clear_bindings(statement_.get());
}

bool Statement::step() {
    if (!statement_ || !database_.state_) return false;
    const int code = ::sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) check(code);
    ::sqlite3_reset(statement_.get());
    return false;
}

void Statement::bind_integer(int place, std::int64_t value) {
    if (statement_) check(::sqlite3_bind_int64(statement_.get(), place, value));
}

void Statement::bind(int place, std::string_view text) {
    if (!statement_) return;
    const char* const begin = text.data() == nullptr ? "" : text.data();
    check(::sqlite3_bind_text64(statement_.get(), place, begin, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind(int place, Blob blob) {
    if (!statement_) return;
    const char* const begin = blob.bytes.data() == nullptr ? "" : blob.bytes.data();
    check(::sqlite3_bind_blob64(statement_.get(), place, begin, blob.bytes.size(), SQLITE_TRANSIENT));
}

void Statement::bind(int place, std::nullptr_t) {
    if (statement_) check(::sqlite3_bind_null(statement_.get(), place));
}

bool Statement::is_null(int column) const {
    return !statement_ || ::sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
    return statement_ ? ::sqlite3_column_int64(statement_.get(), column) : 0;
}

std::optional<std::int64_t> Statement::integer_or_nothing(int column) const {
    return is_null(column) ? std::nullopt : std::optional(integer(column));
}

std::string Statement::text(int column) const { return std::string(bytes(column)); }

std::string_view Statement::bytes(int column) const {
    if (is_null(column)) return {};
    const auto* begin = static_cast<const char*>(::sqlite3_column_blob(statement_.get(), column));
    const int size = ::sqlite3_column_bytes(statement_.get(), column);
    return begin == nullptr ? std::string_view{} : std::string_view(begin, static_cast<std::size_t>(size));
}

// --- Database

void Database::Close::operator()(sqlite3* connection) const { ::sqlite3_close_v2(connection); }

Result<std::unique_ptr<Database>> Database::open(const std::string& path, KeepWaiting keep_waiting,
                                                 Access access) {
    std::unique_ptr<Database> database(new Database(path));
    database->keep_waiting_ = std::move(keep_waiting);
    sqlite3* connection = nullptr;
    const bool change = access == Access::change;
    const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                      (change ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    const std::string name = change ? path : uri_of(path) + "?immutable=1";
    const int code = ::sqlite3_open_v2(name.c_str(), &connection, flags, nullptr);
    database->connection_.reset(connection);  // there even where it could not be opened
    database->check(code);
    database->guard();
    if (auto state = database->state(); !state) return std::unexpected(state.error());
    return database;
}

// The file may come from anywhere: nothing in it is run, and nothing of it may be larger than what we write.
void Database::guard() {
    if (!state_) return;
    sqlite3* const db = connection_.get();
    const auto set = [&](int option, int value) { check(::sqlite3_db_config(db, option, value, nullptr)); };
    set(SQLITE_DBCONFIG_DEFENSIVE, 1);
    set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
    set(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
    set(SQLITE_DBCONFIG_ENABLE_VIEW, 0);
    set(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0);
    set(SQLITE_DBCONFIG_DQS_DML, 0);
    set(SQLITE_DBCONFIG_DQS_DDL, 0);
    set(SQLITE_DBCONFIG_ENABLE_FKEY, 1);
    ::sqlite3_limit(db, SQLITE_LIMIT_LENGTH, most_bytes);
    ::sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, most_sql);
    ::sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    const auto wait_for = [](void* self, int times) {
        return static_cast<Database*>(self)->wait(times) ? 1 : 0;
    };
    check(::sqlite3_busy_handler(db, wait_for, this));
    execute("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA cache_size=-16000;");
}

// A moment of waiting for a lock: short at first.
bool Database::wait(int times) {
    if (times == 0) waited_ = Milliseconds{0};
    if (!keep_waiting_(waited_)) return false;
    const Milliseconds moment{std::min(1 << std::min(times, 6), 50)};
    std::this_thread::sleep_for(moment);
    waited_ += moment;
    return true;
}

bool Database::read_only() const { return ::sqlite3_db_readonly(connection_.get(), "main") != 0; }

void Database::execute(const char* sql) {
    if (state_) check(::sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr));
}

std::int64_t Database::integer_of(std::string_view sql) {
    Statement statement(*this, sql);
    return statement.step() ? statement.integer(0) : 0;
}

std::string Database::text_of(std::string_view sql) {
    Statement statement(*this, sql);
    return statement.step() ? statement.text(0) : std::string{};
}

std::int64_t Database::last_row() const { return ::sqlite3_last_insert_rowid(connection_.get()); }

std::int64_t Database::changes() const { return ::sqlite3_changes64(connection_.get()); }

void Database::check(int code) {
    if (code == SQLITE_OK || !state_) return;
    busy_ = (code & 0xFF) == SQLITE_BUSY || (code & 0xFF) == SQLITE_LOCKED;
    state_ = std::unexpected(database_error(connection_.get(), path_, code));
}

void Database::fail_with(Error error) {
    if (state_) state_ = std::unexpected(std::move(error));
}

void Database::forget_error() {
    state_ = {};
    busy_ = false;
}

// --- Transaction

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
    database_.execute(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
    open_ = database_.state().has_value();
}

Transaction::~Transaction() {
    // Some errors have undone it already.
    if (open_ && ::sqlite3_get_autocommit(database_.connection_.get()) == 0)
        ::sqlite3_exec(database_.connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Status Transaction::commit() {
    database_.execute("COMMIT");
    if (database_.state()) open_ = false;
    return database_.state();
}

}  // namespace cleanslate::controller::history
