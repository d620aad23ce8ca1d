#pragma once
// Notes of several clean hosts, said once. Private to the renderers.

#include <vector>

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// Of one code, so many different texts are shown with the hosts of each; of more, only that they differ.
inline constexpr std::size_t most_texts = 3;

// The notes of hosts that have the same codes, those of one code together: what not all of them say carries
// the names of those that do.
std::vector<agentless::Finding> folded_findings(const std::vector<const agentless::HostOutcome*>& hosts);

// What is worth knowing of clean hosts' GPUs, a line for each code and text however many GPUs there are:
// `explain` and the JSON report have the rest.
void write_notes_of_gpus(Page& page, const std::vector<const agentless::HostOutcome*>& hosts);

}  // namespace cleanslate::controller
