#pragma once
// How a server fails at a stage: each fault works at each stage.

#include <string_view>
#include <vector>

#include "tests/liar/conversation.hpp"

namespace cleanslate::agentless::liar {

enum class Fault {
    closes,         // the connection
    resets,         // the connection: what is under way is lost
    stalls,         // says nothing more
    stops_halfway,  // in the middle of the message, and says nothing more
    breaks_off,     // in the middle of the message, and closes the connection
    rubbish,        // bytes that are no packet, and nothing more
    endless,        // messages that say nothing, without end
    disconnects,    // as SSH has it, with a reason that would paint on a terminal
    out_of_place,   // another message than it should be, and nothing more
};

const std::vector<Stage>& all_stages();
const std::vector<Fault>& all_faults();
std::string_view name_of(Stage stage);
std::string_view name_of(Fault fault);

Hook failing_at(Stage stage, Fault fault);

// What a hostile reason or banner says: it clears a terminal, sets its title and claims a verdict.
inline constexpr std::string_view hostile_text = "\x1b[2J\x1b]0;owned\x07\r\nfake: clean\n";
// SSH_MSG_DISCONNECT with this reason.
std::string disconnect_with(std::string_view reason);
// Both until the peer is gone.
[[noreturn]] void stall(Conversation& conversation);         // takes what comes
[[noreturn]] void stop_reading(Conversation& conversation);  // so that it is held up

}  // namespace cleanslate::agentless::liar
