#include "controller/config/config.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.hpp"
#include "controller/files.hpp"

namespace cleanslate::controller::config {
namespace {

constexpr std::size_t max_config = 1u << 20;

std::string value_of(const Environment& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string{} : found->second;
}

std::unexpected<Error> trouble(const std::string& path, const std::string& what, std::string remedy = {}) {
    return fail("config", "config file " + printable(path) + ": " + what, std::move(remedy));
}

// It names who is never signalled, and the playbook that says who is: nobody else may have a hand in it.
Status check_owner(const std::string& path, const struct stat& file) {
    if (!S_ISREG(file.st_mode)) return trouble(path, "it is no regular file");
    if (file.st_uid != 0 && file.st_uid != ::geteuid())
        return trouble(path, "it belongs neither to root nor to whoever runs this",
                       "chown it, or leave it out with --config none");
    if ((file.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return trouble(path, "others than its owner may write to it", "chmod go-w " + printable(path));
    return {};
}

// Nothing: it is not there.
Result<std::optional<std::string>> read_own_file(const std::string& path) {
    const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file.valid()) {
        const int error_number = errno;
        struct stat there {};
        const bool absent = error_number == ENOENT || error_number == ENOTDIR;
        if (absent && ::lstat(path.c_str(), &there) != 0) return std::nullopt;
        return trouble(path, "cannot be opened: " + reason(error_number),
                       "repair it, or leave it out with --config none");
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return trouble(path, "cannot be examined: " + reason(errno));
    if (auto own = check_owner(path, status); !own) return std::unexpected(own.error());
    std::string text;
    char piece[64 * 1024];
    for (;;) {
        const ssize_t got = ::read(file.get(), piece, sizeof piece);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return trouble(path, "cannot be read: " + reason(errno));
        if (got == 0) return text;
        text.append(piece, static_cast<std::size_t>(got));
        if (text.size() > max_config) return trouble(path, "it has more than 1 MiB");
    }
}

File read_config(const std::string& path, std::string named_by, bool must_be_there, const std::string& home) {
    File file{path, std::move(named_by), false, {}, {}};
    const auto text = read_own_file(path);
    if (!text) {
        file.trouble = text.error();
        return file;
    }
    if (!*text) {
        if (must_be_there)
            file.trouble = trouble(path, "there is no such file", file.named_by + " names it").error();
        return file;
    }
    file.there = true;
    auto settings = parse_config(**text, path, home);
    if (settings)
        file.settings = std::move(*settings);
    else
        file.trouble = settings.error();
    return file;
}

// Where a user's own defaults are kept; empty: nobody says.
std::string usual_file(const Environment& environment) {
    if (const auto folder = value_of(environment, "XDG_CONFIG_HOME"); folder.starts_with('/'))
        return folder + "/cleanslate/config.yaml";
    if (const auto home = value_of(environment, "HOME"); home.starts_with('/'))
        return home + "/.config/cleanslate/config.yaml";
    return {};
}

void take(std::vector<Setting>& all, const Setting& setting) {
    const auto known = std::ranges::find(all, setting.key, &Setting::key);
    if (known == all.end()) return all.push_back(setting);
    if (setting.key->shape != Shape::growing_list) return void(*known = setting);
    for (const Value& value : setting.values) {
        const bool there = std::ranges::find(known->values, value.text, &Value::text) != known->values.end();
        if (!there) known->values.push_back(value);
    }
}

}  // namespace

std::vector<Setting> Config::settings() const {
    std::vector<Setting> all;
    for (auto file = files.rbegin(); file != files.rend(); ++file)
        for (const Setting& setting : file->settings) take(all, setting);
    std::ranges::sort(all, {}, &Setting::key);  // pointers into one table
    return all;
}

Status Config::state() const {
    for (const File& file : files)
        if (file.trouble) return std::unexpected(*file.trouble);
    return {};
}

Config load_config(const std::optional<std::string>& given, const Environment& environment,
                   const std::string& site) {
    Config config;
    const std::string variable = value_of(environment, "CLEANSLATE_CONFIG");
    std::string home = value_of(environment, "HOME");
    if (!home.starts_with('/')) home.clear();
    const std::string named = given ? *given : variable;
    if (named == "none") return config;
    if (given || !variable.empty())
        config.files.push_back(read_config(named, given ? "--config" : "$CLEANSLATE_CONFIG", true, home));
    else if (const std::string usual = usual_file(environment); !usual.empty())
        config.files.push_back(read_config(usual, "the user's", false, home));
    config.files.push_back(read_config(site, "the site's", false, home));
    return config;
}

}  // namespace cleanslate::controller::config
