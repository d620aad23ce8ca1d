#pragma once
// What Slurm's tools print about nodes, read strictly: whatever is no list of nodes is an error.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cleanslate::controller {

// "gpu[01-04],login1" -> names, each once. Errors have kind "slurm": "(null)", "n/a", "None assigned", an
// empty text, and what holds anything but host names. `who` begins the message: "squeue".
Result<std::vector<std::string>> slurm_nodes_in(std::string_view list, std::string_view who);

// Lines of `squeue --format='%i %T %N'` about one job (an array has a line for each task, a heterogeneous job
// for each component): the nodes that it has now, or of "4242_7" and "4242+1" those of this part. Errors as
// above, a state that is not known, and where it has none: it waits, has ended, or does not exist.
Result<std::vector<std::string>> nodes_of_job(std::string_view lines, const std::string& job);

// Lines of `sinfo --format='%R %N'`: all nodes of the partitions. Errors as above, a partition without a node
// (in none of the `states` where there are some), and a line of another partition.
Result<std::vector<std::string>> nodes_of_partitions(std::string_view lines,
                                                     const std::vector<std::string>& partitions,
                                                     const std::vector<std::string>& states);

}  // namespace cleanslate::controller
