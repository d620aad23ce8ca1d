#pragma once
// ssh's configuration files on this machine.

#include "agentless/ssh/ssh_config_parser.hpp"

namespace cleanslate::agentless::ssh {

// Errors of its read() (kind "usage") name the file: one that cannot be read, is larger than 16 MiB, or
// belongs to somebody else than root and the caller or may be written by others.
ConfigSource config_files();

}  // namespace cleanslate::agentless::ssh
