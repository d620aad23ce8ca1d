#pragma once
// How changes are kept until they are complete. Private to the history.

#include <string>

#include "controller/history/database.hpp"

namespace cleanslate::controller::history {

// wal: readers and one writer at the same time; it needs memory that all of them share, which file systems
// of a network do not offer. rollback: works wherever locks do.
enum class Journal { wal, rollback };

// `type`: statfs's f_type.
Journal journal_for(unsigned long type);
// Of the file system that holds `path`, which is there.
Journal journal_at(const std::string& path);

// Whether the file says of itself that it is kept with a wal. Before it is opened.
bool is_in_wal(const std::string& path);

// Makes it so, whatever the file was kept with before; and after a commit, what was committed is on the disk,
// also after a power loss.
void set_journal(Database& database, Journal journal);

}  // namespace cleanslate::controller::history
