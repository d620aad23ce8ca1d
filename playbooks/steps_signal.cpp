// `signal:` and `stop:`: steps that end what a match chooses.
#include <fmt/format.h>

#include <array>
#include <csignal>

#include "base/text.hpp"
#include "playbooks/lists.hpp"
#include "playbooks/steps.hpp"

namespace cleanslate::playbooks {
namespace {

using namespace std::chrono_literals;

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

// One supervisor kind of `stop:`.
struct StopKind {
    std::string_view name;
    bool StopStep::*wanted;
};
constexpr std::array<StopKind, 4> stop_kinds{{{"units", &StopStep::units},
                                              {"containers", &StopStep::containers},
                                              {"slurm_jobs", &StopStep::slurm_jobs},
                                              {"mps", &StopStep::mps}}};

Status read_stop_kind(const Reader& in, const yaml::Node& node, StopStep& step) {
    const auto word = in.text(node, "stop");
    if (!word) return std::unexpected(word.error());
    std::vector<std::string> names;
    for (const auto& [name, wanted] : stop_kinds) {
        names.emplace_back(name);
        if (*word != name) continue;
        if (step.*wanted)
            return in.refuse(node, fmt::format("`stop` names {} twice", name), "take one of them out");
        step.*wanted = true;
        return {};
    }
    const std::string near = yaml::nearest(*word, names);
    return in.refuse(
        node, fmt::format("`stop` knows no `{}`", ellipsize(printable(*word), 40)),
        (near.empty() ? std::string() : fmt::format("did you mean `{}`? ", near)) +
            "write one or more of units, containers, slurm_jobs and mps; `match` says whose they are");
}

}  // namespace

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

Result<Action> read_stop(const Reader& in, const yaml::Node& step) {
    StopStep out;
    if (auto keys = check_step_keys(in, step, "a `stop` step", {"stop", "match", "timeout", "name"}); !keys)
        return std::unexpected(keys.error());
    const auto kinds = entries_of(in, *step.find("stop"), "stop");
    if (!kinds) return std::unexpected(kinds.error());
    for (const yaml::Node* kind : *kinds)
        if (auto read = read_stop_kind(in, *kind, out); !read) return std::unexpected(read.error());
    const bool only_mps = out.mps && !out.units && !out.containers && !out.slurm_jobs;
    if (const yaml::Node* match = step.find("match")) {
        if (auto read = keep(out.match, read_match(in, *match)); !read) return std::unexpected(read.error());
    } else if (only_mps) {
        out.match.holding_gpu = true;
    } else {
        return in.refuse(step, "this `stop` step has no `match`",
                         "say whose supervisors: `match: {holding: gpu}` for those of processes at a GPU");
    }
    if (const yaml::Node* timeout = step.find("timeout"))
        if (auto read = keep(out.timeout, in.duration(*timeout, "timeout", 1s, 1h)); !read)
            return std::unexpected(read.error());
    return out;
}

}  // namespace cleanslate::playbooks
