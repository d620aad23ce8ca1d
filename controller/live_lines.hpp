#pragma once
// Lines for a program that reads them as they come, written by a thread of its own: no host waits for a pipe
// that nobody reads or for a slow disk. In contrast to a Console's, none is left out from the middle.

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.hpp"
#include "controller/file_handle.hpp"
#include "controller/output.hpp"
#include "controller/unblocked.hpp"

namespace cleanslate::controller {

class LiveLines {
  public:
    // Into an open stream, which stays open.
    explicit LiveLines(int fd) : stream_(fd) {}
    // Into a regular file, which is emptied; the mode of a new one is 0644 less the umask. A symbolic link is
    // followed. Errors of kind "write".
    static Result<std::unique_ptr<LiveLines>> into_file(const std::string& path);
    // What finish() was not called for may be lost.
    ~LiveLines() { stop(); }
    LiveLines(const LiveLines&) = delete;
    LiveLines& operator=(const LiveLines&) = delete;

    // A whole line with its end. From any thread; never waits. After the first that could not be written or
    // kept there is no other: what arrives is the beginning of what was told.
    void write(std::string_view line);

    // Call once, after the last line. A file has everything on the disk then; what a stream has not taken yet
    // goes on by `out`, which is of the same stream and knows how long to wait. An error of kind "write" if
    // anything was lost: a file then ends with a whole line.
    Status finish(Output& out);

    // Bytes that are kept for whoever reads them, at most.
    static constexpr std::size_t capacity = 64u << 20;

  private:
    LiveLines(FileHandle file, std::string path)
        : file_(std::move(file)), path_(std::move(path)), stream_(file_.get()) {}
    bool is_file() const { return file_.valid(); }
    void work();
    void write_out();
    void stop();

    FileHandle file_;
    std::string path_;  // empty: a stream
    Unblocked stream_;  // these three of the thread, while there is one
    std::string text_;
    std::size_t on_disk_ = 0;  // bytes in the file before text_
    std::mutex mutex_;
    std::condition_variable news_;  // a line came, or the end
    std::string waiting_;
    std::size_t done_ = 0;  // bytes of text_ that are written
    std::string lost_;      // why something was; empty: nothing
    bool full_ = false;     // it is only that more came than is kept
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace cleanslate::controller
