#pragma once
// Is a fleet after a clear what its descriptions expect? Told from outside: by pids and start times that were
// read before and after, and by the memory that its hosts' nvidia-smi shows.

#include <map>
#include <string>
#include <vector>

#include "tests/fleet/outside.hpp"
#include "tests/fleet/reported.hpp"

namespace cleanslate::simulated {

// Prints a line a host, and each thing that is not as expected. `report`: what cleanslate said, compared with
// the expected verdicts and words; null where it is not judged. True if everything is as expected.
bool judge(const Fleet& fleet, const std::vector<Seen>& before,
           const std::map<std::string, Reported>* report);

}  // namespace cleanslate::simulated
