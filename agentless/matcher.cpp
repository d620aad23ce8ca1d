#include "agentless/matcher.hpp"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <optional>

#include "agentless/lineage.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

class Pattern {
  public:
    explicit Pattern(const std::string& text)
        : compiled_(text.find('\0') == std::string::npos &&
                    regcomp(&regex_, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {}
    ~Pattern() {
        if (compiled_) regfree(&regex_);
    }
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;

    bool found_in(std::string text) const {
        std::ranges::replace(text, '\0', ' ');  // regexec would not look behind it
        return compiled_ && regexec(&regex_, text.c_str(), 0, nullptr, 0) == 0;
    }

  private:
    regex_t regex_{};
    bool compiled_;
};

std::string joined(const std::vector<std::string>& argv) {
    std::string line;
    for (const auto& argument : argv) line.append(line.empty() ? "" : " ").append(argument);
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

struct Matcher::Patterns {
    std::optional<Pattern> cmdline, name, exe;
};

Matcher::Matcher(const playbooks::Match& match, const Evidence& evidence)
    : match_(match), patterns_(std::make_unique<Patterns>()), ghost_of_minor_(ghosts_by_minor(evidence)) {
    if (match.cmdline) patterns_->cmdline.emplace(*match.cmdline);
    if (match.name) patterns_->name.emplace(*match.name);
    if (match.exe) patterns_->exe.emplace(*match.exe);
    for (const auto& app : evidence.apps)
        if (app.pid) listed_.insert(*app.pid);
}

Matcher::~Matcher() = default;

bool Matcher::matches(const Process& process) const {
    if (!match_.needs_all_processes() && !match_.holding_gpu) return false;
    if (match_.pid && *match_.pid != process.key.pid) return false;
    if (match_.holding_gpu && !holds(process)) return false;
    if (patterns_->name && !patterns_->name->found_in(process.comm)) return false;
    if (patterns_->exe && (!process.exe || !patterns_->exe->found_in(*process.exe))) return false;
    // Without arguments there is no command line, which even the pattern "^" must not find.
    if (patterns_->cmdline &&
        (!process.argv || process.argv->empty() || !patterns_->cmdline->found_in(joined(*process.argv))))
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
    if (match_.cmdline) add(fmt::format("cmdline '{}'", printable(*match_.cmdline)));
    if (match_.name) add(fmt::format("name '{}'", printable(*match_.name)));
    if (match_.exe) add(fmt::format("exe '{}'", printable(*match_.exe)));
    if (match_.pid) add(fmt::format("pid {}", *match_.pid));
    return words;
}

}  // namespace cleanslate::agentless
