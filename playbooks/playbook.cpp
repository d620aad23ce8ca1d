#include "playbooks/playbook.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "playbooks/params.hpp"
#include "playbooks/reader.hpp"
#include "playbooks/steps.hpp"

namespace cleanslate::playbooks {
namespace {

constexpr int max_kills = 100'000;

// "/etc/cleanslate/night.yaml" -> "night".
std::string stem(std::string_view file) {
    const auto slash = file.rfind('/');
    if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
    for (const std::string_view end : {".yaml", ".yml"})
        if (file.size() > end.size() && file.ends_with(end)) file.remove_suffix(end.size());
    return printable(file);
}

// Text of the head, which params do not reach: they are not read yet.
Result<std::string> head_text(const yaml::Node& node, std::string_view file, std::string_view what) {
    if (!node.tag().empty()) return refuse_at(file, node.mark, "tags are not used here", "leave the ! out");
    auto text = yaml::as_text(node, file, what);
    if (!text) return from_yaml(text.error());
    return std::string(trim(*text));
}

Status read_head(const yaml::Node& root, std::string_view file, Playbook& playbook) {
    if (const yaml::Node* version = root.find("version")) {
        auto number = yaml::as_integer(*version, file, "version");
        if (!number) return from_yaml(number.error());
        if (*number != 1)
            return refuse_at(file, version->mark, fmt::format("`version` is {}", *number),
                             "write `version: 1`, or leave it out: this program reads no other");
    }
    playbook.name = stem(file);
    if (const yaml::Node* name = root.find("name")) {
        if (auto read = keep(playbook.name, head_text(*name, file, "name")); !read) return read;
        if (playbook.name.empty() || playbook.name != printable(playbook.name) || playbook.name.size() > 100)
            return refuse_at(file, name->mark, "`name` is not one short line of text",
                             "write one word or a few");
    }
    if (const yaml::Node* about = root.find("description")) {
        if (auto read = keep(playbook.description, head_text(*about, file, "description")); !read)
            return read;
        for (const auto line : split(playbook.description, '\n'))
            if (line != printable(line))
                return refuse_at(file, about->mark, "`description` has control characters",
                                 "write plain text");
    }
    return {};
}

// One executable (its name, or its whole path), script or unit; a * at the end stands for any rest. What
// could never match is refused: it would protect nothing.
Status check_protected(const Reader& in, const yaml::Node& node, const std::string& entry) {
    const std::string shown = ellipsize(printable(entry), 60);
    if (entry.empty() || entry != printable(entry) || entry.size() > 255 || trim(entry) != entry)
        return in.refuse(node, fmt::format("'{}' in `protect` is no name", shown),
                         "write an executable's name, such as dcgm-exporter");
    if (entry == "*")
        return in.refuse(node, "`*` would protect every process", "name the ones meant, such as gpuwatch*");
    if (entry[0] != '/' && entry.find('/') != std::string::npos)
        return in.refuse(node, fmt::format("`{}` in `protect` is half a path", shown),
                         fmt::format("write the whole path, or the file's own name: {}",
                                     ellipsize(entry.substr(entry.rfind('/') + 1), 60)));
    const std::size_t special = entry.find_first_of("*?[");
    if (special != std::string::npos && (entry[special] != '*' || special + 1 != entry.size()))
        return in.refuse(node, fmt::format("`{}` in `protect` is a pattern", shown),
                         "write whole names, one entry each; a * may stand at the end");
    return {};
}

Status read_protect(const Reader& in, const yaml::Node& node, std::vector<std::string>& protect) {
    if (node.is_null()) return {};
    if (!node.is_sequence() || !node.tag().empty())
        return in.refuse(node, fmt::format("`protect` is a list, and here is {}", yaml::describe(node)),
                         "write `protect: [NAME, NAME]`");
    for (const auto& item : node.items()) {
        auto entry = in.text(item, "an entry of `protect`");
        if (!entry) return std::unexpected(entry.error());
        if (auto sound = check_protected(in, item, *entry); !sound) return sound;
        if (std::find(protect.begin(), protect.end(), *entry) == protect.end()) protect.push_back(*entry);
    }
    return {};
}

Status read_limits(const Reader& in, const yaml::Node& root, Playbook& playbook) {
    if (const yaml::Node* most = root.find("max_kills")) {
        const auto number = in.integer(*most, "max_kills", 1, max_kills);
        if (!number) return std::unexpected(number.error());
        playbook.max_kills = static_cast<int>(*number);
    }
    if (const yaml::Node* only = root.find("scheduled_hosts_only"))
        return keep(playbook.scheduled_hosts_only, in.boolean(*only, "scheduled_hosts_only"));
    return {};
}

Result<Playbook> read_playbook(const yaml::Node& root, std::string_view file, const Settings& settings) {
    Playbook playbook;
    if (root.is_null())
        return refuse_at(file, {1, 1}, "an empty playbook",
                         "write at least `steps:`, or copy a built-in playbook");
    static const std::vector<std::string> keys{"version", "name",      "description",          "params",
                                               "protect", "max_kills", "scheduled_hosts_only", "steps"};
    if (auto known = check_keys(root, file, "a playbook", keys); !known)
        return std::unexpected(known.error());
    if (auto head = read_head(root, file, playbook); !head) return std::unexpected(head.error());

    std::vector<Declared> params;
    if (const yaml::Node* node = root.find("params"))
        if (auto read = keep(params, read_params(*node, file)); !read) return std::unexpected(read.error());
    const auto values = Values::make(params, settings, file);
    if (!values) return std::unexpected(values.error());
    const Reader in(file, *values);

    if (const yaml::Node* node = root.find("protect"))
        if (auto read = read_protect(in, *node, playbook.protect); !read)
            return std::unexpected(read.error());
    if (auto read = read_limits(in, root, playbook); !read) return std::unexpected(read.error());
    const yaml::Node* steps = root.find("steps");
    if (steps == nullptr)
        return in.refuse(root, "a playbook without `steps`", "write `steps:` and at least one step");
    if (auto read = keep(playbook.steps, read_steps(in, *steps)); !read) return std::unexpected(read.error());

    if (const Declared* idle = values->unused(params))
        return refuse_at(
            file, idle->mark, fmt::format("param `{}` is used by no step", idle->param.name),
            fmt::format("write ${{{}}} where its value belongs, or take it out", idle->param.name));
    for (auto& declared : params) playbook.params.push_back(std::move(declared.param));
    return playbook;
}

}  // namespace

bool Match::needs_all_processes() const {
    return !cmdline.empty() || !name.empty() || !exe.empty() || !pid.empty() || orphaned || descendants ||
           !(holding_gpu || !gpus.empty());
}

namespace {

// `none` and `any` mean next to everybody: they only narrow down.
bool names_one(const std::vector<std::string>& owners) {
    return !owners.empty() && std::none_of(owners.begin(), owners.end(), [](const std::string& owner) {
        return owner == "none" || owner == "any";
    });
}

}  // namespace

bool Match::picks() const {
    return holding_gpu || !gpus.empty() || !cmdline.empty() || !name.empty() || !exe.empty() ||
           !pid.empty() || !cgroup.empty() || !user.empty() || orphaned || used_at_least ||
           names_one(slurm_job) || names_one(pod) || names_one(container) || names_one(unit);
}

// A supervisor is stopped only where nothing in it must live, a host rebooted only where nobody's job runs,
// and a file removed only where its owner has none; a scheduler holds no GPU either.
bool Playbook::needs_all_processes() const {
    return scheduled_hosts_only || std::any_of(steps.begin(), steps.end(), [](const Step& step) {
               if (std::holds_alternative<StopStep>(step.action) ||
                   std::holds_alternative<ResetStep>(step.action) ||
                   std::holds_alternative<RebootStep>(step.action) ||
                   std::holds_alternative<CleanShmStep>(step.action))
                   return true;
               const auto* signal = std::get_if<SignalStep>(&step.action);
               return signal != nullptr && signal->match.needs_all_processes();
           });
}

std::vector<std::string> Playbook::shm_names() const {
    std::vector<std::string> names;
    for (const auto& step : steps)
        if (const auto* clean = std::get_if<CleanShmStep>(&step.action))
            names.insert(names.end(), clean->names.begin(), clean->names.end());
    return names;
}

std::vector<std::string> Playbook::judged_gpus() const {
    for (const auto& step : steps)
        if (const auto* verify = std::get_if<VerifyStep>(&step.action); verify && !verify->gpus.empty())
            return verify->gpus;
    return {};
}

Result<Playbook> parse_playbook(std::string_view yaml, std::string_view file, const Settings& settings) {
    const auto in_playbook = [](Error error) {
        return std::unexpected(in_phase(std::move(error), "playbook"));
    };
    if (yaml.size() > max_playbook_bytes)
        return in_playbook(refuse_at(file, {1, 1}, "more than 1 MiB", "a playbook is a short text").error());
    const auto document = yaml::parse(yaml, file);
    if (!document) return in_playbook(from_yaml(document.error()).error());
    auto playbook = read_playbook(document->root(), file, settings);
    if (!playbook) return in_playbook(playbook.error());
    return playbook;
}

}  // namespace cleanslate::playbooks
