#include "controller/output.hpp"

#include <cerrno>

#include "controller/files.hpp"

namespace cleanslate::controller {

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
