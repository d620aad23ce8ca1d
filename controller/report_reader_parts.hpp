#pragma once
// Parts of a report read back. Private to the reader; each notes what does not fit in its cursor.

#include <vector>

#include "controller/json_cursor.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

agentless::ProcessKey read_key(const JsonCursor& json);
// All members of a holder; a `partly` known one may be its key, user and command alone.
agentless::Holder read_holder(const JsonCursor& json, bool partly = false);
std::vector<agentless::Holder> read_holders(const JsonCursor& json);
std::vector<agentless::Finding> read_findings(const JsonCursor& json);
std::vector<agentless::GpuVerdict> read_gpus(const JsonCursor& json, agentless::Verdict of_host);
std::vector<std::string> read_texts(const JsonCursor& json);

std::vector<agentless::SignalAction> read_actions(const JsonCursor& json);
std::vector<agentless::CommandAction> read_commands(const JsonCursor& json);
void read_spared(const JsonCursor& json, agentless::HostOutcome& host);
// `commands`: how many the host has.
std::vector<agentless::PlannedStep> read_plan(const JsonCursor& json, std::size_t commands);

}  // namespace cleanslate::controller
