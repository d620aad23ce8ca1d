#include "agentless/matcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agentless/selectors.hpp"
#include "base/text.hpp"
#include "playbooks/pattern.hpp"

namespace cleanslate::agentless {

using playbooks::Pattern;

namespace {

std::string joined(const std::vector<std::string>& argv) {
    std::string line;
    for (const auto& argument : argv) line.append(line.empty() ? "" : " ").append(argument);
    std::ranges::replace(line, '\0', ' ');  // no expression can be written for it
    return line;
}

// The entries of one key.
class PatternList {
  public:
    explicit PatternList(const std::vector<std::string>& texts) : texts_(texts) {
        for (const auto& text : texts)
            if (auto pattern = Pattern::compile(text)) patterns_.push_back(std::move(*pattern));
    }
    bool asked() const { return !texts_.empty(); }
    bool whole() const { return patterns_.size() == texts_.size(); }
    bool found_in(std::string_view subject) const {
        return std::ranges::any_of(patterns_, [&](const Pattern& p) { return p.found_in(subject); });
    }
    // The text of the first one that is found; of a list that holds for the subject.
    const std::string& first_in(std::string_view subject) const {
        for (std::size_t i = 0; i < patterns_.size(); ++i)
            if (patterns_[i].found_in(subject)) return texts_[i];
        return texts_.front();
    }

