#include "controller/options.hpp"

namespace cleanslate::controller {

std::string_view to_string(Command command) {
    switch (command) {
        case Command::check:
            return "check";
        case Command::clear:
            return "clear";
        case Command::run:
            return "run";
        case Command::hosts:
            return "hosts";
        case Command::playbooks:
            return "playbooks";
        case Command::parse:
            return "parse";
        case Command::baseline:
            return "baseline";
        case Command::explain:
            return "explain";
        case Command::audit:
            return "audit";
        case Command::trust:
            return "trust";
        case Command::report:
            return "report";
        case Command::history:
            return "history";
        case Command::drain_list:
            return "drain-list";
        case Command::config:
            return "config";
        case Command::completion:
            return "completion";
        case Command::complete:
            return "__complete";
    }
    return "";
}

std::string_view to_string(HistoryAction action) {
    switch (action) {
        case HistoryAction::list:
            return "";
        case HistoryAction::show:
            return "show";
        case HistoryAction::diff:
            return "diff";
        case HistoryAction::top:
            return "top";
        case HistoryAction::prune:
            return "prune";
    }
    return "";
}

}  // namespace cleanslate::controller
