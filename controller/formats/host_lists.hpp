#pragma once
// The names of the hosts that are clean, or of those that are not, in the forms that other tools take:
// docs/formats.md.

#include <cstddef>
#include <string>
#include <vector>

#include "controller/formats/format.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// Proven clean as a whole: not of some of its GPUs alone.
bool is_listed_clean(const Report& report, const agentless::HostOutcome& host);

struct HostList {
    std::string text;
    // Names that the form cannot express, made printable: they are not in the text.
    std::vector<std::string> left_out;
};

// Of the clean hosts, or of all others: each name is in exactly one of the two, in the order of the report,
// once; but the clean ones of form mpi are only those with a clean GPU. A name that stands for several hosts
// is clean if all of them are.
HostList host_list(const Report& report, bool clean, ListForm form);

// A list of nobody. To most tools an empty one means no restriction at all: where the form can say that none
// is meant, this does.
std::string empty_host_list(ListForm form);

// How many names the list of the clean hosts has, in its plain form.
std::size_t count_listed_clean(const Report& report);

}  // namespace cleanslate::controller
