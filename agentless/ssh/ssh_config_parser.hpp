#pragma once
// ssh's configuration files as data: sections, each with the condition under which its lines apply.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agentless/ssh/ssh_config_keywords.hpp"
#include "base/result.hpp"

namespace cleanslate::agentless::ssh {

struct HostPattern {
    bool negated = false;
    std::string text;
};

struct Criterion {
    enum class Of { host, original_host, user, local_user, final_pass, all } of;
    bool negated = false;
    std::string patterns;  // a list; in small letters for both kinds of host
};

// Lines that apply together. What an Include brings in applies only where the section around it does.
struct Section {
    enum class Kind { always, host, match } kind = Kind::always;
    std::optional<std::size_t> parent;  // comes before it, and must apply, too
    std::vector<HostPattern> hosts;     // of Kind::host
    std::vector<Criterion> criteria;    // of Kind::match: all of them
    std::size_t file = 0;               // of ConfigSections::files
    bool users_file = true;
    std::vector<Directive> directives;
};

struct ConfigSections {
    std::vector<std::string> files;
    std::vector<Section> sections;  // in the order in which ssh reads them
    bool wants_final_pass = false;  // Match final stands somewhere
};

// Where files come from: the file system, or a test.
struct ConfigSource {
    // The files that an Include's absolute pattern means, in order; none is no error.
    std::function<Result<std::vector<std::string>>(const std::string& pattern)> matching;
    // A file's text; nothing where it does not exist. `guarded`: refused where others could have written it.
    std::function<Result<std::optional<std::string>>(const std::string& path, bool guarded)> read;
};

struct ConfigFile {
    std::string path;
    bool users = true;    // Include is relative to ~/.ssh, else to /etc/ssh, where `~` may not be used
    bool guarded = true;  // as of ConfigSource::read
    bool must_exist = false;
};

// Reads the files and all that they include. Errors (kind "usage"): file:line and what ssh would refuse, too;
// Match exec and what only newer versions of ssh can match; more than ssh's depth of includes, more than
// 4,000 files or 64 MiB.
Result<ConfigSections> parse_config(const std::vector<ConfigFile>& files, const ConfigSource& source,
                                    const std::string& home);

}  // namespace cleanslate::agentless::ssh
