#include "agentless/ssh/ssh_config_parser.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/ssh/ssh_config_line.hpp"
#include "agentless/ssh/ssh_config_match.hpp"
#include "agentless/ssh/ssh_config_tokens.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::size_t max_depth = 16;  // ssh's own
constexpr std::size_t max_files = 4'000;
constexpr std::size_t max_bytes = 64u << 20;

constexpr std::string_view newer_criteria[] = {"tagged", "localnetwork", "version", "sessiontype", "command"};

class Parser {
  public:
    Parser(const ConfigSource& source, const std::string& home) : source_(source), home_(home) {}

    Status read(const ConfigFile& file, std::string_view text, std::optional<std::size_t> around);
    ConfigSections take() { return std::move(out_); }

  private:
    // One file while it is read.
    struct Place {
        const ConfigFile& file;
        std::size_t index;                  // of out_.files
        std::optional<std::size_t> around;  // the section that its Include stands in
        int line = 0;
    };

    Status read_line(Place& place, std::string_view text);
    Status read_host(Place& place, const std::vector<std::string>& words);
    Status read_match(Place& place, std::string_view rest);
    Status include(Place& place, const std::vector<std::string>& words);
    Status unknown(const Place& place, const std::string& word) const;
    Result<std::string> anchored(const ConfigFile& file, const std::string& pattern) const;

    Section& begin_section(const Place& place, Section::Kind kind, std::optional<std::size_t> parent) {
        Section section;
        section.kind = kind;
        section.parent = parent;
        section.file = place.index;
        section.users_file = place.file.users;
        out_.sections.push_back(std::move(section));
        return out_.sections.back();
    }

    std::unexpected<Error> wrong(const Place& place, std::string_view keyword, const Error& error) const {
        return fail("usage",
                    fmt::format("{}:{}: {}{}{}", printable(place.file.path), place.line, printable(keyword),
                                keyword.empty() ? "" : ": ", error.message),
                    error.remedy);
    }
    std::unexpected<Error> wrong(const Place& place, std::string_view keyword, std::string message,
                                 std::string remedy = {}) const {
        return wrong(place, keyword, Error{"usage", {}, std::move(message), std::move(remedy)});
    }

    const ConfigSource& source_;
    const std::string& home_;
    ConfigSections out_;
    std::vector<std::string> open_;     // files that are being read, outermost first
    std::vector<std::string> ignored_;  // pattern lists of IgnoreUnknown
    std::size_t bytes_ = 0;
};

Status Parser::read(const ConfigFile& file, std::string_view text, std::optional<std::size_t> around) {
    if (out_.files.size() >= max_files) return fail("usage", fmt::format("more than {} files", max_files));
    bytes_ += text.size();
    if (bytes_ > max_bytes) return fail("usage", fmt::format("more than {} MiB", max_bytes >> 20));
    Place place{file, out_.files.size(), around};
    out_.files.push_back(file.path);
    open_.push_back(file.path);
    begin_section(place, Section::Kind::always, around);
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        ++place.line;
        if (const auto read = read_line(place, text.substr(0, end)); !read) return read;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    open_.pop_back();
    return {};
}

Status Parser::read_line(Place& place, std::string_view text) {
    const auto line = config_line(text);
    if (!line) return {};
    const auto& word = line->keyword;
    if (line->rest.empty()) return wrong(place, word, "an argument is missing");
    const KnownKeyword known = find_keyword(in_small_letters(word));
    auto words = argument_words(line->rest);
    if (!words) return wrong(place, word, "a quote has no end");
    switch (known.keyword) {
        case Keyword::unknown:
            return unknown(place, word);
        case Keyword::harmless:
            return {};
        case Keyword::host:
            return read_host(place, *words);
        case Keyword::match:
            return read_match(place, line->rest);
        case Keyword::include:
            return include(place, *words);
        case Keyword::ignore_unknown:
            if (words->empty()) return wrong(place, word, "an argument is missing");
            ignored_.push_back(in_small_letters(words->front()));
            return {};
        case Keyword::noted: {
            if (known.noted->users_file_only && !place.file.users) return {};
            const std::string value = words->empty() ? "" : in_small_letters(words->front());
            if (value.empty() ||
                std::ranges::find(known.noted->nothing_new, value) != std::end(known.noted->nothing_new))
                return {};
            Directive directive;
            directive.keyword = Keyword::noted;
            directive.noted = known.noted;
            directive.line = place.line;
            out_.sections.back().directives.push_back(std::move(directive));
            return {};
        }
        default:
            break;
    }
    auto directive = read_directive(known.keyword, line->rest, std::move(*words));
    if (!directive) return wrong(place, word, directive.error());
    directive->line = place.line;
    out_.sections.back().directives.push_back(std::move(*directive));
    return {};
}

Status Parser::unknown(const Place& place, const std::string& word) const {
    const std::string small = in_small_letters(word);
    const auto names_it = [&](const std::string& list) { return matches_pattern_list(small, list); };
    if (std::ranges::any_of(ignored_, names_it)) return {};
    return wrong(place, "", "Bad configuration option: " + printable(word),
                 "mend the line, or name the keyword in IgnoreUnknown above it");
}

