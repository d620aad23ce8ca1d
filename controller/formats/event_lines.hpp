#pragma once
// The lines of an event stream: schema cleanslate.events/1, docs/formats.md. Private to event_stream.cpp.

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "controller/report.hpp"

namespace cleanslate::controller {

struct Event {
    std::string_view name;
    std::string members;  // a JSON object of those that are the event's own
};

// The whole line with its end; an empty time or phase is null.
std::string line_of(const Event& event, std::string_view time, std::string_view phase);

Event sweep_started_event(const Report& report, std::size_t hosts);
Event sweep_finished_event(const Report& report);
Event host_started_event(const agentless::HostOutcome& host);
Event step_event(const agentless::HostOutcome& host);  // what it is doing now
Event host_finished_event(const Report& report, const agentless::HostOutcome& host, bool raw_commands);

// An action before it is carried out (or of a plan), and once it has ended.
Event intent_event(const agentless::HostOutcome& host, const agentless::SignalAction& action, bool raw);
Event intent_event(const agentless::HostOutcome& host, const agentless::CommandAction& action, bool raw);
Event result_event(const agentless::HostOutcome& host, const agentless::SignalAction& action, bool raw);
Event result_event(const agentless::HostOutcome& host, const agentless::CommandAction& action, bool raw);

// Nothing more will become of it.
bool has_ended(const agentless::SignalAction& action);
bool has_ended(const agentless::CommandAction& action);
// It is not, or will not be, carried out: it has no intent.
bool was_stopped(const agentless::SignalAction& action);
bool was_stopped(const agentless::CommandAction& action);

// Of `clear`, which may look first, ask, and act then: "plan" or "act"; of other commands empty.
std::string phase_of(std::string_view command, bool dry_run);

// "2026-11-30T12:00:00.123Z".
std::string rfc3339_milliseconds(std::chrono::system_clock::time_point time);

}  // namespace cleanslate::controller
