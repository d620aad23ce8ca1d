#pragma once
// The program against modelled hosts, with surroundings of its own.

#include "tests/integration/program.hpp"

namespace cleanslate::testing {

inline Report report_on(const std::string& inventory, const std::vector<std::string>& known_hosts,
                        std::vector<std::string> arguments) {
    const TemporaryFolder home;
    arguments.insert(arguments.begin(), program());
    arguments.insert(arguments.end(), {"-i", inventory, "--format", "json"});
    for (const auto& file : known_hosts) arguments.insert(arguments.end(), {"--known-hosts", file});
    const auto ended = run({arguments,
                            "",
                            {{"HOME", home.path()}, {"XDG_STATE_HOME", home.path()}, {"SSH_AUTH_SOCK", ""}},
                            std::chrono::seconds(120)});
    return {ended.status, json::parse(ended.out, nullptr, false), ended.err, ended.took};
}

}  // namespace cleanslate::testing
