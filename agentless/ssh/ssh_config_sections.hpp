#pragma once
// Which lines of the configuration apply to one host: ssh's order, first match wins.

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agentless/ssh/ssh_config.hpp"
#include "agentless/ssh/ssh_config_parser.hpp"

namespace cleanslate::agentless::ssh {

// A line that applies, and where it stands.
struct Applied {
    const Directive* directive = nullptr;
    const Section* section = nullptr;
    explicit operator bool() const { return directive != nullptr; }
    const std::string& value() const { return directive->values.front(); }
};

struct AppliedLines {
    std::array<Applied, first_wins_count> first;
    std::vector<Applied> identity_files, certificate_files, noted;
    std::string
        host_name;  // HostName expanded, in small letters and addresses in their usual form, as in ssh
    const Applied& of(Keyword keyword) const { return first[static_cast<std::size_t>(keyword)]; }
};

// The sections, with an index over the names that stand in Host without a wildcard. Does not change.
class IndexedSections {
  public:
    explicit IndexedSections(ConfigSections sections);

    // `local_user` is who logs in where nothing says so. Errors (kind "usage"): HostName cannot be expanded,
    // with its place.
    Result<AppliedLines> lines_for(const ConfigQuery& query, const std::string& local_user) const;

    // "FILE:LINE: what" of a line, with its keyword's remedy.
    Error at(const Applied& applied, std::string_view keyword, const Error& error) const;
    std::string place(const Applied& applied) const;

  private:
    struct Pass;
    Status run(Pass& pass) const;
    Result<bool> matches(const Section& section, const Pass& pass) const;
    Result<std::string> host_name(const Pass& pass) const;

    ConfigSections sections_;
    std::unordered_map<std::string, std::vector<std::size_t>> named_;  // by a name in Host
    std::vector<std::size_t> others_;                                  // sections that are always looked at
};

}  // namespace cleanslate::agentless::ssh
