#include "controller/output.hpp"

#include <fcntl.h>

#include <cerrno>

#include "controller/files.hpp"

namespace cleanslate::controller {

void occupy_closed_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
        // The lowest free descriptor is this one; it can be read, so that each write to it fails.
        if (::open("/dev/null", O_RDONLY) < 0) return;
    }
}

void Output::write(std::string_view text) {
    if (failed_ || text.empty()) return;
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), file_) == text.size()) return;
    failed_ = true;
    error_number_ = errno;
}

Status Output::finish() {
    errno = 0;
    if (!failed_ && (std::fflush(file_) != 0 || std::ferror(file_) != 0)) {
        failed_ = true;
        error_number_ = errno;
    }
    if (!failed_) return {};
    return fail("write", "the report could not be written: " +
                             (error_number_ == 0 ? std::string("output error") : reason(error_number_)));
}

}  // namespace cleanslate::controller
