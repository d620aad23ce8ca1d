#pragma once
// What a host answered to a script, in words for messages.

#include <string>
#include <string_view>

#include "agentless/evidence.hpp"
#include "agentless/transport.hpp"

namespace cleanslate::agentless {

// Room for any answer: a survey of a busy host is some 100 KB, the rest is what login files print before it.
inline constexpr std::size_t max_answer = 16u << 20;

std::string how_it_ended(const RunOutput& output);

// "; nvidia-smi took 0.05 s of it": all queries together, where the host told; else empty.
std::string share_of_queries(const Evidence& evidence);

// For what is no answer to the script that was sent: how the shell ended, and the first line printed; where
// the host says what is wrong with the account, that, under its own kind (account_trouble.hpp).
Error not_our_output(const RunOutput& output, std::string_view why);

// What to do about an error of a transport, where it does not say so itself; may be empty.
std::string_view remedy_for(std::string_view kind);

}  // namespace cleanslate::agentless
