#pragma once
// Every command with its options, as CLI11 knows them. Private to how a command line is read.

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/help_texts.hpp"
#include "controller/options.hpp"

namespace cleanslate::controller {

struct CommandTree {
    CLI::App app{std::string(program_description())};
    std::map<Command, CLI::App*> subcommands;
    std::map<Command, Options> options;  // each command fills its own
    CLI::App* help = nullptr;            // `cleanslate help`
    std::vector<std::string> help_words;
};

std::unique_ptr<CommandTree> command_tree();

}  // namespace cleanslate::controller
