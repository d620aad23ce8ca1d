#pragma once
// The parts of a host in the JSON report. Private to it; each writes one value.

#include <vector>

#include "controller/json_writer.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

void write_findings(JsonWriter& json, const std::vector<agentless::Finding>& findings);
void write_holders(JsonWriter& json, const std::vector<agentless::Holder>& holders);
void write_gpus(JsonWriter& json, const std::vector<agentless::GpuVerdict>& gpus);

// Members of an object that goes on: `pid` and `start`.
void write_key_members(JsonWriter& json, const agentless::ProcessKey& key);
// All of a holder, but for its key.
void write_holder_members(JsonWriter& json, const agentless::Holder& holder);
void write_keys(JsonWriter& json, const std::vector<agentless::ProcessKey>& keys);
void write_texts(JsonWriter& json, const std::vector<std::string>& texts);

void write_actions(JsonWriter& json, const std::vector<agentless::SignalAction>& actions);
void write_commands(JsonWriter& json, const std::vector<agentless::CommandAction>& commands,
                    bool raw_commands);
void write_spared(JsonWriter& json, const agentless::HostOutcome& host);
// Null where nothing was planned.
void write_plan(JsonWriter& json, const std::vector<agentless::PlannedStep>& steps);

}  // namespace cleanslate::controller
