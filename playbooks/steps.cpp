#include "playbooks/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "base/text.hpp"

namespace cleanslate::playbooks {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_steps = 100;
constexpr Milliseconds kill_wait = 30s;  // a process still there so long after KILL is called unkillable

struct SignalName {
    std::string_view name;
    int number;
};
constexpr std::array<SignalName, 7> signals{{{"TERM", SIGTERM},
                                             {"KILL", SIGKILL},
                                             {"INT", SIGINT},
                                             {"HUP", SIGHUP},
                                             {"QUIT", SIGQUIT},
                                             {"USR1", SIGUSR1},
                                             {"USR2", SIGUSR2}}};

// Keys that people write one level too high or in another kind of step, and where they belong.
struct Misplaced {
    std::string_view key, belongs;
};
constexpr std::array<Misplaced, 11> misplaced{{{"match", "to a `signal` step"},
                                               {"wait", "to a `signal` step"},
                                               {"timeout", "to a `run` step"},
                                               {"expect_status", "to a `run` step"},
                                               {"max_used", "below `verify:`, two blanks further in"},
                                               {"within", "below `verify:`, two blanks further in"},
                                               {"holding", "below `match:`, two blanks further in"},
                                               {"cmdline", "below `match:`, two blanks further in"},
                                               {"exe", "below `match:`, two blanks further in"},
                                               {"pid", "below `match:`, two blanks further in"},
                                               {"tree", "below `match:`, two blanks further in"}}};

// As check_keys, and says of a key that is only in the wrong place where it belongs.
Status check_step_keys(const Reader& in, const yaml::Node& step, std::string_view what,
                       const std::vector<std::string>& known) {
    for (const auto& [key, value] : step.entries) {
        if (std::find(known.begin(), known.end(), key.text) != known.end()) continue;
        for (const auto& [name, belongs] : misplaced)
            if (key.text == name)
                return in.refuse(key, fmt::format("{} has no key `{}`", what, name),
                                 fmt::format("`{}` belongs {}", name, belongs));
    }
    return check_keys(step, in.file(), what, known);
}

Status read_signal_name(const Reader& in, const yaml::Node& node, SignalStep& step) {
    auto word = in.text(node, "signal");
    if (!word) return std::unexpected(word.error());
    constexpr std::string_view right = "write TERM, KILL, INT, HUP, QUIT, USR1 or USR2";
    const std::string_view bare =
        std::string_view(*word).starts_with("SIG") ? std::string_view(*word).substr(3) : *word;
    std::vector<std::string> names;
    for (const auto& [name, number] : signals) {
        names.emplace_back(name);
        if (bare == name) {
            step.signal = number;
            step.signal_name = name;
            return {};
        }
        if (parse_number(*word) == static_cast<std::uint64_t>(number))
            return in.refuse(node, fmt::format("signal {} is a number", *word),
                             fmt::format("write {}", name));
    }
    std::string upper(bare.substr(0, 16));
    for (char& c : upper)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (upper.starts_with("SIG")) upper.erase(0, 3);
    const std::string near = yaml::nearest(upper, names);
    return in.refuse(node, fmt::format("there is no signal `{}` here", ellipsize(printable(*word), 40)),
                     near.empty() ? std::string(right) : fmt::format("did you mean {}? {}", near, right));
}

Result<Action> read_signal(const Reader& in, const yaml::Node& step) {
    SignalStep out;
    if (auto keys = check_step_keys(in, step, "a `signal` step", {"signal", "match", "wait", "name"}); !keys)
        return std::unexpected(keys.error());
    if (auto name = read_signal_name(in, *step.find("signal"), out); !name)
        return std::unexpected(name.error());
    const yaml::Node* match = step.find("match");
    if (match == nullptr)
        return in.refuse(step, "this `signal` step has no `match`",
                         "say which processes: `match: {holding: gpu}` for those at a GPU");
    if (auto read = keep(out.match, read_match(in, *match)); !read) return std::unexpected(read.error());
    if (out.signal == SIGKILL) out.wait = kill_wait;
    if (const yaml::Node* wait = step.find("wait"))
        if (auto read = keep(out.wait, in.duration(*wait, "wait", 0s, 1h)); !read)
            return std::unexpected(read.error());
    return out;
}

Result<Action> read_run(const Reader& in, const yaml::Node& step) {
    RunStep out;
    if (auto keys = check_step_keys(in, step, "a `run` step", {"run", "timeout", "expect_status", "name"});
        !keys)
        return std::unexpected(keys.error());
    if (auto read = keep(out.command, in.command(*step.find("run"), "run")); !read)
        return std::unexpected(read.error());
    if (const yaml::Node* timeout = step.find("timeout"))
        if (auto read = keep(out.timeout, in.duration(*timeout, "timeout", 1s, 24h)); !read)
            return std::unexpected(read.error());
    if (const yaml::Node* status = step.find("expect_status")) {
        auto value = in.integer(*status, "expect_status", 0, 255);
        if (!value) return std::unexpected(value.error());
        out.expect_status = static_cast<int>(*value);
    }
    return out;
}

Result<Action> read_verify(const Reader& in, const yaml::Node& step) {
    VerifyStep out;
    if (auto keys = check_step_keys(in, step, "a `verify` step", {"verify", "name"}); !keys)
        return std::unexpected(keys.error());
    const yaml::Node& node = *step.find("verify");
    if (node.is_null()) return out;
    if (auto keys = check_keys(node, in.file(), "`verify`", {"max_used", "within"}); !keys)
        return std::unexpected(keys.error());
    if (const yaml::Node* most = node.find("max_used"))
        if (auto read = keep(out.max_used, in.size(*most, "max_used")); !read)
            return std::unexpected(read.error());
    if (const yaml::Node* within = node.find("within"))
        if (auto read = keep(out.within, in.duration(*within, "within", 0s, 1h)); !read)
            return std::unexpected(read.error());
    return out;
}

// Exactly one of the three kinds.
Result<Action> read_action(const Reader& in, const yaml::Node& node) {
    static const std::vector<std::string> kinds{"signal", "run", "verify"};
    const yaml::Node* kind = nullptr;
    for (const auto& [key, value] : node.entries) {
        if (std::find(kinds.begin(), kinds.end(), key.text) == kinds.end()) continue;
        if (kind != nullptr)
            return in.refuse(key, fmt::format("`{}` and `{}` in one step", kind->text, key.text),
                             fmt::format("begin a step of its own: `- {}:`", key.text));
        kind = &key;
    }
    if (kind == nullptr) {
        static const std::vector<std::string> all{"signal", "run", "verify", "name"};
        if (auto keys = check_step_keys(in, node, "a step", all); !keys) return std::unexpected(keys.error());
        return in.refuse(node, "a step without `signal`, `run` or `verify`",
                         "write one of `signal: TERM`, `run: COMMAND`, `verify:`");
    }
    if (kind->text == "signal") return read_signal(in, node);
    return kind->text == "run" ? read_run(in, node) : read_verify(in, node);
}

Result<Step> read_step(const Reader& in, const yaml::Node& node) {
    if (!node.is_mapping() || !node.tag.empty())
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

std::string describe_match(const Match& match) {
    std::string out = match.holding_gpu ? "holders" : "processes";
    const auto add = [&](std::string_view key, const std::vector<std::string>& patterns) {
        for (const auto& pattern : patterns)
            out += fmt::format(" with {} '{}'", key, ellipsize(printable(pattern), 40));
    };
    add("cmdline", match.cmdline);
    add("name", match.name);
    add("exe", match.exe);
    for (const int pid : match.pid) out += fmt::format(" with pid {}", pid);
    return match.tree ? out + " and their launchers" : out;
}

}  // namespace

std::string describe(const Action& action) {
    if (const auto* signal = std::get_if<SignalStep>(&action))
        return signal->signal_name + " " + describe_match(signal->match);
    if (const auto* run = std::get_if<RunStep>(&action)) {
        const std::string_view line = trim(run->command);
        return "run " + ellipsize(printable(line.substr(0, line.find('\n'))), 60);
    }
    return "verify";
}

Result<std::vector<Step>> read_steps(const Reader& in, const yaml::Node& node) {
    if (!node.is_sequence() || !node.tag.empty())
        return in.refuse(node, fmt::format("`steps` is a list, and here is {}", yaml::describe(node)),
                         "begin each step with `- `: `- signal: TERM`, `- run: COMMAND` or `- verify:`");
    if (node.items.empty()) return in.refuse(node, "`steps` is empty", "write at least one step");
    if (node.items.size() > max_steps)
        return in.refuse(node, fmt::format("{} steps", node.items.size()),
                         fmt::format("use at most {}", max_steps));
    std::vector<Step> steps;
    for (const auto& item : node.items) {
        auto step = read_step(in, item);
        if (!step) return std::unexpected(step.error());
        steps.push_back(std::move(*step));
    }
    return steps;
}

}  // namespace cleanslate::playbooks
