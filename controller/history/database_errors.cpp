#include "controller/history/database_errors.hpp"

#include <sqlite3.h>

#include "base/text.hpp"
#include "controller/files.hpp"

namespace cleanslate::controller::history {
namespace {

// The first thing that the quick check finds; empty: nothing, or it cannot even begin.
std::string quick_check(sqlite3* connection) {
    std::string found;
    const auto take = [](void* out, int, char** columns, char**) {
        if (columns[0] != nullptr) *static_cast<std::string*>(out) = columns[0];
        return 0;
    };
    if (::sqlite3_get_autocommit(connection) == 0)
        ::sqlite3_exec(connection, "ROLLBACK", nullptr, nullptr, nullptr);
    ::sqlite3_exec(connection, "PRAGMA quick_check(1)", take, &found, nullptr);
    return found == "ok" ? std::string{} : printable(found);
}

std::string damage(sqlite3* connection) {
    const std::string found = quick_check(connection);
    return "it is damaged" + (found.empty() ? std::string{} : " (" + ellipsize(found, 120) + ")");
}

// The system's word behind an error of reading or writing.
std::string cause(sqlite3* connection) {
    const int error_number = connection == nullptr ? 0 : ::sqlite3_system_errno(connection);
    if (error_number != 0) return reason(error_number);
    return connection == nullptr ? "no memory" : printable(::sqlite3_errmsg(connection));
}

}  // namespace

Error history_error(const std::string& path, const std::string& what, const std::string& remedy) {
    return {"history", "history", "history " + printable(path) + ": " + what, remedy};
}

std::string move_it_away(const std::string& path) {
    const std::string name = printable(path);
    return "move it away (mv " + name + " " + name + ".damaged): the next sweep begins a new one; " +
           "`sqlite3 " + name + ".damaged .recover` may show what is left in it";
}

Error database_error(sqlite3* connection, const std::string& path, int code) {
    switch (code & 0xFF) {
        case SQLITE_FULL:
            return history_error(path, "no space is left on its disk",
                                 "free some, or let go of old sweeps: cleanslate history prune --keep 90d");
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return history_error(path, "another program keeps it locked",
                                 "see who has it open (fuser " + printable(path) + "), and try again");
        case SQLITE_CORRUPT:
            return history_error(path, damage(connection), move_it_away(path));
        case SQLITE_NOTADB:
            return history_error(path, "this is no history",
                                 "name another file with --history, or move this one away");
        case SQLITE_READONLY:
        case SQLITE_PERM:
            return history_error(path, "it, or its folder, may not be written to: " + cause(connection),
                                 "run as its owner, or name another file with --history");
        case SQLITE_CANTOPEN:
            return history_error(path, "cannot be opened: " + cause(connection),
                                 "it and its folder must be readable and writable; --history names another");
        case SQLITE_IOERR:
            return history_error(path, "cannot be read or written: " + cause(connection),
                                 "look at its disk, and try again");
        default:
            return history_error(path, connection == nullptr ? std::string("no memory")
                                                             : printable(::sqlite3_errmsg(connection)));
    }
}

}  // namespace cleanslate::controller::history
