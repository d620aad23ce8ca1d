#pragma once
// The one narrow way to the outside: open a host, run a script there, get its streams and how it ended.
// Three implementations pass the same contract tests (tests/contract/): SSH, local process, in-memory.
//
// A Transport belongs to one shard (one io_context, one thread) and is used only from it.

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"
#include "inventory/host.hpp"

namespace cleanslate::agentless {

template <class T>
using Awaitable = boost::asio::awaitable<T>;
using Clock = std::chrono::steady_clock;

// Where a host is and how to log in there. Settings that are absent come from the transport's own defaults.
struct Endpoint {
    std::string name;     // the inventory's name: for messages only
    std::string address;  // host name or IP address to connect to
    std::optional<std::uint16_t> port = std::nullopt;
    std::string user;           // empty: the transport's default
    std::string identity_file;  // empty: the transport's default keys and agent
    bool become = false;        // run everything as root through sudo: become.hpp
    // "[user@]host[:port]" of each hop, first hop first, separated by commas; "none": none, whatever ssh's
    // configuration says.
    std::optional<std::string> proxy_jump = std::nullopt;
    std::shared_ptr<const inventory::SshSettings> ssh = nullptr;  // null: nothing more is said of it
};

// What to run. `command` is handed to the login shell as it is, so it must mean the same in sh, csh and fish:
// "/bin/sh -s" for the project's own scripts, which travel in `input` over stdin.
struct Script {
    // Who decides whether an answer may be given, where that is not for one run alone to say. Called on the
    // run's thread.
    class Warden {
      public:
        virtual ~Warden() = default;
        enum class Leave { give, wait, withhold };
        // The prompt was seen. After `wait` this is asked again once `wake` was called, from any thread.
        virtual Leave asked(const std::function<void()>& wake) = 0;
        virtual void passed() = 0;  // the marker came
    };
    // What has to be said before `input` is sent: sudo's dialogue.
    struct Gate {
        std::string marker;  // a whole line on stdout, taken out of `out`; only then is `input` sent
        std::string prompt;  // on stderr, taken out of `err`; empty: nothing will be asked
        std::string answer;  // sent (with a newline) once, when the prompt was seen for the first time
        std::shared_ptr<Warden> warden;  // null: the answer is given at once
    };
    std::string command = "/bin/sh -s";
    std::string input;
    std::optional<Gate> gate = std::nullopt;
};

// Bounds of one run. Both always hold, whatever the host does.
struct Limits {
    Clock::time_point deadline;
    // of stdout and stderr together; more ends the run with kind "output_limit"
    std::size_t max_bytes = 8u << 20;
};

// What a run that came to its own end left behind. A run that did not (deadline, lost connection, limit) is
// an Error, and its partial output is not evidence.
struct RunOutput {
    std::string out;
    std::string err;
    std::optional<int> exit_status;  // absent where the server sent none, and where a signal ended it
    std::string exit_signal;         // "KILL", "TERM", ...; empty where none
    std::size_t before_gate = 0;     // so much of `out` came before the marker
    bool gate_passed = true;    // the marker came, or there was no gate; else nothing of `input` was sent
    bool gate_asked = false;    // the prompt came
    bool gate_refused = false;  // it came again, or no answer was given: standard input was closed
};

// A live session with one host. A session that an error or a deadline has cut is dead: drop it.
class Connection {
  public:
    virtual ~Connection() = default;
    // Runs one script to its end: both streams at EOF, closed. One run at a time.
    // Errors: kind "timeout" (deadline), "connection_lost", "output_limit", "refused" (exec or channel
    // refused), "cancelled"; phase is the caller's to add.
    virtual Awaitable<Result<RunOutput>> run(const Script& script, Limits limits) = 0;
};

class Transport {
  public:
    virtual ~Transport() = default;
    // Opens and authenticates. Errors carry phase "resolve", "connect", "handshake", "host-key" or "auth",
    // and kind "resolve_failed", "connect_refused", "connect_timeout", "connect_failed", "handshake_timeout",
    // "handshake_failed", "host_key_unknown", "host_key_changed", "host_key_revoked", "auth_failed",
    // "auth_timeout", "cancelled". Where the way to the host is through another, and that one is at fault:
    // the same error for all hosts behind it, with phase "jump" and kind "jump_failed". Own deadlines hold
    // for each phase, and `deadline` for all of them.
    virtual Awaitable<Result<std::unique_ptr<Connection>>> open(const Endpoint& endpoint,
                                                                Clock::time_point deadline) = 0;
    // Makes every open() and run() under way, and every later one, end soon with kind "cancelled".
    // Called on the shard's thread.
    virtual void cancel_all() = 0;
};

}  // namespace cleanslate::agentless
