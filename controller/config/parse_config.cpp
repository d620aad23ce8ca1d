#include <fmt/core.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "base/text.hpp"
#include "controller/config/config.hpp"

namespace cleanslate::controller::config {
namespace {

std::unexpected<Error> refuse_at(const std::string& file, yaml::Mark mark, const std::string& what,
                                 std::string remedy = {}) {
    return fail("config", yaml::place(file, mark) + ": " + what, std::move(remedy));
}

std::unexpected<Error> from_yaml(Error error) {
    error.kind = "config";
    if (error.remedy.empty())
        error.remedy = "docs/config.md shows such a file; `cleanslate config` what is in force";
    return std::unexpected(std::move(error));
}

std::string shown(std::string_view text) { return ellipsize(printable(text), 60); }

std::unexpected<Error> unknown_key(const yaml::Node& key, const std::string& file) {
    const std::string name(key.text());
    if (const auto why = never_a_default(name); !why.empty())
        return refuse_at(file, key.mark, fmt::format("`{}` is no setting of a file: it {}", name, why),
                         "take it out of the file");
    const std::string near = yaml::nearest(name, key_names());
    return refuse_at(file, key.mark, fmt::format("unknown key `{}`", shown(name)),
                     (near.empty() ? "" : fmt::format("did you mean `{}`? ", near)) +
                         fmt::format("keys: {}", fmt::join(key_names(), ", ")));
}

// What stands in one file, read with its folder at hand.
class Reader {
  public:
    Reader(const std::string& file, const std::string& home)
        : file_(file), folder_(std::filesystem::absolute(file).parent_path()), home_(home) {}

    Result<Setting> setting(const Key& key, const yaml::Entry& entry) const {
        Setting setting{&key, {}, file_, entry.first.mark};
        const bool is_list = key.shape == Shape::list || key.shape == Shape::growing_list;
        if (is_list && entry.second.is_sequence()) {
            for (const yaml::Node& item : entry.second.items())
                if (auto added = add(setting, item); !added) return std::unexpected(added.error());
            return setting;
        }
        if (auto added = add(setting, entry.second); !added) return std::unexpected(added.error());
        return setting;
    }

  private:
    Status add(Setting& setting, const yaml::Node& node) const {
        const Key& key = *setting.key;
        std::string text;
        if (key.shape == Shape::yes_or_no) {
            const auto flag = yaml::as_bool(node, file_, key.name);
            if (!flag) return from_yaml(flag.error());
            text = *flag ? "true" : "false";
        } else {
            auto read = yaml::as_text(node, file_, key.name);
            if (!read) return from_yaml(read.error());
            text = std::move(*read);
        }
        if (trim(text).empty())
            return refuse_at(file_, node.mark, fmt::format("{}: it is empty", key.name),
                             "give it a value, or take the key out");
        if (key.name == "host-key-check" && text == "off")
            return refuse_at(file_, node.mark,
                             "host-key-check: off is no default: it must be given each time",
                             "strict or accept-new can stand here");
        auto resolved = resolve(key.names, text);
        if (!resolved)
            return refuse_at(file_, node.mark, fmt::format("{}: {}", key.name, resolved.error().message),
                             resolved.error().remedy);
        setting.values.push_back({std::move(*resolved), file_, node.mark});
        return {};
    }

    // The text with the path in it made absolute.
    Result<std::string> resolve(Names names, const std::string& text) const {
        switch (names) {
            case Names::no_file:
                return text;
            case Names::file_or_none:
                return text == "none" ? Result<std::string>(text) : path(text);
            case Names::file:
                return path(text);
            case Names::inventory:
                return behind("ansible:", text);
            case Names::playbook: {
                const bool is_file =
                    text.find('/') != std::string::npos || text.ends_with(".yaml") || text.ends_with(".yml");
                return is_file ? path(text) : Result<std::string>(text);
            }
            case Names::format: {
                const auto equals = text.find('=');
                const bool has_file = equals != std::string::npos && equals + 1 < text.size();
                if (!has_file || text.substr(equals + 1) == "-") return text;
                return behind(text.substr(0, equals + 1), text);
            }
        }
        return text;
    }

    Result<std::string> behind(const std::string& beginning, const std::string& text) const {
        if (!text.starts_with(beginning)) return path(text);
        auto rest = path(text.substr(beginning.size()));
        return rest ? Result<std::string>(beginning + *rest) : rest;
    }

    Result<std::string> path(const std::string& text) const {
        if (text == "-") return fail("config", "standard input is no default", "give a file");
        if (text.starts_with("~/")) {
            if (home_.empty()) return fail("config", "$HOME is not set, so ~/ means nothing here");
            return home_ + text.substr(1);
        }
        if (text.starts_with('~'))
            return fail("config", "of paths with ~ only ~/ is understood, not " + shown(text),
                        "write the whole path");
        if (text.starts_with('/')) return text;
        return (folder_ / text).lexically_normal().string();
    }

    const std::string& file_;
    const std::filesystem::path folder_;
    const std::string& home_;
};

}  // namespace

Result<std::vector<Setting>> parse_config(std::string_view text, const std::string& path,
                                          const std::string& home) {
    const auto document = yaml::parse(text, path);
    if (!document) return from_yaml(document.error());
    const yaml::Node& root = document->root();
    std::vector<Setting> settings;
    if (root.is_null() && root.tag().empty()) return settings;
    if (!root.is_mapping() || !root.tag().empty())
        return refuse_at(path, root.mark, "a config file is `KEY: VALUE` lines", "docs/config.md shows one");
    const Reader reader(path, home);
    for (const yaml::Entry& entry : root.entries()) {
        const Key* const key = find_key(entry.first.text());
        if (key == nullptr) return unknown_key(entry.first, path);
        auto setting = reader.setting(*key, entry);
        if (!setting) return std::unexpected(setting.error());
        settings.push_back(std::move(*setting));
    }
    return settings;
}

}  // namespace cleanslate::controller::config