  private:
    const std::vector<std::string>& texts_;
    std::vector<Pattern> patterns_;
};

std::optional<std::string> command_line(const Process& process) {
    // Without arguments there is no command line, and nothing to be found in it.
    if (!process.argv || process.argv->empty()) return std::nullopt;
    return joined(*process.argv);
}

// Of what was not read, no pattern holds.
bool holds_for(const PatternList& patterns, const std::optional<std::string>& subject) {
    return !patterns.asked() || (subject && patterns.found_in(*subject));
}

}  // namespace

struct Matcher::Patterns {
    explicit Patterns(const playbooks::Match& match)
        : cmdline(match.cmdline),
          name(match.name),
          exe(match.exe),
          cgroup(match.cgroup),
          not_cgroup(match.not_cgroup) {}
    bool whole() const {
        return cmdline.whole() && name.whole() && exe.whole() && cgroup.whole() && not_cgroup.whole();
    }
    PatternList cmdline, name, exe, cgroup, not_cgroup;
};

Matcher::Matcher(const playbooks::Match& match, const Evidence& evidence, const Lineage& lineage)
    : match_(match), lineage_(lineage), patterns_(std::make_unique<Patterns>(match)), uses_(evidence) {
    for (const auto& gpu : match.gpus)
        if (auto uuid = uses_.uuid_of(gpu)) wanted_.insert(std::move(*uuid));
    if (match.orphaned) ownership_ = std::make_unique<const Ownership>(evidence, lineage);
}

Matcher::~Matcher() = default;

bool Matcher::matches(const Process& process) const {
    if (!match_.picks() || !patterns_->whole()) return false;
    if (!match_.pid.empty() && std::ranges::find(match_.pid, process.key.pid) == match_.pid.end())
        return false;
    return fits_gpus(process) && fits_texts(process) && fits_figures(process) && fits_identity(process) &&
           (!ownership_ || ownership_->orphaned(process));
}

bool Matcher::asks_for_a_gpu() const {
    return match_.holding_gpu || !match_.gpus.empty() || match_.used_at_least;
}

bool Matcher::fits_gpus(const Process& process) const {
    if (!asks_for_a_gpu()) return true;
    if (!holds(process)) return false;
    if (match_.gpus.empty()) return true;
    return std::ranges::any_of(uses_.of(process).uuids,
                               [&](const std::string& uuid) { return wanted_.contains(uuid); });
}

bool Matcher::fits_texts(const Process& process) const {
    const bool asked = patterns_->cmdline.asked();
    return holds_for(patterns_->name, process.comm) && holds_for(patterns_->exe, process.exe) &&
           (!asked || holds_for(patterns_->cmdline, command_line(process))) &&
           holds_for(patterns_->cgroup, process.cgroup);
}

bool Matcher::fits_figures(const Process& process) const {
    if (match_.older_than) {
        const auto whole_seconds = std::chrono::ceil<std::chrono::seconds>(*match_.older_than).count();
        if (!process.age_s || std::cmp_less(*process.age_s, whole_seconds)) return false;
    }
    if (!match_.used_at_least) return true;
    const auto used = uses_.used_by(process);
    return used && *used >= *match_.used_at_least;
}

bool Matcher::fits_identity(const Process& process) const {
    if (patterns_->not_cgroup.asked() && (!process.cgroup || !patterns_->not_cgroup.whole() ||
                                          patterns_->not_cgroup.found_in(*process.cgroup)))
        return false;
    return fits_owner(match_, process) && fits_supervisor(match_, process, supervisor_of(process, lineage_));
}

std::optional<std::string> Matcher::other_gpus(const Process& process) const {
    if (match_.gpus.empty()) return std::nullopt;
    const auto use = uses_.of(process);
    std::string words;
    const auto add = [&](const std::string& more) { words.append(words.empty() ? "" : ", ").append(more); };
    for (const auto& uuid : use.uuids)
        if (!wanted_.contains(uuid)) add(uses_.name_of(uuid));
    if (use.unplaced) add("a GPU that could not be told");
    return words.empty() ? std::nullopt : std::optional(words);
}

bool Matcher::holds(const Process& process) const {
    return process.opens_device() ||
           (uses_.is_listed(process) && !(process.fds_readable && process.maps_readable));
}

bool Matcher::unconfirmed(const Process& process) const {
    return asks_for_a_gpu() && !process.opens_device();
}

std::string Matcher::holding_words(const Process& process) const {
    if (uses_.is_listed(process)) return "holding gpu";
    if (const auto ghost = uses_.heir_of(process)) return fmt::format("holding gpu of dead pid {}", *ghost);
    return "device file open";
}

std::string Matcher::gpu_words(const Process& process) const {
    std::string words;
    for (const auto& uuid : uses_.of(process).uuids)
        if (wanted_.contains(uuid)) words.append(words.empty() ? "" : ", ").append(uses_.name_of(uuid));
    return fmt::format("{} on {}", holding_words(process), words);
}

std::string Matcher::rule(const Process& process) const {
    std::string words;
    const auto add = [&](const std::string& more) {
        words.append(words.empty() ? "" : " and ").append(more);
    };
    const auto add_found = [&](std::string_view key, const PatternList& patterns,
                               const std::optional<std::string>& subject) {
        if (patterns.asked() && subject)
            add(fmt::format("{} '{}'", key, printable(patterns.first_in(*subject))));
    };
    if (!match_.gpus.empty())
        add(gpu_words(process));
    else if (match_.holding_gpu)
        add(holding_words(process));
    if (match_.used_at_least) add(fmt::format("used at least {} MiB", match_.used_at_least->count));
    add_found("cmdline", patterns_->cmdline, command_line(process));
    add_found("name", patterns_->name, process.comm);
    add_found("exe", patterns_->exe, process.exe);
    add_found("cgroup", patterns_->cgroup, process.cgroup);
    for (const auto& text : match_.not_cgroup) add(fmt::format("not_cgroup '{}'", printable(text)));
    if (!match_.pid.empty()) add(fmt::format("pid {}", process.key.pid));
    for (const auto& word : words_of_owner(match_)) add(word);
    for (const auto& word : words_of_supervisor(match_, supervisor_of(process, lineage_))) add(word);
    if (match_.older_than) add(fmt::format("older than {}", format_duration(*match_.older_than)));
    if (ownership_) add(ownership_->orphaned(process).value_or(""));
    return words;
}

}  // namespace cleanslate::agentless
