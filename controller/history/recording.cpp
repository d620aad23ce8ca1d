#include "controller/history/recording.hpp"

#include <unistd.h>

#include "controller/console.hpp"

namespace cleanslate::controller::history {
namespace {

constexpr std::chrono::seconds said_after{3}, interrupted_after{5};

// Says once that it waits.
KeepWaiting patience(const StopSignals& signals, const std::string& path) {
    return [&signals, path, said = false](Milliseconds waited) mutable {
        if (waited >= said_after && !std::exchange(said, true))
            Console(STDERR_FILENO)
                .write("note: waiting for history " + path + ", which another program has locked\n");
        return signals.first() != 0 ? waited < interrupted_after : half_a_minute(waited);
    };
}

}  // namespace

Result<Recording> Recording::begin(const Options& options, const Environment& environment,
                                   std::vector<std::string>& notes) {
    Recording recording;
    if (options.no_history || (options.command != Command::check && options.command != Command::clear))
        return recording;
    const std::string file = options.history ? *options.history : default_history_file(environment);
    if (file.empty() && options.on_change)
        return fail("history", "--on-change compares with the history, and there is no place for one",
                    "give --history FILE, or set HOME or XDG_STATE_HOME");
    if (file.empty()) {
        notes.emplace_back(
            "this sweep is not kept: neither $XDG_STATE_HOME nor $HOME says where a history belongs");
        return recording;
    }
    auto store = Store::open(file, Use::record);
    if (store) {
        recording.store_ = std::move(*store);
        recording.scope_ = scope_of(options);
        recording.raw_commands_ = options.raw_commands;
        return recording;
    }
    if (options.history || options.on_change) return std::unexpected(store.error());
    notes.push_back("this sweep is not kept: " + store.error().message);
    return recording;
}

Result<std::optional<SweepId>> Recording::finish(const Report& report, const StopSignals& signals) {
    if (!store_) return std::nullopt;
    store_->set_keep_waiting(patience(signals, store_->path()));
    const auto id = record(*store_, report, scope_, raw_commands_);
    store_->set_keep_waiting(half_a_minute);
    if (id) return *id;
    return std::unexpected(with_context(id.error(), "this sweep is not kept"));
}

}  // namespace cleanslate::controller::history
