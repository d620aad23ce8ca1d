// --slurm-job, --slurm-partition, --state.

#include <algorithm>

#include "base/text.hpp"
#include "controller/option_groups.hpp"
#include "controller/option_values.hpp"

namespace cleanslate::controller {
namespace {

constexpr std::string_view digits = "0123456789";

// 4242, 4242_7 of an array, 4242+1 of several parts.
bool is_job(std::string_view text) {
    const auto mark = text.find_first_of("_+");
    const auto is_number = [](std::string_view part) {
        return !part.empty() && part.size() <= 10 && part.find_first_not_of(digits) == std::string_view::npos;
    };
    return is_number(text.substr(0, mark)) &&
           (mark == std::string_view::npos || is_number(text.substr(mark + 1)));
}

bool is_word(std::string_view text) {
    return !text.empty() && text.front() != '-' && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-' || c == '.';
    });
}

void add_words(CLI::App& app, const std::string& name, const std::string& type,
               std::vector<std::string>& into, const std::string& what, const std::string& help) {
    app.add_option_function<std::vector<std::string>>(
           name,
           [&into, name, what](const std::vector<std::string>& texts) {
               for (const std::string& text : texts)
                   for (const auto word : split(text, ',')) {
                       if (!is_word(trim(word)))
                           throw CLI::ValidationError(name, "'" + printable(word) + "' is no " + what);
                       into.emplace_back(trim(word));
                   }
           },
           help)
        ->type_name(type)
        ->allow_extra_args(false)
        ->group("Hosts");
}

}  // namespace

void add_slurm_options(CLI::App& app, Options& options) {
    app.add_option_function<std::string>(
           "--slurm-job",
           [&options](const std::string& text) {
               if (!text.empty() && !is_job(text))
                   throw CLI::ValidationError("--slurm-job", "'" + printable(text) + "' is no job's ID");
               options.slurm.job = text;
           },
           "The nodes that a Slurm job has now; without an ID those of the job that this runs in; looked up "
           "in the "
           "inventory where there is one (default: none)")
        ->type_name("[ID]")
        ->expected(0, 1)
        ->default_str("")
        ->group("Hosts");
    add_words(app, "--slurm-partition", "NAME", options.slurm.partitions, "partition",
              "The nodes of these partitions of Slurm, in the same way; repeatable, or with commas (default: "
              "none)");
    add_words(app, "--state", "STATE", options.slurm.states, "state",
              "Of --slurm-partition those in one of these states: idle,drained and whatever else sinfo knows "
              "(default: all)");
}

Status combine_slurm(const Options& options) {
    const SlurmRequest& slurm = options.slurm;
    if (!slurm.states.empty() && slurm.partitions.empty())
        return fail("usage", "--state goes together with --slurm-partition");
    if (!slurm.asked()) return {};
    if (slurm.job && !slurm.partitions.empty())
        return fail("usage", "--slurm-job and --slurm-partition do not go together");
    if (options.last_failed)
        return fail("usage",
                    "--last-failed is of earlier sweeps: it does not go together with Slurm's nodes of now");
    if (options.targets || options.local)
        return fail("usage", "Slurm names the hosts: it does not go together with -H or --local");
    return {};
}

}  // namespace cleanslate::controller
