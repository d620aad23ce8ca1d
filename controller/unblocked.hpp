#pragma once
// A stream of ours, written to without ever waiting for whoever reads it. poll() alone does not do: a
// terminal that it calls writable may take less than one write, and of two writers of one pipe only one finds
// the room that both have seen.

#include <sys/types.h>

#include <chrono>
#include <string_view>

#include "controller/file_handle.hpp"

namespace cleanslate::controller {

class Unblocked {
  public:
    // The caller's descriptor, and all who share it, stay as they are: terminals and pipes are opened anew.
    // Where that cannot be done (another user's terminal), a write may wait after all, for as long as a small
    // piece takes.
    explicit Unblocked(int fd);

    // How much of `text` was taken, from its front; 0: nothing has room now. -1 and errno where the stream is
    // gone.
    ssize_t write(std::string_view text);
    // Until there may be room or the stream is gone (true), at most so long (false). After a write that took
    // nothing it always lets some time pass: what poll() says is not believed twice.
    bool wait(std::chrono::milliseconds time);

  private:
    enum class Way { plain, non_blocking, socket };
    int fd() const { return own_.valid() ? own_.get() : fd_; }

    int fd_;
    FileHandle own_;
    Way way_ = Way::plain;
    std::size_t piece_ = 64 * 1024;
    std::chrono::milliseconds pause_{0};  // before the next poll(); 0: the last write took something
};

}  // namespace cleanslate::controller
