#include "controller/history/history.hpp"

#include <unistd.h>

#include <filesystem>

#include "controller/audit_log.hpp"

namespace cleanslate::controller {
namespace {

std::string name_of_machine() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// One name for a file, however it was named.
std::string one_name_of(const std::string& path) {
    constexpr std::string_view ansible = "ansible:";
    if (path == "-") return path;
    if (path.starts_with(ansible)) return std::string(ansible) + one_name_of(path.substr(ansible.size()));
    std::error_code failed;
    const auto name = std::filesystem::weakly_canonical(path, failed);
    return failed ? path : name.string();
}

}  // namespace

std::string default_history_file(const Environment& environment) {
    const std::string beside = default_audit_file(environment);
    return beside.empty() ? beside : beside.substr(0, beside.rfind('/') + 1) + "history.db";
}

SweepScope scope_of(const Options& options) {
    if (options.local) return {"--local", name_of_machine()};
    // Each shard is compared with itself.
    const std::string part = options.shard ? " (shard " + to_string(*options.shard) + ")" : "";
    if (options.targets) return {"-H", *options.targets + part};
    std::string names;
    for (const std::string& inventory : options.inventories)
        names += (names.empty() ? "" : ",") + one_name_of(inventory);
    if (options.slurm.asked()) {
        const std::string limit = options.limit ? "; limit " + *options.limit : std::string();
        return {names.empty() ? "--slurm" : names, options.slurm.source + limit + part};
    }
    return {names.empty() ? "-" : names, options.limit.value_or("all") + part};
}

}  // namespace cleanslate::controller
