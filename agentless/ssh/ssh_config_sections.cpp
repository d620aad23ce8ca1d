#include "agentless/ssh/ssh_config_sections.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>

#include "agentless/ssh/ssh_config_match.hpp"
#include "agentless/ssh/ssh_config_tokens.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

// An address as ssh writes it ("10.1" is 10.0.0.1); nothing: it is a name.
std::optional<std::string> as_address(const std::string& text) {
    if (text.find(':') == std::string::npos &&
        text.find_first_not_of("0123456789abcdefABCDEFxX.") != std::string::npos)
        return std::nullopt;
    addrinfo hints{}, *found = nullptr;
    hints.ai_flags = AI_NUMERICHOST;
    hints.ai_socktype = SOCK_STREAM;
    if (::getaddrinfo(text.c_str(), nullptr, &hints, &found) != 0) return std::nullopt;
    char name[NI_MAXHOST] = {};
    const int outcome =
        ::getnameinfo(found->ai_addr, found->ai_addrlen, name, sizeof name, nullptr, 0, NI_NUMERICHOST);
    ::freeaddrinfo(found);
    if (outcome != 0 || in_small_letters(name) == in_small_letters(text)) return text;
    return name;
}

bool only_plain_names(const Section& section) {
    return section.kind == Section::Kind::host && std::ranges::none_of(section.hosts, [](const auto& host) {
               return host.negated || is_wildcard(host.text);
           });
}

bool matches_host(const Section& section, const std::string& name) {
    bool found = false;
    for (const HostPattern& host : section.hosts) {
        if (!matches_pattern(name, host.text)) continue;
        if (host.negated) return false;
        found = true;
    }
    return found;
}

void add_once(std::vector<Applied>& list, const Applied& applied) {
    const auto same = [&](const Applied& other) {
        return other.section->users_file == applied.section->users_file && other.value() == applied.value();
    };
    if (std::ranges::none_of(list, same)) list.push_back(applied);
}

bool first_wins(Keyword keyword) { return static_cast<std::size_t>(keyword) < first_wins_count; }

}  // namespace

// One reading of all files for one host. The second one, for Match final, goes on with what the first found.
struct IndexedSections::Pass {
    const ConfigQuery& query;
    const std::string& local_user;
    const std::string& host;  // what Host and Match host look at
    bool final_pass;
    AppliedLines& lines;

    void apply(const Section& section) {
        for (const Directive& directive : section.directives) apply({&directive, &section});
    }
    void apply(const Applied& applied) {
        const Directive& directive = *applied.directive;
        if (directive.keyword == Keyword::identity_file) return add_once(lines.identity_files, applied);
        if (directive.keyword == Keyword::certificate_file) return add_once(lines.certificate_files, applied);
        if (directive.keyword == Keyword::noted) {
            if (!final_pass) lines.noted.push_back(applied);
            return;
        }
        if (!first_wins(directive.keyword)) return;
        if (directive.number < 0) return;  // a time of "none" leaves the next one its turn
        const bool has_command{lines.of(Keyword::proxy_command)}, has_jump{lines.of(Keyword::proxy_jump)};
        if (directive.keyword == Keyword::proxy_jump && has_command) return;
        // "ProxyJump none" ends the search for a jump alone.
        if (directive.keyword == Keyword::proxy_command && has_jump &&
            lines.of(Keyword::proxy_jump).value() != "none")
            return;
        Applied& first = lines.first[static_cast<std::size_t>(directive.keyword)];
        if (!first) first = applied;
    }
};

IndexedSections::IndexedSections(ConfigSections sections) : sections_(std::move(sections)) {
    for (std::size_t i = 0; i < sections_.sections.size(); ++i) {
        const Section& section = sections_.sections[i];
        if (!only_plain_names(section)) {
            others_.push_back(i);
            continue;
        }
        for (const HostPattern& host : section.hosts) {
            auto& list = named_[host.text];
            if (list.empty() || list.back() != i) list.push_back(i);
        }
    }
}

std::string IndexedSections::place(const Applied& applied) const {
    return fmt::format("{}:{}", printable(sections_.files[applied.section->file]), applied.directive->line);
}

Error IndexedSections::at(const Applied& applied, std::string_view keyword, const Error& error) const {
    return {"usage", "resolve", fmt::format("{}: {}: {}", place(applied), keyword, error.message),
            error.remedy};
}

// What Match host sees: HostName as it is known so far.
Result<std::string> IndexedSections::host_name(const Pass& pass) const {
    const Applied& applied = pass.lines.of(Keyword::host_name);
    if (pass.final_pass || !applied) return pass.host;
    TokenValues values;
    values.host_name = pass.host;
    auto expanded = expand_tokens(applied.value(), "h", values);
    if (!expanded) return std::unexpected(at(applied, "HostName", expanded.error()));
    return expanded;
}

Result<bool> IndexedSections::matches(const Section& section, const Pass& pass) const {
    if (section.kind == Section::Kind::always) return true;
    if (section.kind == Section::Kind::host) return matches_host(section, pass.host);
    bool all = true;
    for (const Criterion& criterion : section.criteria) {
        bool one = false;
        switch (criterion.of) {
            case Criterion::Of::host: {
                const auto name = host_name(pass);
                if (!name) return std::unexpected(name.error());
                one = matches_pattern_list(in_small_letters(*name), criterion.patterns);
                break;
            }
            case Criterion::Of::original_host:
                one = matches_pattern_list(in_small_letters(pass.query.name), criterion.patterns);
                break;
            case Criterion::Of::user: {
                const Applied& user = pass.lines.of(Keyword::user);
                one = matches_pattern_list(pass.query.user ? *pass.query.user
                                           : user          ? user.value()
                                                           : pass.local_user,
                                           criterion.patterns);
                break;
            }
            case Criterion::Of::local_user:
                one = matches_pattern_list(pass.local_user, criterion.patterns);
                break;
            case Criterion::Of::final_pass:
                one = pass.final_pass;
                break;
            case Criterion::Of::all:
                one = true;
                break;
        }
        all = all && one != criterion.negated;
    }
    return all;
}

Status IndexedSections::run(Pass& pass) const {
    static const std::vector<std::size_t> none;
    const auto found = named_.find(pass.host);
    const auto& named = found == named_.end() ? none : found->second;
    std::vector<bool> active(sections_.sections.size());
    for (auto other = others_.begin(), name = named.begin(); other != others_.end() || name != named.end();) {
        const bool is_name = other == others_.end() || (name != named.end() && *name < *other);
        const std::size_t index = is_name ? *name++ : *other++;
        const Section& section = sections_.sections[index];
        if (section.parent && !active[*section.parent]) continue;
        const auto matched = matches(section, pass);
        if (!matched) return std::unexpected(matched.error());
        active[index] = *matched;
        if (*matched) pass.apply(section);
    }
    return {};
}

Result<AppliedLines> IndexedSections::lines_for(const ConfigQuery& query,
                                                const std::string& local_user) const {
    AppliedLines lines;
    Pass first{query, local_user, query.name, false, lines};
    if (const auto read = run(first); !read) return std::unexpected(read.error());
    auto name = host_name(first);
    if (!name) return std::unexpected(name.error());
    const auto address = as_address(*name);
    lines.host_name = address ? *address : in_small_letters(*name);
    if (sections_.wants_final_pass) {
        Pass second{query, local_user, lines.host_name, true, lines};
        if (const auto read = run(second); !read) return std::unexpected(read.error());
    }
    return lines;
}

}  // namespace cleanslate::agentless::ssh
