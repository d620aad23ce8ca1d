#pragma once
// An open file descriptor that closes itself.

#include <unistd.h>

#include <utility>

namespace cleanslate::controller {

class FileHandle {
  public:
    FileHandle() = default;
    explicit FileHandle(int fd) : fd_(fd) {}
    FileHandle(FileHandle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    FileHandle& operator=(FileHandle&& other) noexcept {
        if (this != &other) {
            close();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    FileHandle(const FileHandle&) = delete;
    FileHandle& operator=(const FileHandle&) = delete;
    ~FileHandle() { close(); }

    bool valid() const { return fd_ >= 0; }
    int get() const { return fd_; }
    // 0, or the errno of the close: a full disk may speak up only here.
    int close();

  private:
    int fd_ = -1;
};

}  // namespace cleanslate::controller
