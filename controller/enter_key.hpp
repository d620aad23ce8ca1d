#pragma once
// Enter, typed while something runs.

#include <functional>
#include <thread>

#include "controller/file_handle.hpp"

namespace cleanslate::controller {

// While it lives, each Enter that is typed alone on a line calls back, on a thread of its own. The terminal's
// modes stay as they are. It is read only while this process is in the foreground of its controlling
// terminal: whoever reads it from the background is stopped; and only while it is read by lines: a pager
// reads keys. A line with words in it is left to who reads next (the shell), and so is all that comes after
// it.
class EnterKey {
  public:
    // `fd` outlives it; where it is no terminal, nothing is ever read.
    EnterKey(int fd, std::function<void()> pressed);
    // Ends the thread at once; when it returns, `pressed` is not running and will not be called again.
    ~EnterKey();
    EnterKey(const EnterKey&) = delete;
    EnterKey& operator=(const EnterKey&) = delete;

  private:
    void watch();
    bool take_enter();
    bool is_ended(int patience_ms) const;

    int fd_;
    std::function<void()> pressed_;
    FileHandle end_;
    std::thread thread_;
};

}  // namespace cleanslate::controller
