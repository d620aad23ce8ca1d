#pragma once
// The names of the hosts that are clean, or of those that are not, in the forms that other tools take.

#include <string>

#include "controller/formats/format.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// Proven clean as a whole: not of some of its GPUs alone.
bool is_listed_clean(const Report& report, const agentless::HostOutcome& host);

// Of the clean hosts, or of all others: every host is in exactly one of the two. Empty where no host is in
// it.
std::string host_list(const Report& report, bool clean, ListForm form);

}  // namespace cleanslate::controller
