#pragma once
// What an audit log says, for people and for programs.

#include <nlohmann/json.hpp>

#include "controller/audit_reader.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller {

// Who began it, when, with which words, how it ended; then its acts: what was done alike, for one reason and
// with one result, stands together with its processes and hosts.
void write_audited_sweep(Page& page, const AuditedSweep& sweep);

// "sent; what became of it was not recorded", "ended after 0.13 s", ...
std::string fate_of(const AuditedAct& act);

nlohmann::ordered_json audited_sweep_json(const AuditedSweep& sweep);

}  // namespace cleanslate::controller
