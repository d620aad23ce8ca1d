#pragma once
// Files of the controller's own: made durable, private, and never half written where that matters.

#include <sys/types.h>

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
// followed; what is there and no regular file is refused. The mode of a new file is 0644 less the umask. What
// is not committed leaves the old text as it was.
class FileReplacement {
  public:
    explicit FileReplacement(const std::string& path);
    ~FileReplacement();
    FileReplacement(const FileReplacement&) = delete;
    FileReplacement& operator=(const FileReplacement&) = delete;
    void write(std::string_view text);
    // Call once. The error of the first thing that went wrong, of kind "write".
    Status commit();

  private:
    void flush();

    std::string path_, target_, name_;
    mode_t mode_ = 0;
    FileHandle file_;
    std::string held_;
    Status state_;
};

// The same of a text that is there as a whole.
Status replace_file(const std::string& path, std::string_view text);

// An error where replace_file would fail for what can be told beforehand: no regular file, or a folder that
// is not there or may not be written to.
Status may_replace(const std::string& path);

// A symbolic link is followed.
bool file_exists(const std::string& path);

// The reason errno gives, as text.
std::string reason(int error_number);

}  // namespace cleanslate::controller
