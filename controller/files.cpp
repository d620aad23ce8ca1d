#include "controller/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/text.hpp"

namespace cleanslate::controller {
namespace {

constexpr std::size_t hold = 256 * 1024;

Status write_error(const std::string& path, const std::string& what, int error_number) {
    return fail("write", printable(path) + ": " + what + ": " + reason(error_number));
}

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

// Where a symbolic link leads; the path itself where it is none, or leads nowhere yet.
std::string resolved(const std::string& path) {
    char* real = ::realpath(path.c_str(), nullptr);
    if (real == nullptr) return path;
    std::string result(real);
    std::free(real);
    return result;
}

// /dev/stdout leads to whatever file is open there: it is to be written to and not to be replaced.
bool is_no_file(const std::string& path, const struct stat* there) {
    const bool stands_for_another = path.starts_with("/dev/") || path.starts_with("/proc/");
    return stands_for_another || (there != nullptr && !S_ISREG(there->st_mode));
}

mode_t mode_for_new_file(const struct stat* old) {
    if (old != nullptr) return old->st_mode & 07777;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0644 & ~mask;
}

}  // namespace

int FileHandle::close() {
    const int fd = std::exchange(fd_, -1);
    return fd >= 0 && ::close(fd) != 0 ? errno : 0;
}

std::string reason(int error_number) { return std::generic_category().message(error_number); }

Status write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return fail("write", reason(errno));
        if (written == 0) return fail("write", "nothing more could be written");
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

Status make_parents(const std::string& path) {
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
        const std::string folder = path.substr(0, slash);
        if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
            const int error_number = errno;
            struct stat there {};
            // A parent that may not be written, or is read-only, is no matter as long as it is there.
            if (::stat(folder.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) continue;
            return write_error(folder, "cannot make this folder", error_number);
        }
    }
    return {};
}

Status sync_folder_of(const std::string& path) {
    const std::string folder = folder_of(path);
    FileHandle file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!file.valid() || ::fsync(file.get()) == 0 || errno == EINVAL || errno == ENOTSUP) return {};
    return write_error(folder, "cannot be made durable", errno);
}

bool file_exists(const std::string& path) {
    struct stat there {};
    return ::stat(path.c_str(), &there) == 0;
}

Status may_replace(const std::string& path) {
    const std::string target = resolved(path);
    struct stat old {};
    if (is_no_file(path, ::lstat(target.c_str(), &old) == 0 ? &old : nullptr))
        return fail("write", printable(path) + ": not a regular file");
    if (::access(folder_of(target).c_str(), W_OK | X_OK) != 0)
        return write_error(path, "cannot be written", errno);
    return {};
}

FileReplacement::FileReplacement(const std::string& path) : path_(path), target_(resolved(path)) {
    struct stat old {};
    const bool exists = ::lstat(target_.c_str(), &old) == 0;
    if (is_no_file(path, exists ? &old : nullptr)) {
        state_ = fail("write", printable(path) + ": not a regular file");
        return;
    }
    mode_ = mode_for_new_file(exists ? &old : nullptr);
    name_ = folder_of(target_) + "/.cleanslate.XXXXXX";
    file_ = FileHandle(::mkostemp(name_.data(), O_CLOEXEC));
    if (file_.valid()) return;
    state_ = write_error(path_, "cannot be written", errno);
    name_.clear();
}

FileReplacement::~FileReplacement() {
    if (!name_.empty()) ::unlink(name_.c_str());
}

void FileReplacement::write(std::string_view text) {
    if (!state_) return;
    held_ += text;
    if (held_.size() >= hold) flush();
}

void FileReplacement::flush() {
    if (const auto written = write_all(file_.get(), held_); !written)
        state_ = std::unexpected(with_context(written.error(), printable(path_)));
    held_.clear();
}

Status FileReplacement::commit() {
    if (state_) flush();
    if (state_ && ::fchmod(file_.get(), mode_) != 0) state_ = write_error(path_, "chmod", errno);
    if (state_ && ::fsync(file_.get()) != 0) state_ = write_error(path_, "cannot be made durable", errno);
    if (const int error_number = file_.close(); state_ && error_number != 0)
        state_ = write_error(path_, "cannot be closed", error_number);
    if (state_ && ::rename(name_.c_str(), target_.c_str()) != 0)
        state_ = write_error(path_, "cannot be put in place", errno);
    if (state_) name_.clear();
    return state_;
}

Status replace_file(const std::string& path, std::string_view text) {
    FileReplacement file(path);
    file.write(text);
    return file.commit();
}

}  // namespace cleanslate::controller
