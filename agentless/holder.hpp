#pragma once
// A process as reports show it.

#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

// Everything but what depends on one GPU (used, ghost, inherited). Text is printable; secrets are masked
// unless expectations.raw_commands.
Holder describe(const Process& process, const Evidence& evidence, const Expectations& expectations);

// Listed by the driver, in state D, and has let go of its device files: its memory is on its way back.
bool is_being_torn_down(const Holder& holder);

}  // namespace cleanslate::agentless
