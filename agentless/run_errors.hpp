#pragma once
// The errors by which a run ends early, worded once for all transports.

#include "agentless/transport.hpp"

namespace cleanslate::agentless {

inline Error timed_out() { return {"timeout", "", "the deadline passed before the command ended", ""}; }
inline Error cancelled() { return {"cancelled", "", "cancelled", ""}; }
inline Error connection_lost(std::string why) { return {"connection_lost", "", std::move(why), ""}; }
inline Error output_limit(std::size_t max_bytes) {
    return {"output_limit", "", "the command printed more than " + std::to_string(max_bytes) + " bytes", ""};
}
inline Error connection_dead() {
    return connection_lost("an earlier run was cut short and took the connection with it");
}

}  // namespace cleanslate::agentless
