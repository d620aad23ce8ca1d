#pragma once
// A process as reports show it.

#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

// Everything but what depends on one GPU (used, ghost, inherited). Text is printable; secrets are masked
// unless expectations.raw_commands.
Holder describe(const Process& process, const Evidence& evidence, const Expectations& expectations);

}  // namespace cleanslate::agentless
