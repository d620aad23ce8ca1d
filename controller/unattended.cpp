#include "controller/unattended.hpp"

#include <fmt/core.h>

#include "controller/history/history.hpp"
#include "controller/jitter.hpp"

namespace cleanslate::controller {

Result<std::optional<SweepLock>> take_lock(const Context& context) {
    if (!context.options.exclusive) return std::nullopt;
    const std::string folder = default_lock_folder(context.environment);
    if (folder.empty())
        return fail("usage", "--exclusive has no place for its lock",
                    "set HOME, or XDG_STATE_HOME to a folder that can be written to");
    const Actor actor = actor_of_process(context.arguments, context.options.raw_commands);
    std::string inventory = scope_of(context.options).inventory;
    if (context.options.shard) inventory += ", shard " + to_string(*context.options.shard);
    auto lock = SweepLock::take(folder, inventory, actor);
    if (!lock) return std::unexpected(lock.error());
    return std::optional<SweepLock>(std::move(*lock));
}

bool wait_out_jitter(const Options& options, Progress& progress, const StopSignals& signals) {
    if (options.jitter == Milliseconds{0}) return true;
    const Milliseconds wait = random_wait(options.jitter);
    if (!options.quiet)
        progress.say(fmt::format("begins in {} (--jitter {})", format_duration(wait),
                                 format_duration(options.jitter)));
    if (wait_unless_stopped(wait, signals.fd())) return true;
    progress.say("interrupted before it began: nothing was contacted");
    return false;
}

}  // namespace cleanslate::controller
