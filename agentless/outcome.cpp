#include "agentless/outcome.hpp"

namespace cleanslate::agentless {

std::string_view to_string(SignalResult result) {
    switch (result) {
        case SignalResult::ended:
            return "ended";
        case SignalResult::alive:
            return "alive";
        case SignalResult::zombie:
            return "zombie";
        case SignalResult::changed:
            return "changed";
        case SignalResult::not_permitted:
            return "not_permitted";
        case SignalResult::planned:
            return "planned";
        case SignalResult::not_sent:
            return "not_sent";
        case SignalResult::sent:
            return "sent";
    }
    return "sent";
}

std::string_view to_string(CommandAction::Kind kind) {
    using enum CommandAction::Kind;
    switch (kind) {
        case run:
            return "run";
        case before:
            return "before";
        case after:
            return "after";
        case stop:
            return "stop";
        case reset:
            return "reset";
        case clean_shm:
            return "clean_shm";
        case reboot:
            return "reboot";
    }
    return "run";
}

}  // namespace cleanslate::agentless
