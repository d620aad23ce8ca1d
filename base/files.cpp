#include "base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"

namespace cleanslate {
namespace {

struct Descriptor {
    int fd;
    bool owned;
    Descriptor(int f, bool o) : fd(f), owned(o) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (owned && fd >= 0) ::close(fd);
    }
};

std::string shown_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::unexpected<Error> refused(const std::string& path, int error) {
    return fail("file", fmt::format("{}: can not be read: {}", printable(path), std::strerror(error)));
}

}  // namespace

Status read_pieces(const std::string& path, const std::function<Status(std::string_view)>& use) {
    const bool standard_input = path == "-";
    const std::string shown = shown_name(path);
    const int opened = standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    const Descriptor file(opened, !standard_input);
    if (file.fd < 0) return refused(shown, errno);
    struct stat status {};
    if (::fstat(file.fd, &status) != 0) return refused(shown, errno);
    if (S_ISDIR(status.st_mode)) {
        return fail("file", printable(shown) + ": is a folder", "name one file in it");
    }
    std::array<char, 1 << 16> buffer{};
    for (;;) {
        const ssize_t count = ::read(file.fd, buffer.data(), buffer.size());
        if (count == 0) return {};
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return refused(shown, errno);
        if (auto used = use({buffer.data(), static_cast<std::size_t>(count)}); !used) return used;
    }
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
    std::string text;
    const auto read = read_pieces(path, [&](std::string_view piece) -> Status {
        text.append(piece);
        if (text.size() <= max_bytes) return {};
        return fail("file",
                    fmt::format("{}: is larger than {} bytes", printable(shown_name(path)), max_bytes));
    });
    if (!read) return std::unexpected(read.error());
    return text;
}

}  // namespace cleanslate