Status Parser::read_host(Place& place, const std::vector<std::string>& words) {
    Section& section = begin_section(place, Section::Kind::host, place.around);
    for (const std::string& word : words) {
        if (word.empty()) return wrong(place, "Host", "an argument is empty");
        const bool negated = word.front() == '!';
        section.hosts.push_back({negated, negated ? word.substr(1) : word});
    }
    return {};
}

std::optional<Criterion::Of> criterion_of(const std::string& word) {
    using Of = Criterion::Of;
    if (word == "host") return Of::host;
    if (word == "originalhost") return Of::original_host;
    if (word == "user") return Of::user;
    if (word == "localuser") return Of::local_user;
    // Nothing is canonicalized here: the second pass is the final one alone.
    if (word == "final" || word == "canonical") return Of::final_pass;
    if (word == "all") return Of::all;
    return std::nullopt;
}

Status Parser::read_match(Place& place, std::string_view rest) {
    Section& section = begin_section(place, Section::Kind::match, place.around);
    KeywordWords words(rest);
    for (auto word = words.next(); word && !word->empty() && word->front() != '#'; word = words.next()) {
        const bool negated = word->front() == '!';
        const std::string name = in_small_letters(negated ? word->substr(1) : *word);
        const auto of = criterion_of(name);
        if (name == "exec")
            return wrong(place, "Match exec", "cleanslate runs no commands to read a configuration",
                         "give another configuration by -F FILE, or none by -F none");
        if (std::ranges::find(newer_criteria, name) != std::end(newer_criteria))
            return wrong(place, "Match " + name, "is not understood here",
                         "give another configuration by -F FILE, or none by -F none");
        if (!of) return wrong(place, "Match", "there is no criterion \"" + printable(name) + "\"");
        Criterion criterion{*of, negated, {}};
        if (of == Criterion::Of::final_pass) {
            if (name == "final") out_.wants_final_pass = true;
        } else if (of == Criterion::Of::all) {
            const auto more = words.next();
            if (section.criteria.size() > 1 || (more && !more->empty() && more->front() != '#'))
                return wrong(place, "Match all", "does not go together with other criteria");
        } else {
            const auto patterns = words.next();
            if (!patterns || patterns->empty() || patterns->front() == '#')
                return wrong(place, "Match " + name, "a pattern is missing");
            const bool names = of == Criterion::Of::host || of == Criterion::Of::original_host;
            criterion.patterns = names ? in_small_letters(*patterns) : *patterns;
        }
        section.criteria.push_back(std::move(criterion));
        if (of == Criterion::Of::all) return {};
    }
    if (section.criteria.empty()) return wrong(place, "Match", "a criterion is missing");
    return {};
}

Result<std::string> Parser::anchored(const ConfigFile& file, const std::string& pattern) const {
    if (pattern.starts_with('/')) return pattern;
    if (!pattern.starts_with('~')) return (file.users ? home_ + "/.ssh/" : "/etc/ssh/") + pattern;
    if (!file.users) return fail("usage", "~ belongs into a user's file");
    return expand_tilde(pattern, home_);
}

Status Parser::include(Place& place, const std::vector<std::string>& words) {
    const std::size_t around = out_.sections.size() - 1;
    for (const std::string& word : words) {
        if (word.empty()) return wrong(place, "Include", "an argument is empty");
        const auto pattern = anchored(place.file, word);
        if (!pattern && !place.file.users) return wrong(place, "Include", pattern.error());
        if (!pattern) continue;  // a user's home that does not exist has no files
        const auto files = source_.matching(*pattern);
        if (!files) return wrong(place, "Include", files.error());
        for (const std::string& path : *files) {
            if (std::ranges::find(open_, path) != open_.end())
                return wrong(place, "Include", printable(path) + " includes itself");
            if (open_.size() > max_depth)
                return wrong(place, "Include", fmt::format("more than {} files deep", max_depth));
            const ConfigFile file{path, place.file.users, true, false};
            const auto text = source_.read(path, true);
            if (!text) return wrong(place, "Include", text.error());
            if (!*text) continue;
            if (const auto read = this->read(file, **text, around); !read) return read;
        }
    }
    // What follows belongs to the section around the Include again.
    begin_section(place, Section::Kind::always, around);
    return {};
}

}  // namespace

Result<ConfigSections> parse_config(const std::vector<ConfigFile>& files, const ConfigSource& source,
                                    const std::string& home) {
    Parser parser(source, home);
    for (const ConfigFile& file : files) {
        const auto text = source.read(file.path, file.guarded);
        if (!text) return std::unexpected(text.error());
        if (!*text && file.must_exist)
            return fail("usage", printable(file.path) + ": there is no such file",
                        "name a file that is there, or none by -F none");
        if (!*text) continue;
        if (const auto read = parser.read(file, **text, std::nullopt); !read)
            return std::unexpected(read.error());
    }
    return parser.take();
}

}  // namespace cleanslate::agentless::ssh
