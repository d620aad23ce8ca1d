#include "agentless/matcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "agentless/lineage.hpp"
#include "base/text.hpp"
#include "playbooks/pattern.hpp"

namespace cleanslate::agentless {

namespace {

std::string joined(const std::vector<std::string>& argv) {
    std::string line;
    for (const auto& argument : argv) line.append(line.empty() ? "" : " ").append(argument);
    std::ranges::replace(line, '\0', ' ');  // no expression can be written for it
    return line;
}

bool lives(const Process* process) { return process != nullptr && !has_ended(*process); }

std::map<int, Pid> ghosts_by_minor(const Evidence& evidence) {
    std::map<int, Pid> ghosts;
    if (!evidence.driver_gpus) return ghosts;
    for (const auto& app : evidence.apps) {
        if (!app.pid || lives(evidence.find(*app.pid))) continue;
        for (const auto& gpu : *evidence.driver_gpus)
            if (gpu.minor && !gpu.uuid.empty() && gpu.uuid == app.uuid) ghosts.emplace(*gpu.minor, *app.pid);
    }
    return ghosts;
}

}  // namespace

using playbooks::Pattern;

struct Matcher::Patterns {
    // One that is refused is left out, and matches nobody.
    std::vector<Pattern> cmdline, name, exe;
};

namespace {

std::vector<Pattern> compiled(const std::vector<std::string>& texts) {
    std::vector<Pattern> patterns;
    for (const auto& text : texts)
        if (auto pattern = Pattern::compile(text)) patterns.push_back(std::move(*pattern));
    return patterns;
}

bool found(const std::vector<Pattern>& patterns, std::string_view subject) {
    return std::ranges::any_of(patterns, [&](const Pattern& p) { return p.found_in(subject); });
}

}  // namespace

Matcher::Matcher(const playbooks::Match& match, const Evidence& evidence)
    : match_(match), patterns_(std::make_unique<Patterns>()), ghost_of_minor_(ghosts_by_minor(evidence)) {
    *patterns_ = {compiled(match.cmdline), compiled(match.name), compiled(match.exe)};
    for (const auto& app : evidence.apps)
        if (app.pid) listed_.insert(*app.pid);
}

Matcher::~Matcher() = default;

bool Matcher::matches(const Process& process) const {
    if (!match_.picks()) return false;
    if (!match_.pid.empty() && std::ranges::find(match_.pid, process.key.pid) == match_.pid.end())
        return false;
    if (match_.holding_gpu && !holds(process)) return false;
    if (!match_.name.empty() && !found(patterns_->name, process.comm)) return false;
    if (!match_.exe.empty() && !(process.exe && found(patterns_->exe, *process.exe))) return false;
    // Without arguments there is no command line, and nothing to be found in it.
    const bool has_line = process.argv && !process.argv->empty();
    if (!match_.cmdline.empty() && !(has_line && found(patterns_->cmdline, joined(*process.argv))))
        return false;
    return true;
}

bool Matcher::holds(const Process& process) const {
    return process.opens_device() ||
           (listed_.contains(process.key.pid) && !(process.fds_readable && process.maps_readable));
}

bool Matcher::unconfirmed(const Process& process) const {
    return match_.holding_gpu && !process.opens_device();
}

std::string Matcher::holding_words(const Process& process) const {
    if (listed_.contains(process.key.pid)) return "holding gpu";
    for (const int minor : process.open_minors)
        if (const auto ghost = ghost_of_minor_.find(minor); ghost != ghost_of_minor_.end())
            return fmt::format("holding gpu of dead pid {}", ghost->second);
    return "device file open";
}

std::string Matcher::rule(const Process& process) const {
    std::string words;
    const auto add = [&](const std::string& more) {
        words.append(words.empty() ? "" : " and ").append(more);
    };
    if (match_.holding_gpu) add(holding_words(process));
    for (const auto& text : match_.cmdline) add(fmt::format("cmdline '{}'", printable(text)));
    for (const auto& text : match_.name) add(fmt::format("name '{}'", printable(text)));
    for (const auto& text : match_.exe) add(fmt::format("exe '{}'", printable(text)));
    if (!match_.pid.empty()) add(fmt::format("pid {}", process.key.pid));
    return words;
}

}  // namespace cleanslate::agentless
