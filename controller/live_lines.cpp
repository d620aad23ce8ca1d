#include "controller/live_lines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "controller/files.hpp"

namespace cleanslate::controller {
namespace {

constexpr std::chrono::milliseconds look_every{100};

}  // namespace

Result<std::unique_ptr<LiveLines>> LiveLines::into_file(const std::string& path) {
    const auto refused = [&](const std::string& why) { return fail("write", printable(path) + ": " + why); };
    // Not to wait for a reader where the name is a FIFO.
    FileHandle file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644));
    if (!file.valid()) return refused("cannot be written: " + reason(errno));
    struct stat there {};
    if (::fstat(file.get(), &there) != 0) return refused(reason(errno));
    if (!S_ISREG(there.st_mode)) return refused("not a regular file");
    if (::ftruncate(file.get(), 0) != 0) return refused("cannot be emptied: " + reason(errno));
    return std::unique_ptr<LiveLines>(new LiveLines(std::move(file), path));
}

void LiveLines::write(std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (!lost_.empty()) return;
    if (waiting_.size() + text_.size() - done_ + line.size() > capacity) {
        lost_ = "nobody reads it";
        full_ = true;
        return;
    }
    waiting_ += line;
    news_.notify_all();
    if (thread_.joinable()) return;
    try {
        thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
        // Where there are no more threads, all is written at the end.
    }
}

void LiveLines::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        news_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
        if (waiting_.empty() || (ending_ && !is_file())) return;
        on_disk_ += text_.size();
        text_ = std::exchange(waiting_, {});
        done_ = 0;
        lock.unlock();
        write_out();
        lock.lock();
        if (done_ < text_.size()) return;
    }
}

// Until all of text_ is written, the stream is gone, or the end has come and the stream takes nothing.
void LiveLines::write_out() {
    for (std::string_view left = text_; !left.empty();) {
        const ssize_t written = is_file() || stream_.wait(look_every) ? stream_.write(left) : 0;
        const int error_number = errno;
        const std::lock_guard lock(mutex_);
        if (written < 0) {
            lost_ = reason(error_number);
            full_ = false;
            return;
        }
        left.remove_prefix(static_cast<std::size_t>(written));
        done_ += static_cast<std::size_t>(written);
        if (ending_ && !is_file()) return;
    }
}

void LiveLines::stop() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    news_.notify_all();
    if (thread_.joinable()) thread_.join();
}

Status LiveLines::finish(Output& out) {
    stop();
    if (is_file() && (lost_.empty() || full_)) work();  // what no thread has written
    if (!is_file() && (lost_.empty() || full_)) {
        out.write(std::string_view(text_).substr(done_));
        out.write(waiting_);
        if (auto written = out.finish(); !written) return written;
    }
    if (is_file() && lost_.empty() && ::fsync(file_.get()) != 0)
        lost_ = "cannot be made durable: " + reason(errno);
    if (is_file() && !lost_.empty()) {
        const auto end = std::string_view(text_).substr(0, done_).rfind('\n');
        const std::size_t whole = on_disk_ + (end == std::string_view::npos ? 0 : end + 1);
        if (::ftruncate(file_.get(), static_cast<off_t>(whole)) != 0) lost_ += "; it ends in half a line";
    }
    if (const int error_number = file_.close(); error_number != 0 && lost_.empty())
        lost_ = "cannot be closed: " + reason(error_number);
    if (lost_.empty()) return {};
    return fail("write", (path_.empty() ? "the events" : printable(path_)) + ": " + lost_);
}

}  // namespace cleanslate::controller
