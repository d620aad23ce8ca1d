#include "agentless/ssh/ssh_config_files.hpp"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::size_t max_file = 16u << 20;

struct Matches {
    glob_t found{};
    Matches() = default;
    Matches(const Matches&) = delete;
    Matches& operator=(const Matches&) = delete;
    ~Matches() { ::globfree(&found); }
};

Result<std::vector<std::string>> matching(const std::string& pattern) {
    Matches matches;
    const int outcome = ::glob(pattern.c_str(), 0, nullptr, &matches.found);
    if (outcome == GLOB_NOMATCH) return std::vector<std::string>();
    if (outcome != 0) return fail("usage", "the folder of " + printable(pattern) + " cannot be read");
    return std::vector<std::string>(matches.found.gl_pathv, matches.found.gl_pathv + matches.found.gl_pathc);
}

Result<std::optional<std::string>> read(const std::string& path, bool guarded) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
    // As for ssh: a folder that a pattern of Include meets has no lines.
    if (guarded && S_ISDIR(status.st_mode)) return std::string();
    auto text = read_file(path == "-" ? "./-" : path, max_file);
    if (!text)
        return fail("usage", text.error().message,
                    "make it readable, or give another configuration by -F FILE, or none by -F none");
    if (guarded && ((status.st_uid != 0 && status.st_uid != ::getuid()) || (status.st_mode & 022) != 0))
        return fail("usage", printable(path) + ": bad owner or permissions: others could have written it",
                    "chmod go-w " + printable(path) + "; it must belong to you or to root");
    return std::optional(std::move(*text));
}

}  // namespace

ConfigSource config_files() { return {matching, read}; }

}  // namespace cleanslate::agentless::ssh
