// Where playbooks come from: the built-in ones, which are part of the program, and files.
#include <fmt/format.h>

#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "builtin_playbooks.hpp"
#include "playbooks/playbook.hpp"
#include "playbooks/reader.hpp"

namespace cleanslate::playbooks {
namespace {

bool is_path(std::string_view name) {
    return name.find('/') != std::string_view::npos || name.ends_with(".yaml") || name.ends_with(".yml");
}

// All of a file, or of a pipe; never more than a playbook can be.
Result<std::string> read_playbook_file(const std::string& path) {
    auto text = read_file(path, max_playbook_bytes);
    if (text) return text;
    Error error = std::move(text.error());
    error.kind = "playbook";
    if (error.remedy.empty()) error.remedy = "give the path of a playbook, or the name of a built-in one";
    return std::unexpected(in_phase(std::move(error), "playbook"));
}

Error unknown_name(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& built_in : built_in_playbooks()) names.emplace_back(built_in.name);
    const std::string near = yaml::nearest(name, names);
    const std::string shown = ellipsize(printable(name), 60);
    std::string remedy = near.empty() ? std::string() : fmt::format("did you mean `{}`? ", near);
    remedy += fmt::format("built in: {}; a file of your own is given as ./{}", any_of(names), shown);
    return Error{"playbook", "playbook", fmt::format("there is no built-in playbook `{}`", shown), remedy};
}

BuiltIn built_in(std::string_view name, std::string_view text) {
    BuiltIn out{name, text, {}};
    if (const auto document = yaml::parse(text, name))
        if (const yaml::Node* about = document->root().find("description"))
            out.description = trim(about->text());
    return out;
}

// The text, and how messages call the file.
struct Source {
    std::string text;
    std::string file;
};

Result<Source> find(const std::string& name_or_path) {
    if (is_path(name_or_path)) {
        auto text = read_playbook_file(name_or_path);
        if (!text) return std::unexpected(text.error());
        return Source{std::move(*text), printable(name_or_path)};
    }
    for (const auto& known : built_in_playbooks())
        if (known.name == name_or_path)
            return Source{std::string(known.text), fmt::format("builtin/{}.yaml", known.name)};
    return std::unexpected(unknown_name(name_or_path));
}

}  // namespace

const std::vector<BuiltIn>& built_in_playbooks() {
    static const std::vector<BuiltIn> all{
        built_in("clear", builtin::clear_yaml),         built_in("sweep", builtin::sweep_yaml),
        built_in("by-holder", builtin::by_holder_yaml), built_in("by-name", builtin::by_name_yaml),
        built_in("user", builtin::user_yaml),           built_in("gpus", builtin::gpus_yaml)};
    return all;
}

Result<Playbook> load_playbook(const std::string& name_or_path, const Settings& settings) {
    const auto source = find(name_or_path);
    if (!source) return std::unexpected(source.error());
    return parse_playbook(source->text, source->file, settings);
}

Result<std::string> playbook_text(const std::string& name_or_path) {
    auto source = find(name_or_path);
    if (!source) return std::unexpected(source.error());
    return std::move(source->text);
}

}  // namespace cleanslate::playbooks
