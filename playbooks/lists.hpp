#pragma once
// Keys that take one entry or a list of them, and what an entry of each kind may look like.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/yaml.hpp"
#include "playbooks/reader.hpp"

namespace cleanslate::playbooks {

// The entries of `node`: the items of a list, else the value itself. An empty list is refused, and one of
// more than 256. `what` is the key.
Result<std::vector<const yaml::Node*>> entries_of(const Reader& in, const yaml::Node& node,
                                                  std::string_view what);

using Texts = Result<std::vector<std::string>>;

// Patterns that compile: see pattern.hpp.
Texts read_patterns(const Reader& in, const yaml::Node& node, std::string_view what);

// Indexes and whole uuids of GPUs, each once. One text may hold several with commas between ("0,3"), so that
// one --set can name them all.
Texts read_gpus(const Reader& in, const yaml::Node& node, std::string_view what);

// Names of accounts and uids in digits; with commas as above.
Texts read_accounts(const Reader& in, const yaml::Node& node, std::string_view what);

// `none`, `any`, or names of supervisors: ids of Slurm jobs, uids of pods, ids of containers, names of units.
enum class Owner { slurm_job, pod, container, unit };
Texts read_owners(const Reader& in, const yaml::Node& node, std::string_view what, Owner kind);

// Whole names of services, each once: what a step stops and starts again.
Texts read_daemons(const Reader& in, const yaml::Node& node, std::string_view what);

// Shell patterns of file names, which begin with three letters or digits that are meant.
Texts read_shm_names(const Reader& in, const yaml::Node& node, std::string_view what);

}  // namespace cleanslate::playbooks
