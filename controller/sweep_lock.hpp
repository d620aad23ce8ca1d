#pragma once
// That sweeps of one inventory do not overlap (--exclusive).

#include <optional>
#include <string>

#include "base/result.hpp"
#include "controller/audit_log.hpp"
#include "controller/file_handle.hpp"

namespace cleanslate::controller {

// Held until it is destroyed or the process ends, however that happens. The file stays: it says who held the
// lock last, and nothing is read from it while nobody does.
class SweepLock {
  public:
    // Takes the lock of `inventory` (see SweepScope) in `folder`, which is created (0700) where it is
    // missing; waits for nobody. An error of kind "locked" names who holds it and since when; "write" where
    // the file cannot be made.
    static Result<SweepLock> take(const std::string& folder, const std::string& inventory,
                                  const Actor& actor);

    const std::string& path() const { return path_; }

  private:
    SweepLock(FileHandle file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
    FileHandle file_;
    std::string path_;
};

// Where locks live: beside the history and the audit log: sweeps that share these see each other, those of
// another user or state folder do not. Empty where neither $XDG_STATE_HOME (absolute) nor $HOME says where.
std::string default_lock_folder(const Environment& environment);

}  // namespace cleanslate::controller
