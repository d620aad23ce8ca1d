#include "controller/progress.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {
namespace {

using agentless::HostOutcome;
using agentless::Verdict;

constexpr Milliseconds stall{3'000};  // so long without news, and the slowest host is named
constexpr Milliseconds redraw_every{200};

Milliseconds since(std::chrono::steady_clock::time_point then) {
    return std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - then);
}

std::string whole_seconds(Milliseconds duration) {
    if (duration < Milliseconds{60'000}) return fmt::format("{} s", duration.count() / 1000);
    return format_duration(duration);
}

std::string counts_text(const ProgressState& state) {
    std::string text;
    const auto add = [&](std::size_t count, std::string_view word) {
        if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
    };
    if (!state.verdicts) {
        add(state.not_asked, "not asked");
        return text;
    }
    for (std::size_t i = 0; i < state.counts.size(); ++i)
        add(state.counts[i], to_string(static_cast<Verdict>(i)));
    return text;
}

std::string ended_line(const HostOutcome& host, bool verdicts) {
    std::string how(verdicts ? to_string(host.verdict) : "");
    if (!verdicts)
        how = asked(host) == Asked::ok ? "ok" : asked(host) == Asked::failed ? "failed" : "not asked";
    std::string line = fmt::format("{}: {}, {}", host.name, how, format_duration(host.took));
    if (host.error) return line + ": " + host.error->message;
    // Why it went no further, where that is not its verdict: host-busy, vetoed, ...
    std::set<std::string> codes;
    for (const agentless::Finding& finding : host.findings)
        if (codes.insert(finding.code).second) line += (codes.size() == 1 ? ": " : ", ") + finding.code;
    return line;
}

}  // namespace

std::string progress_line(const ProgressState& state, std::size_t columns) {
    std::string line = fmt::format("{}/{} {}", state.done, state.total, state.total == 1 ? "host" : "hosts");
    if (const std::string counts = counts_text(state); !counts.empty()) line += ": " + counts;
    line += "; " + whole_seconds(state.elapsed);
    if (state.quiet_for >= stall && !state.slowest.empty()) {
        line += "; waiting for " + state.slowest;
        if (!state.slowest_doing.empty()) line += ": " + state.slowest_doing;
        line += " (" + whole_seconds(state.slowest_for) + ")";
    }
    return ellipsize(printable(line), columns);
}

Progress::Progress(Settings settings) : settings_(settings), console_(settings.fd) {}

Progress::~Progress() { end(); }

void Progress::begin(std::size_t hosts, bool verdicts) {
    end();
    const std::lock_guard lock(mutex_);
    counted_ = {};
    counted_.total = hosts;
    counted_.verdicts = verdicts;
    active_.clear();
    began_ = last_event_ = Clock::now();
    running_ = true;
    if (settings_.redraw) ticker_ = std::thread([this] { tick(); });
}

void Progress::end() {
    {
        const std::lock_guard lock(mutex_);
        running_ = false;
        erase();
    }
    ended_.notify_all();
    if (ticker_.joinable()) ticker_.join();
    console_.flush();
}

void Progress::tick() {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, redraw_every, [this] { return !running_; })) draw();
}

void Progress::say(std::string_view text) {
    const std::lock_guard lock(mutex_);
    erase();
    console_.write(printable(text) + "\n");
    if (!running_) console_.flush();  // what is written beside it comes after it
}

void Progress::host_started(const HostOutcome& host) {
    const std::lock_guard lock(mutex_);
    last_event_ = Clock::now();
    active_[host.name] = {last_event_, host.doing};
}

void Progress::host_progress(const HostOutcome& host) {
    const std::lock_guard lock(mutex_);
    last_event_ = Clock::now();
    if (const auto found = active_.find(host.name); found != active_.end()) found->second.doing = host.doing;
}

void Progress::host_finished(const HostOutcome& host) {
    const std::lock_guard lock(mutex_);
    last_event_ = Clock::now();
    active_.erase(host.name);
    ++counted_.done;
    ++counted_.counts[static_cast<std::size_t>(host.verdict)];
    if (asked(host) == Asked::not_asked) ++counted_.not_asked;
    if (settings_.verbosity < 1) return;
    erase();
    console_.write(printable(ended_line(host, counted_.verdicts)) + "\n");
}

void Progress::host_detail(const std::string& host, const std::string& line) {
    if (settings_.verbosity < 2) return;
    const std::lock_guard lock(mutex_);
    erase();
    console_.write(printable(host + ": " + line) + "\n");
}

ProgressState Progress::state() const {
    ProgressState now = counted_;
    now.elapsed = since(began_);
    now.quiet_for = since(last_event_);
    const auto earlier = [](const auto& a, const auto& b) { return a.second.since < b.second.since; };
    if (const auto slowest = std::ranges::min_element(active_, earlier); slowest != active_.end()) {
        now.slowest = slowest->first;
        now.slowest_doing = slowest->second.doing;
        now.slowest_for = since(slowest->second.since);
    }
    return now;
}

void Progress::draw() {
    if (console_.unwritten() > 0) return;  // nobody would see it
    const std::string line = progress_line(state(), settings_.columns > 1 ? settings_.columns - 1 : 1);
    if (line == drawn_) return;
    console_.write("\r\x1b[K" + line);
    drawn_ = line;
}

void Progress::erase() {
    if (!drawn_.empty()) console_.write("\r\x1b[K");
    drawn_.clear();
}

}  // namespace cleanslate::controller
