// A reboot: one of the sweep's places for it, the order, and the way back.

#include <fmt/format.h>

#include <algorithm>

#include "agentless/host_answer.hpp"
#include "agentless/host_run.hpp"
#include "agentless/remote.hpp"

namespace cleanslate::agentless {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds first_pause = 200ms;
constexpr Milliseconds longest_pause = 5s;
// A login that is refused may be refused only while the host boots; asked too often, it may be barred.
constexpr Milliseconds pause_after_refusal = 30s;
constexpr Milliseconds open_timeout = 60s;

// Coming again does not make it better.
bool is_final(const Error& error) { return error.kind.starts_with("host_key_"); }

// The order may have arrived although its answer did not.
bool may_have_begun(const Error& error) { return error.kind == "connection_lost" || error.kind == "timeout"; }

}  // namespace

Awaitable<Status> HostRun::await_reboot(Sequence& sequence) {
    const int most = std::max(1, sweep.job.reboots_at_a_time);
    bool waited = false;
    while (!sweep.winding_down && !sweep.cut) {
        auto taken = sweep.rebooting.load();
        while (taken < most && !has_reboot_place)
            has_reboot_place = sweep.rebooting.compare_exchange_weak(taken, taken + 1);
        if (has_reboot_place) {
            sequence.reboot_place(waited);
            break;
        }
        if (!waited) doing("waiting for its turn to reboot");
        places.rests(place, Clock::now(), sweep.deadline);
        waited = true;
        co_await wakeup.wait(sweep.deadline);
    }
    co_return Status{};
}

void HostRun::give_place_back() {
    if (!has_reboot_place) return;
    has_reboot_place = false;
    --sweep.rebooting;
    sweep.wake_all();
}

Awaitable<Status> HostRun::reboot(Sequence& sequence, const Reboot& move) {
    doing(fmt::format("step {}: reboot", outcome.commands[move.action].step));
    if (const auto audited = intend(std::vector{outcome.commands[move.action]}); !audited) {
        sequence.not_carried_out(move, audited.error());
        co_return Status{};
    }
    const auto began = Clock::now();
    const auto until = std::min(began + move.deadline, sweep.deadline);
    const auto nonce = fresh_nonce();
    Script script;
    script.input = reboot_script(move.boot_id, nonce);
    const Limits limits{deadline_in(sweep.limits.step_timeout), max_answer};
    const auto output = co_await ask(script, limits);
    Status done;
    if (!output && !may_have_begun(output.error())) {
        done = std::unexpected(explained(output.error(), "reboot"));
    } else if (!output) {
        done = co_await come_back(sequence, move, until);
    } else if (const auto report = read_reboot(output->out, nonce); !report) {
        done = std::unexpected(explained(not_our_output(*output, report.error().message), "reboot"));
    } else if (report->complete && !report->started) {
        sequence.reboot_refused(move, *report);
    } else {
        done = co_await come_back(sequence, move, until);
    }
    outcome.commands[move.action].took = std::chrono::duration_cast<Milliseconds>(Clock::now() - began);
    sweep.audit.result(outcome, std::vector{outcome.commands[move.action]});
    give_place_back();
    co_return done;  // without a place in the fan-out: the lock, which comes before the next act, takes one
}

// Asks again until the host shows another boot id. A stop does not end this: how the host was left is worth
// the wait, and whoever is in a hurry stops twice.
Awaitable<Status> HostRun::come_back(Sequence& sequence, const Reboot& move, Clock::time_point until) {
    connection.reset();
    lock_keeper.reset();
    doing("waiting for the host to come back");
    places.rests(place, Clock::now(), until);
    Error last{"timeout", "reboot", "it never answered", ""};
    Milliseconds pause = first_pause;
    for (;;) {
        const auto when = std::min(Clock::now() + pause, until);
        while (Clock::now() < when && !sweep.cut && !sweep.deadline_passed) co_await wakeup.wait(when);
        if (sweep.cut || sweep.deadline_passed) {
            Error interrupted{"cancelled", "reboot", "cut while it was rebooting: " + last.message, ""};
            co_return std::unexpected(explained(std::move(interrupted), "reboot"));
        }
        const auto began = Clock::now();
        if (began >= until || is_final(last)) {
            sequence.not_back(move, last);
            co_return Status{};
        }
        const auto seen = co_await look_after_boot(move, until);
        if (seen) {
            sequence.rebooted(move, began);
            sequence.surveyed(*seen, began, Clock::now());
            co_return Status{};
        }
        last = seen.error();
        pause = last.kind == "auth_failed" ? pause_after_refusal : std::min(pause * 2, longest_pause);
    }
}

Awaitable<Result<Evidence>> HostRun::look_after_boot(const Reboot& move, Clock::time_point until) {
    connection.reset();
    const auto open_until = std::min(Clock::now() + open_timeout, until);
    const Status opened = co_await open(open_until);
    if (!opened) co_return std::unexpected(in_phase(opened.error(), "connect"));
    auto evidence = co_await look(move.request);
    if (!evidence) co_return evidence;
    if (evidence->boot_id.empty() || evidence->boot_id == move.boot_id)
        co_return std::unexpected(
            Error{"not_rebooted", "reboot", "it still runs, with the same boot id", ""});
    co_return evidence;
}

}  // namespace cleanslate::agentless
