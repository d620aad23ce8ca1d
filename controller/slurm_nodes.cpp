#include "controller/slurm_nodes.hpp"

#include <fmt/format.h>

#include <unordered_set>

#include "base/text.hpp"
#include "controller/program_answer.hpp"
#include "controller/slurm_output.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20;

std::string value_of(const Environment& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
}

// What the user's own settings for these tools would leave out of their answer must be in it.
Result<std::string> ask(std::vector<std::string> words, const Environment& environment,
                        Milliseconds patience) {
    Program program;
    program.if_absent = fmt::format("Slurm's {} is not here, or not in PATH", words.front());
    program.words = std::move(words);
    program.timeout = patience;
    program.most_bytes = most_bytes;
    program.without = {"LC_ALL", "SLURM_CLUSTERS"};
    program.variables = {{"LC_ALL", "C"}};
    for (const auto& [name, value] : environment)
        if (name.starts_with("SQUEUE_") || name.starts_with("SINFO_")) program.without.push_back(name);
    return answer_of(program);
}

Result<SlurmNodes> job(const std::string& id, const Environment& environment, Milliseconds patience) {
    const auto lines =
        ask({"squeue", "--noheader", "--all", "--states=all", "--jobs=" + id, "--format=%i %T %N"},
            environment, patience);
    if (!lines) return std::unexpected(with_context(lines.error(), "job " + id));
    auto names = nodes_of_job(*lines, id);
    if (!names) return std::unexpected(names.error());
    return SlurmNodes{std::move(*names), "slurm job " + id};
}

// As its environment says. A shell that outlives its job keeps the variables: only where nobody can be asked.
Result<SlurmNodes> job_of_environment(const Environment& environment) {
    const std::string id = value_of(environment, "SLURM_JOB_ID");
    // The variable names the nodes of one component alone.
    if (const std::string parts = value_of(environment, "SLURM_HET_SIZE"); !parts.empty() && parts != "1")
        return fail("slurm", "this job is a heterogeneous one, of " + printable(parts) + " components",
                    "put squeue into PATH, which names the nodes of each");
    auto names = slurm_nodes_in(value_of(environment, "SLURM_JOB_NODELIST"), "$SLURM_JOB_NODELIST");
    if (!names) return std::unexpected(names.error());
    return SlurmNodes{std::move(*names),
                      "slurm job " + (id.empty() ? "?" : printable(id)) + " (by its environment)"};
}

Result<SlurmNodes> this_job(const Environment& environment, Milliseconds patience) {
    const std::string id = value_of(environment, "SLURM_JOB_ID");
    if (id.empty() && value_of(environment, "SLURM_JOB_NODELIST").empty())
        return fail("slurm", "--slurm-job without an ID is for the inside of a job, and this is none",
                    "give the job's: --slurm-job 4242");
    if (id.empty()) return job_of_environment(environment);
    if (id.size() > 10 || id.find_first_not_of("0123456789") != std::string::npos)
        return fail("slurm", "$SLURM_JOB_ID is no job's: " + printable(id));
    auto nodes = job(id, environment, patience);
    if (!nodes && nodes.error().kind == absent_program) return job_of_environment(environment);
    return nodes;
}

Result<SlurmNodes> partitions(const SlurmRequest& request, const Environment& environment,
                              Milliseconds patience) {
    const auto joined = [](const std::vector<std::string>& words) {
        return fmt::format("{}", fmt::join(words, ","));
    };
    // Partitions that are named are shown though they are hidden; --all beside them is refused.
    std::vector<std::string> words{"sinfo", "--noheader", "--partition=" + joined(request.partitions)};
    if (!request.states.empty()) words.push_back("--states=" + joined(request.states));
    words.emplace_back("--format=%R %N");
    const auto lines = ask(std::move(words), environment, patience);
    if (!lines) return std::unexpected(lines.error());
    auto names = nodes_of_partitions(*lines, request.partitions, request.states);
    if (!names) return std::unexpected(names.error());
    std::string source = "slurm partition " + joined(request.partitions);
    if (!request.states.empty()) source += " (" + joined(request.states) + ")";
    return SlurmNodes{std::move(*names), std::move(source)};
}

}  // namespace

Result<SlurmNodes> ask_slurm(const SlurmRequest& request, const Environment& environment,
                             Milliseconds patience) {
    if (!request.job) return partitions(request, environment, patience);
    return request.job->empty() ? this_job(environment, patience) : job(*request.job, environment, patience);
}

Result<Options> with_slurm_nodes(const Options& options, const Environment& environment) {
    Options answered = options;
    if (!options.slurm.asked()) return answered;
    auto nodes = ask_slurm(options.slurm, environment);
    if (!nodes) return std::unexpected(nodes.error());
    answered.slurm.nodes = std::move(nodes->names);
    answered.slurm.source = std::move(nodes->source);
    return answered;
}

Status check_slurm_nodes(const SlurmRequest& request, const std::vector<inventory::Host>& hosts) {
    if (!request.nodes) return {};
    std::unordered_set<std::string_view> known;
    for (const auto& host : hosts) known.insert(host.name);
    std::vector<std::string> missing;
    for (const std::string& name : *request.nodes)
        if (!known.contains(name)) missing.push_back(name);
    if (missing.empty()) return {};
    return fail(
        "slurm",
        fmt::format("{}: not in the inventory: {}", request.source, ellipsize(inventory::fold(missing), 200)),
        "write the hosts into it by Slurm's NodeName; without an inventory (--config none, where a config "
        "file "
        "names it) the names are taken as they are");
}

void keep_slurm_nodes(const SlurmRequest& request, std::vector<inventory::Host>& hosts) {
    if (!request.nodes) return;
    const std::unordered_set<std::string_view> named(request.nodes->begin(), request.nodes->end());
    std::erase_if(hosts, [&](const inventory::Host& host) { return !named.contains(host.name); });
}

std::string said_of_slurm(const SlurmRequest& request, const std::optional<std::string>& limit) {
    return fmt::format("{}: {}{}", request.source, inventory::fold(*request.nodes),
                       limit ? "; limit " + *limit : std::string());
}

}  // namespace cleanslate::controller
