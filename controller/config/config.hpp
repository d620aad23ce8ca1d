#pragma once
// Defaults that stand in files: the user's own, and the site's beneath it. docs/config.md.

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/yaml.hpp"
#include "controller/config/keys.hpp"

namespace cleanslate::controller::config {

// A value and where it stands. Paths are absolute.
struct Value {
    std::string text;
    std::string file;
    yaml::Mark mark;
    std::string place() const { return yaml::place(file, mark); }
};

struct Setting {
    const Key* key = nullptr;
    std::vector<Value> values;  // one, but of lists; none: an empty list
    std::string file;
    yaml::Mark mark;  // of the key
    std::string place() const { return yaml::place(file, mark); }
};

struct File {
    std::string path;
    std::string named_by;          // "--config", "$CLEANSLATE_CONFIG", "the user's", "the site's"
    bool there = false;            // read
    std::optional<Error> trouble;  // of kind "config"
    std::vector<Setting> settings;
};

struct Config {
    std::vector<File> files;  // the user's before the site's; none with `--config none`
    // What the files say together, in the order of keys(): the user's value wins, and lists that grow have
    // the site's first.
    std::vector<Setting> settings() const;
    // The trouble of the first file that has any.
    Status state() const;
};

// Reads one file, which others than its owner may not write to and which belongs to root or to whoever runs
// this. `home`: for "~/", empty where it is not known. Errors have kind "config" and name the place.
Result<std::vector<Setting>> parse_config(std::string_view text, const std::string& path,
                                          const std::string& home);

// `given`: of --config, else $CLEANSLATE_CONFIG, else $XDG_CONFIG_HOME/cleanslate/config.yaml, else
// ~/.config/cleanslate/config.yaml, which need not be there. "none" is no file at all, the site's neither.
Config load_config(const std::optional<std::string>& given, const Environment& environment,
                   const std::string& site = site_config);

// Whether each value is one that its option takes. The error, of kind "config", names its place.
Status check_values(const Config& config);

}  // namespace cleanslate::controller::config
