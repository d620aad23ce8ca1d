#pragma once
// What is done on a host besides signals, in words: commands, supervisors, GPUs, files, reboots. Private to
// the renderers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// How it went: "exit 0 after 1.2 s", "withheld", "not sent", "did not come to its end".
std::string result_of(const agentless::CommandAction& action);

// Every act of a real run, with its result; files that were removed are counted.
void write_acts(Page& page, std::size_t indent, const agentless::HostOutcome& host, bool raw_commands);

// "2 supervisors stopped, 1 GPU reset, 3 files removed, rebooted, 1 command run"; empty: nothing.
std::string acts_text(const agentless::HostOutcome& host);

// "812 bytes", "12 KiB", "34 MiB", "52 GiB": rounded up, so that nothing that is there is 0.
std::string bytes_text(std::uint64_t bytes);

// Of files that are removed: "3 files (12 MiB)", or without the size where one of them is not known.
std::string files_text(const std::vector<const agentless::CommandAction*>& files);

}  // namespace cleanslate::controller
