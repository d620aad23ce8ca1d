#include "controller/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {
namespace {

using agentless::HostOutcome;

constexpr Milliseconds redraw_every{200};
// So late, and the process was stopped: what stands on the terminal's line then is not ours.
constexpr Milliseconds late{2'000};
constexpr std::size_t slowest_told = 12;

Milliseconds since(std::chrono::steady_clock::time_point then) {
    return std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - then);
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

Progress::Progress(Settings settings) : settings_(settings), console_(settings.fd) {}

Progress::~Progress() { end(); }

void Progress::begin(std::size_t hosts, bool verdicts) {
    end();
    {
        const std::lock_guard lock(mutex_);
        counted_ = {};
        counted_.total = hosts;
        counted_.verdicts = verdicts;
        rate_ = {};
        active_.clear();
        began_ = last_event_ = last_tick_ = Clock::now();
        running_ = true;
    }
    if (settings_.redraw) ticker_ = std::thread([this] { tick(); });
    if (settings_.keys >= 0) enter_.emplace(settings_.keys, [this] { say_unfinished(); });
}

void Progress::end() {
    enter_.reset();
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
    while (!ended_.wait_for(lock, redraw_every, [this] { return !running_; })) {
        if (since(last_tick_) >= late) drawn_columns_ = 0;
        last_tick_ = Clock::now();
        rate_.note(since(began_), counted_.done);
        draw();
    }
}

void Progress::say(std::string_view text) {
    const std::lock_guard lock(mutex_);
    print(printable(text) + "\n");
    if (!running_) console_.flush();  // what is written beside it comes after it
}

void Progress::say_unfinished() {
    const std::lock_guard lock(mutex_);
    if (!running_) return;
    print(unfinished_text(under_way(), not_begun(), columns()));
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
    if (settings_.verbosity >= 1) print(printable(ended_line(host, counted_.verdicts)) + "\n");
}

void Progress::host_detail(const std::string& host, const std::string& line) {
    if (settings_.verbosity < 2) return;
    const std::lock_guard lock(mutex_);
    print(printable(host + ": " + line) + "\n");
}

std::vector<HostUnderWay> Progress::under_way() const {
    std::vector<HostUnderWay> hosts;
    hosts.reserve(active_.size());
    for (const auto& [name, active] : active_) hosts.push_back({name, active.doing, since(active.since)});
    return hosts;
}

std::size_t Progress::not_begun() const {
    return counted_.total - std::min(counted_.total, counted_.done + active_.size());
}

ProgressState Progress::state() const {
    ProgressState now = counted_;
    now.not_begun = not_begun();
    now.elapsed = since(began_);
    now.quiet_for = since(last_event_);
    now.rate = rate_.per_second();
    now.left = rate_.time_for(now.total - std::min(now.total, now.done));
    now.slowest = under_way();
    const auto first =
        now.slowest.begin() + static_cast<std::ptrdiff_t>(std::min(slowest_told, now.slowest.size()));
    std::ranges::partial_sort(now.slowest, first,
                              [](const auto& a, const auto& b) { return a.since > b.since; });
    now.slowest.erase(first, now.slowest.end());
    return now;
}

std::size_t Progress::columns() const { return columns_now(settings_.fd).value_or(settings_.columns); }

void Progress::draw() {
    if (console_.unwritten() > 0) return;  // nobody would see it
    if (is_in_background(settings_.fd)) {
        drawn_.clear();  // the line is somebody else's now
        return;
    }
    // The last column stays free: a terminal whose lines are full goes on in the next one.
    const std::size_t room = columns() > 1 ? columns() - 1 : 1;
    const ProgressState now = state();
    const std::string plain = progress_line(now, room);
    const std::string line = settings_.color ? progress_line(now, room, true) : plain;
    if (line == drawn_) return;
    console_.write(erasure() + line);
    drawn_ = line;
    drawn_columns_ = width_of(plain);
}

// A window that was narrowed meanwhile has wrapped the line: it begins further up.
std::string Progress::erasure() const {
    const std::size_t now = columns();
    const std::size_t rows =
        settings_.rewraps && !drawn_.empty() && drawn_columns_ > 0 ? (drawn_columns_ - 1) / now : 0;
    return rows == 0 ? "\r\x1b[K" : fmt::format("\r\x1b[{}A\x1b[J", rows);
}

void Progress::erase() {
    if (!drawn_.empty()) console_.write(erasure());
    drawn_.clear();
}

// Above the drawn line, which stands again at once.
void Progress::print(const std::string& lines) {
    if (drawn_.empty()) return console_.write(lines);
    console_.write(erasure() + lines + drawn_);
}

Progress::Settings progress_settings(const Terminal& terminal, const Options& options,
                                     const Environment& environment) {
    const bool shown = terminal.err && !options.quiet;
    Progress::Settings settings;
    settings.fd = STDERR_FILENO;
    settings.redraw = shown && can_redraw(environment);
    settings.columns = terminal.err_columns;
    settings.verbosity = options.verbosity;
    settings.color = use_color(options.color, terminal.err, environment);
    settings.rewraps = rewraps(environment);
    settings.keys = shown && terminal.in ? STDIN_FILENO : -1;
    return settings;
}

}  // namespace cleanslate::controller
