#include "playbooks/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"

namespace cleanslate::playbooks {
namespace {

constexpr std::size_t max_steps = 100;

struct Kind {
    std::string_view name;
    Result<Action> (*read)(const Reader& in, const yaml::Node& step);
};
constexpr std::array<Kind, 7> kinds{{{"signal", read_signal},
                                     {"stop", read_stop},
                                     {"run", read_run},
                                     {"verify", read_verify},
                                     {"reset", read_reset},
                                     {"reboot", read_reboot},
                                     {"clean_shm", read_clean_shm}}};

// Keys that people write one level too high or in another kind of step, and where they belong.
struct Misplaced {
    std::string_view key, belongs;
};
constexpr std::string_view below_match = "below `match:`, two blanks further in";
constexpr std::string_view at_the_top = "to the playbook itself, beside `steps:`";
constexpr std::array<Misplaced, 32> misplaced{
    {{"match", "to a `signal` or `stop` step"},
     {"wait", "to a `signal` step"},
     {"timeout", "to a `run` or `stop` step, or below `reset:`"},
     {"expect_status", "to a `run` step"},
     {"when", "to a `run` step"},
     {"max_used", "below `verify:`, two blanks further in"},
     {"within", "below `verify:` or `reset:`, two blanks further in"},
     {"daemons", "below `reset:`, two blanks further in"},
     {"deadline", "below `reboot:`, two blanks further in"},
     {"names", "below `clean_shm:`, two blanks further in"},
     {"gpus", "below `match:` or `verify:`, two blanks further in"},
     {"user", "below `match:` or `clean_shm:`, two blanks further in"},
     {"older_than", "below `match:` or `clean_shm:`, two blanks further in"},
     {"holding", below_match},
     {"cmdline", below_match},
     {"exe", below_match},
     {"pid", below_match},
     {"not_user", below_match},
     {"uid_at_least", below_match},
     {"used_at_least", below_match},
     {"orphaned", below_match},
     {"cgroup", below_match},
     {"not_cgroup", below_match},
     {"slurm_job", below_match},
     {"pod", below_match},
     {"container", below_match},
     {"unit", below_match},
     {"tree", below_match},
     {"descendants", below_match},
     {"max_kills", at_the_top},
     {"scheduled_hosts_only", at_the_top},
     {"protect", at_the_top}}};

// Exactly one of the kinds.
Result<Action> read_action(const Reader& in, const yaml::Node& node) {
    const Kind* kind = nullptr;
    for (const auto& [key, value] : node.entries()) {
        const auto found = std::ranges::find(kinds, key.text(), &Kind::name);
        if (found == kinds.end()) continue;
        if (kind != nullptr)
            return in.refuse(key, fmt::format("`{}` and `{}` in one step", kind->name, key.text()),
                             fmt::format("begin a step of its own: `- {}:`", key.text()));
        kind = &*found;
    }
    if (kind != nullptr) return kind->read(in, node);
    std::vector<std::string> all;
    for (const auto& each : kinds) all.emplace_back(each.name);
    const std::string names = any_of(all);
    all.emplace_back("name");
    if (auto keys = check_step_keys(in, node, "a step", all); !keys) return std::unexpected(keys.error());
    return in.refuse(node, "a step that does nothing",
                     fmt::format("write one of {}: `signal: TERM`, `run: COMMAND`, `verify:`", names));
}

Result<Step> read_step(const Reader& in, const yaml::Node& node) {
    if (!node.is_mapping() || !node.tag().empty())
        return in.refuse(
            node, fmt::format("a step is a mapping, and here is {}", yaml::describe(node)),
            "write `- signal: TERM` with a `match:`, `- run: COMMAND` or `- verify:` (with the colon)");
    auto action = read_action(in, node);
    if (!action) return std::unexpected(action.error());
    Step step{{}, std::move(*action), node.mark.line};
    step.name = describe(step.action);
    if (const yaml::Node* name = node.find("name")) {
        if (auto read = keep(step.name, in.text(*name, "name")); !read) return std::unexpected(read.error());
        if (trim(step.name).empty() || step.name != printable(step.name) || step.name.size() > 200)
            return in.refuse(*name, "`name` is not one short line of text",
                             "write a few words, or leave it out");
    }
    return step;
}

RunStep::When when(const Step& step) {
    const auto* run = std::get_if<RunStep>(&step.action);
    return run == nullptr ? RunStep::When::in_order : run->when;
}

// They run first and last wherever they stand: so there they stand.
Status check_order(const Reader& in, const yaml::Node& node, const std::vector<Step>& earlier,
                   const Step& step) {
    if (earlier.empty()) return {};
    const auto last = when(earlier.back());
    if (when(step) == RunStep::When::before && last != RunStep::When::before)
        return in.refuse(node, "a step that runs before all others stands behind one",
                         "move the steps with `when: before` to the beginning, or leave `when` out");
    if (when(step) != RunStep::When::after && last == RunStep::When::after)
        return in.refuse(
            node,
            fmt::format("a step stands behind one that runs after all others (line {})", earlier.back().line),
            "move the steps with `when: after` to the end, or leave `when` out there");
    return {};
}

std::vector<std::string> judged_by(const Step& step) {
    const auto* verify = std::get_if<VerifyStep>(&step.action);
    auto gpus = verify == nullptr ? std::vector<std::string>{} : verify->gpus;
    std::ranges::sort(gpus);
    return gpus;
}

// A host is judged by one set of GPUs, from the first look on.
Status check_judged(const Reader& in, const yaml::Node& node, const std::vector<Step>& earlier,
                    const Step& step) {
    const auto gpus = judged_by(step);
    if (gpus.empty()) return {};
    for (const auto& other : earlier)
        if (const auto theirs = judged_by(other); !theirs.empty() && theirs != gpus)
            return in.refuse(
                node, fmt::format("`verify` here and in line {} judge the host by other GPUs", other.line),
                "name the same `gpus` in both, or leave them out in one");
    return {};
}

}  // namespace

Status check_step_keys(const Reader& in, const yaml::Node& step, std::string_view what,
                       const std::vector<std::string>& known) {
    for (const auto& [key, value] : step.entries()) {
        if (std::ranges::find(known, key.text()) != known.end()) continue;
        for (const auto& [name, belongs] : misplaced)
            if (key.text() == name)
                return in.refuse(key, fmt::format("{} has no key `{}`", what, name),
                                 fmt::format("`{}` belongs {}", name, belongs));
    }
    return check_keys(step, in.file(), what, known);
}

Result<std::vector<Step>> read_steps(const Reader& in, const yaml::Node& node) {
    if (!node.is_sequence() || !node.tag().empty())
        return in.refuse(node, fmt::format("`steps` is a list, and here is {}", yaml::describe(node)),
                         "begin each step with `- `: `- signal: TERM`, `- run: COMMAND` or `- verify:`");
    if (node.items().empty()) return in.refuse(node, "`steps` is empty", "write at least one step");
    if (node.items().size() > max_steps)
        return in.refuse(node, fmt::format("{} steps", node.items().size()),
                         fmt::format("use at most {}", max_steps));
    std::vector<Step> steps;
    for (const auto& item : node.items()) {
        auto step = read_step(in, item);
        if (!step) return std::unexpected(step.error());
        if (auto order = check_order(in, item, steps, *step); !order) return std::unexpected(order.error());
        if (auto judged = check_judged(in, item, steps, *step); !judged)
            return std::unexpected(judged.error());
        steps.push_back(std::move(*step));
    }
    return steps;
}

}  // namespace cleanslate::playbooks
