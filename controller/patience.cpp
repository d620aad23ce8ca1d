#include "controller/patience.hpp"

#include <unistd.h>

#include <utility>

#include "controller/console.hpp"

namespace cleanslate::controller {
namespace {

constexpr Milliseconds longest_silence{3'000};
constexpr Milliseconds patience_once_stopped{5'000};

}  // namespace

Patience::Patience(Output& out, const StopSignals& signals) : out_(out) {
    out_.set_give_up([&signals, before = signals.count(), said = false](Milliseconds waited) mutable {
        if (waited >= longest_silence && !std::exchange(said, true))
            Console(STDERR_FILENO)
                .write(
                    "cleanslate: all is done, and the report waits for somebody to read standard output; "
                    "ctrl-c gives it up\n");
        return signals.count() > before || (before > 0 && waited >= patience_once_stopped);
    });
}

}  // namespace cleanslate::controller
