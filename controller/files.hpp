#pragma once
// Files of the controller's own: made durable, private, and never half written where that matters.

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "controller/file_handle.hpp"

namespace cleanslate::controller {

// Writes all of it; errno's text in the error. Kind "write".
Status write_all(int fd, std::string_view bytes);

// Creates the missing folders above `path`, each with mode 0700.
Status make_parents(const std::string& path);

// Makes the name of a new file durable, not only what is in it. A folder that may not be read, and a file
// system that knows no such thing, are no errors.
Status sync_folder_of(const std::string& path);

// Replaces `path` in one step: whoever reads it sees the old text or the new one. A symbolic link is
// followed; what is there and no regular file is refused. The mode of a new file is 0644 less the umask.
Status replace_file(const std::string& path, std::string_view text);

// An error where replace_file would fail for what can be told beforehand: no regular file, or a folder that
// is not there or may not be written to.
Status may_replace(const std::string& path);

// A symbolic link is followed.
bool file_exists(const std::string& path);

// The reason errno gives, as text.
std::string reason(int error_number);

}  // namespace cleanslate::controller
