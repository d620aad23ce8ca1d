#pragma once
// What `cleanslate baseline` made of a sweep: the baseline, and who is not in it.

#include <string>
#include <utility>
#include <vector>

#include "agentless/recording.hpp"
#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

struct Collection {
    agentless::Baseline baseline;
    std::vector<agentless::Recording> hosts;  // in the order of the report's
    std::size_t gpus_left_out = 0;            // of hosts of which others were recorded, or could have been
    std::size_t hosts_left_out = 0;           // of which nothing is known to be idle
    bool complete() const { return gpus_left_out + hosts_left_out == 0; }
};

// A GPU that two hosts show is recorded of the first.
Collection collect(const std::vector<agentless::HostOutcome>& hosts, Mebibytes most);

// What stands in the way of writing it; empty: nothing. A sweep that was stopped would leave out hosts that
// are in an older file, and a baseline without any GPU says nothing.
std::string reason_not_to_write(const Collection& collection, const agentless::SweepResult& result);

// 0 recorded, 1 some were left out; the others as of a check.
int recording_status(const Collection& collection, int status_of_check);

// Hosts of which the same is to be said share their lines; what is left out has its reason and remedy.
void write_collection(Page& page, const Collection& collection, const Report& report);

// "idle.yaml: 70 GPUs of 9 hosts recorded, 1 GPU and 1 host left out; 2.3 s; exit 3: ...".
void write_recording_summary(Page& page, const Collection& collection, const Report& report,
                             const std::string& file, bool written);

}  // namespace cleanslate::controller
