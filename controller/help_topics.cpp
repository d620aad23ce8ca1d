#include "controller/help_topics.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "controller/page.hpp"
#include "help_pages.hpp"

namespace cleanslate::controller {
namespace {

constexpr Topic all_topics[] = {
    {"examples", help::examples_txt},
    {"hosts", help::hosts_txt},
    {"limits", help::limits_txt},
    {"playbooks", help::playbooks_txt},
    {"killing", help::killing_txt},
    {"protected", help::protected_txt},
    {"stuck", help::stuck_txt},
    {"verdicts", help::verdicts_txt},
    {"exit-status", help::exit_status_txt},
    {"ssh", help::ssh_txt},
    {"become", help::become_txt},
    {"formats", help::formats_txt},
    {"history", help::history_txt},
    {"nightly", help::nightly_txt},
    {"slurm", help::slurm_txt},
    {"files", help::files_txt},
    {"environment", help::environment_txt},
};

}  // namespace

std::span<const Topic> topics() { return all_topics; }

const Topic* find_topic(std::string_view name) {
    const auto found = std::ranges::find(all_topics, name, &Topic::name);
    return found == std::end(all_topics) ? nullptr : &*found;
}

std::vector<std::string> topic_names() {
    std::vector<std::string> names;
    for (const Topic& topic : all_topics) names.emplace_back(topic.name);
    return names;
}

std::string list_of_topics() {
    const std::string text =
        fmt::format("Topics of `cleanslate help TOPIC`: {}.", fmt::join(topic_names(), ", "));
    return fmt::format("{}", fmt::join(wrap(text, 80), "\n"));
}

std::string table_of_topics() {
    std::string text;
    for (const Topic& topic : all_topics) text += fmt::format("  {:<13}{}\n", topic.name, topic.summary());
    return text;
}

}  // namespace cleanslate::controller
