#pragma once
// Who could be looked at: processes whose files could not be read, or hang in the kernel while they are read.

#include "agentless/evidence.hpp"
#include "agentless/findings.hpp"
#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

// A process whose maps or command line do not come back hangs in the kernel: unknown, whoever it is.
void judge_hung_reads(const Evidence& evidence, Findings& findings);

// What was not read for other reasons. `apps`: what the driver lists of the GPUs that count.
// `otherwise_clean`: nothing else speaks against the host.
void judge_sight(const Evidence& evidence, const std::vector<ComputeApp>& apps,
                 const Expectations& expectations, bool otherwise_clean, Findings& findings);

// "pid 4000 (for 310 s, started by pid 1 (systemd))", as far as it was seen.
std::string stuck_name(Pid pid, const Evidence& evidence);

// Every process that was asked for is in the list: the survey was not cut before it had printed them all. Who
// is in a unit, whose job runs here and who is logged in can be said of no other list.
bool lists_all(const Evidence& evidence);

}  // namespace cleanslate::agentless
