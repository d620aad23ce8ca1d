#pragma once
// How things on a host are named, one entry at a time: what could never match, or would match more than it
// says, is refused with the right spelling.

#include <optional>
#include <string>

namespace cleanslate::playbooks {

struct Misnamed {
    std::string what;    // printable
    std::string remedy;  // never empty
};

// Judges a name and brings it into its one spelling; nothing: it is right.
using NameCheck = std::optional<Misnamed> (*)(std::string& name);

std::optional<Misnamed> check_gpu(std::string& name);      // "3", "GPU-<uuid>"
std::optional<Misnamed> check_account(std::string& name);  // "alice", "1000"
// "none" and "any" pass as well.
std::optional<Misnamed> check_slurm_job(std::string& name);
std::optional<Misnamed> check_pod(std::string& name);
std::optional<Misnamed> check_container(std::string& name);
std::optional<Misnamed> check_unit(std::string& name);  // may end in *
std::optional<Misnamed> check_daemon(std::string& name);
std::optional<Misnamed> check_shm_name(std::string& name);

}  // namespace cleanslate::playbooks
