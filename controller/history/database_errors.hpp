#pragma once
// What SQLite's errors mean for whoever keeps a history, and what to do. Private to the history.

#include <string>

#include "base/result.hpp"

struct sqlite3;

namespace cleanslate::controller::history {

// Of kind "history". Where the file seems to be damaged, SQLite's quick check has its say.
Error database_error(sqlite3* connection, const std::string& path, int code);

// One of ours: "history FILE: what".
Error history_error(const std::string& path, const std::string& what, const std::string& remedy = {});

// What is no history, or is none any more, is never written over: it is to be moved away.
std::string move_it_away(const std::string& path);

}  // namespace cleanslate::controller::history
