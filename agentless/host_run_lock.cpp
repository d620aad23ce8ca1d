// The host's lock: taken before the first act, given back at the end.

#include <fmt/format.h>

#include <algorithm>

#include "agentless/host_answer.hpp"
#include "agentless/host_run.hpp"
#include "agentless/remote.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds longest_keep = 6h;
constexpr Milliseconds release_timeout = 5s;

std::string now_text() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return rfc3339(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

}  // namespace

Awaitable<Status> HostRun::take_lock(Sequence& sequence, const TakeLock& move) {
    const auto asked = Clock::now();
    const bool had_place = place.has_place();
    const auto then = sweep.winding_down ? WhenWindingDown::go_on : WhenWindingDown::stop;
    if (const bool has_place = co_await take_place(then); !has_place) {
        if (Clock::now() >= sweep.deadline) co_return std::unexpected(no_place("lock"));
        co_return Status{};  // what is left to do in a sweep that ends is for the sequence to say
    }
    const auto waited = std::chrono::ceil<Milliseconds>(Clock::now() - asked);
    doing("taking the host's lock");
    const auto left = std::chrono::duration_cast<Milliseconds>(sweep.deadline - Clock::now());
    LockRequest request;
    request.who =
        fmt::format("{} since {}", sweep.job.who.empty() ? "cleanslate" : sweep.job.who, now_text());
    request.wait = move.wait;
    request.keep = std::clamp<Milliseconds>(left, 1s, longest_keep);
    const auto nonce = fresh_nonce();
    Script script;
    script.input = lock_script(request, nonce);
    const Limits limits{deadline_in(move.wait + sweep.limits.step_timeout), max_answer};
    const auto output = co_await ask(script, limits);
    if (!output) co_return std::unexpected(explained(output.error(), "lock"));
    auto report = read_lock(output->out, nonce);
    if (!report)
        co_return std::unexpected(explained(not_our_output(*output, report.error().message), "lock"));
    if (report->result == LockReport::Result::taken) lock_keeper = report->keeper;
    if (!had_place) report->waited += waited;
    sequence.locked(*report);
    if (!had_place) sequence.look_again();  // what was seen is as old as the wait for a place
    co_return Status{};
}

// A failure is no error: the keeper ends by itself once this login is gone. That it has ended before is worth
// a word: what this host does between login and script may have ended it, and then nothing was locked.
Awaitable<void> HostRun::release_lock() {
    if (!lock_keeper || !connection || sweep.cut) co_return;
    doing("giving the host's lock back");
    const auto nonce = fresh_nonce();
    Script script;
    script.input = release_script(*lock_keeper, nonce);
    const Limits limits{deadline_in(release_timeout), max_answer};
    const auto output = co_await ask(script, limits);
    lock_keeper.reset();
    const auto was_held =
        output ? read_release(output->out, nonce) : Result<bool>(std::unexpected(output.error()));
    if (!was_held)
        sweep.observer.host_detail(outcome.name,
                                   "the lock was not given back: " + printable(was_held.error().message));
    else if (!*was_held)
        outcome.findings.push_back(
            {Severity::note, "not-locked",
             "the lock was lost before the end: another cleanslate could have worked "
             "here at the same time",
             "look at what starts the login's shell there, or who ends its processes"});
}

}  // namespace cleanslate::agentless
