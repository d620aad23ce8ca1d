#pragma once
// A configuration written to a file and read again, for tests.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "agentless/ssh/ssh_config.hpp"

namespace cleanslate::agentless::ssh {

// As by -F, with the home directory /home/op of the user op.
inline Result<SshConfig> config_of(const std::string& text) {
    char name[] = "/tmp/cleanslate-config-XXXXXX";
    const std::string folder = ::mkdtemp(name);
    std::ofstream(folder + "/c") << text;
    auto config = SshConfig::load({folder + "/c"}, true, "/home/op", "op");
    std::filesystem::remove_all(folder);
    return config;
}

}  // namespace cleanslate::agentless::ssh
