#pragma once
// One host of the text report. Private to the renderers.

#include <set>
#include <string>
#include <vector>

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// Processes that a plan has listed above already.
using Listed = std::set<agentless::ProcessKey>;

// GPUs, holders, findings with remedies, what was left alone, what was done.
void write_host_details(Page& page, const agentless::HostOutcome& host, bool raw_commands,
                        const Listed& listed = {});

// Each GPU about which something is to be said, with its holders and findings; the others in one line.
void write_gpus(Page& page, const std::vector<agentless::GpuVerdict>& gpus, const Listed& listed);

// MIG instances, with the pids of those holders that can use each; instances of which the same is to be said
// share a line.
void write_instances(Page& page, std::size_t indent, const std::vector<agentless::MigInstance>& instances);

// A line, and what is special about it below.
void write_holder(Page& page, std::size_t indent, std::string_view role, const agentless::Holder& holder);
// "in vllm.service; keeps a dead process's memory through inherited descriptors"; empty: nothing special.
std::string remarks_on(const agentless::Holder& holder);

// A finding that only says that there is a holder: the holder's own line says it better.
bool shown_as_holder(const agentless::Finding& finding);

// Findings and remedies, wrapped; several of one code with one remedy say it once.
void write_findings(Page& page, std::size_t indent, const std::vector<agentless::Finding>& findings);

// "connect: connection refused".
std::string error_text(const Error& error);

// How an ad-hoc command went: "exit 7", "ended by KILL", "unreachable: connect: connection refused".
std::string ending_of(const agentless::HostOutcome& host);

// "pid 812"; of a holder whose pid the driver does not say "a process without pid".
std::string pid_text(const agentless::ProcessKey& key);
// "pid 812 root S, 3h10m, 76107 MiB": who a holder is, without its command line.
std::string holder_text(const agentless::Holder& holder);
// Its command line, else its executable, else what can be said instead.
std::string command_text(const agentless::Holder& holder);

// "TERM to 3 (all ended), KILL to 1 (ended)": everything that was sent, in the order of the steps; empty:
// nothing.
std::string work_text(const agentless::HostOutcome& host);

// "0-1,3-7": runs of numbers, ascending.
std::string fold_numbers(const std::vector<int>& numbers);

}  // namespace cleanslate::controller
