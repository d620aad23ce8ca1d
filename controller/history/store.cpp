#include "controller/history/store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/text.hpp"
#include "controller/files.hpp"
#include "controller/history/database_errors.hpp"
#include "controller/history/journal.hpp"
#include "controller/history/schema.hpp"

namespace cleanslate::controller::history {
namespace {

constexpr const char* another = "name another file with --history";

// Names like ":memory:" and "file:..." mean something to SQLite; a path from the root never does.
std::string absolute(const std::string& path) {
    std::error_code failed;
    const std::string full = std::filesystem::absolute(path, failed).string();
    return failed ? path : full;
}

Status create(const std::string& path) {
    if (auto made = make_parents(path); !made)
        return std::unexpected(history_error(path, made.error().message, another));
    // What SQLite puts beside it gets the same mode.
    const FileHandle file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.valid()) return sync_folder_of(path);
    return errno == EEXIST ? Status{} : std::unexpected(history_error(path, reason(errno), another));
}

// By its name alone: closing any descriptor of a file gives up the locks that a process has on it.
Status check_file(const std::string& path, Use use) {
    struct stat there {};
    if (::stat(path.c_str(), &there) != 0)
        return std::unexpected(history_error(path, reason(errno), another));
    if (!S_ISREG(there.st_mode)) return std::unexpected(history_error(path, "not a regular file", another));
    if (use != Use::read && ::access(path.c_str(), W_OK) != 0)
        return std::unexpected(history_error(path, "it may not be written to", another));
    const bool open_to_others = there.st_uid == ::geteuid() && (there.st_mode & 077) != 0;
    if (use != Use::read && open_to_others && ::chmod(path.c_str(), there.st_mode & 0700) != 0)
        return std::unexpected(history_error(path, "others may read it, and chmod failed: " + reason(errno)));
    return {};
}

// What may not be written to has no place for what its readers share; where all that was written is in the
// file itself, it can be read without.
Database::Access access_for(const std::string& path, Use use) {
    struct stat beside {};
    const bool unfinished = ::stat((path + "-wal").c_str(), &beside) == 0 && beside.st_size > 0;
    const bool look = use == Use::read && ::access(path.c_str(), W_OK) != 0 && !unfinished;
    return look ? Database::Access::look : Database::Access::change;
}

Error missing(const std::string& path, const std::string& what) {
    Error error = history_error(path, what, "a check or a clear begins it");
    error.kind = "history_missing";
    return error;
}

Status set_up(Database& database, Use use, Journal journal) {
    // Before anything is written: a file that is not ours stays as it is.
    const auto version = own_version(database, steps());
    if (!version) return std::unexpected(version.error());
    if (use != Use::record && *version == 0)
        return std::unexpected(missing(database.path(), "nothing is in it yet"));
    if (database.read_only()) {
        if (*version == newest_version()) return {};
        return std::unexpected(history_error(
            database.path(), "an older cleanslate has written it, and it may not be brought up to date",
            "run as its owner"));
    }
    if (*version == 0) database.execute("PRAGMA auto_vacuum=INCREMENTAL;");
    set_journal(database, journal);
    if (auto migrated = migrate(database, steps()); !migrated) return migrated;
    if (use == Use::read) database.execute("PRAGMA query_only=ON;");
    return database.state();
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::string& path, Use use, KeepWaiting keep_waiting,
                                           std::optional<Journal> journal) {
    const std::string full = absolute(path);
    if (use != Use::record && !file_exists(full)) return std::unexpected(missing(full, "there is none yet"));
    if (use == Use::record && !file_exists(full))
        if (auto created = create(full); !created) return std::unexpected(created.error());
    if (auto checked = check_file(full, use); !checked) return std::unexpected(checked.error());
    if (!journal) journal = journal_at(full);
    // Memory that its users share is not to be had there: it is this process's alone until that is changed.
    const bool alone = *journal == Journal::rollback && is_in_wal(full);
    auto database = Database::open(full, keep_waiting, access_for(full, use));
    if (!database) return std::unexpected(database.error());
    if (alone) (*database)->execute("PRAGMA locking_mode=EXCLUSIVE;");
    // Two that begin one at the same time are in each other's way for a moment, in which nobody is asked to
    // wait: a change of the journal needs the file for itself.
    Milliseconds waited{0};
    for (Status ready = set_up(**database, use, *journal); !ready;
         ready = set_up(**database, use, *journal)) {
        constexpr Milliseconds moment{20};
        if (!(*database)->was_busy() || !keep_waiting(waited)) return std::unexpected(ready.error());
        (*database)->forget_error();
        std::this_thread::sleep_for(moment);
        waited += moment;
    }
    if (alone) {
        (*database)->execute("PRAGMA locking_mode=NORMAL;");
        (void)(*database)->integer_of("SELECT count(*) FROM sqlite_schema");  // lets go with the next look
    }
    return std::unique_ptr<Store>(new Store(std::move(*database)));
}

}  // namespace cleanslate::controller::history
