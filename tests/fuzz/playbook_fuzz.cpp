// Property: any text is a playbook or an error that begins with the file's name and says what would be right.
// A playbook that was read never means every process, keeps every bound, and has the same steps whatever is
// --set. The input is a playbook; what follows a line of five dashes is the value of its param `pattern`.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "playbooks/pattern.hpp"
#include "playbooks/playbook.hpp"

namespace {

using namespace cleanslate;
using namespace cleanslate::playbooks;
using namespace std::chrono_literals;

constexpr auto npos = std::string_view::npos;

void require(bool holds) {
    if (!holds) std::abort();
}

void check(const std::vector<std::string>& patterns) {
    for (const auto& pattern : patterns) {
        const auto compiled = Pattern::compile(pattern);
        require(compiled && !compiled->found_in("") && !compiled->found_in("/"));
    }
}

bool is_once(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return std::adjacent_find(names.begin(), names.end()) == names.end();
}

// One word of a shell, of visible characters.
bool is_word(std::string_view text) {
    return !text.empty() && text[0] != '-' && text.size() <= 255 &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return c > ' ' && c != 0x7f && std::string_view("'\"`;&|<>(){}[]*?!#~,/").find(c) == npos;
           });
}

void check_gpus(const std::vector<std::string>& gpus) {
    require(is_once(gpus) && gpus.size() <= 256);
    for (const auto& gpu : gpus)
        require(gpu.starts_with("GPU-")
                    ? gpu.size() == 40
                    : gpu.size() <= 4 && gpu.find_first_not_of("0123456789") == std::string::npos);
}

void check_accounts(const std::vector<std::string>& users) {
    require(users.size() <= 256);
    for (const auto& user : users) {
        require(!user.empty() && user[0] != '-' && user.size() <= 255);
        require(user.find_first_of(std::string_view(" \t\n\0,:/*?", 9)) == std::string::npos);
    }
}

void check_owners(const std::vector<std::string>& owners) {
    const bool any = std::find(owners.begin(), owners.end(), "any") != owners.end();
    require(!any || owners.size() == 1);
    for (const auto& owner : owners)
        require(owner != "*" && is_word(owner.ends_with('*') ? owner.substr(0, owner.size() - 1) : owner));
}

void check(const Match& match) {
    require(match.picks());
    for (const int pid : match.pid) require(pid > 1);
    for (const auto* patterns : {&match.cmdline, &match.name, &match.exe, &match.cgroup, &match.not_cgroup})
        check(*patterns);
    check_gpus(match.gpus);
    check_accounts(match.user);
    check_accounts(match.not_user);
    for (const auto* owners : {&match.slurm_job, &match.pod, &match.container, &match.unit})
        check_owners(*owners);
    if (match.older_than) require(*match.older_than >= 1s && *match.older_than % 1s == 0s);
    if (match.used_at_least) require(match.used_at_least->count > 0);
}

void check(const SignalStep& step) {
    constexpr std::array<std::string_view, 7> names{"TERM", "KILL", "INT", "HUP", "QUIT", "USR1", "USR2"};
    require(std::find(names.begin(), names.end(), step.signal_name) != names.end());
    require(step.wait >= 0s && step.wait <= 1h);
    check(step.match);
}

void check(const RunStep& step) {
    require(step.command.find_first_not_of(" \t\r\n") != std::string::npos);
    require(step.command.find('\0') == std::string::npos);
    require(step.timeout >= 1s && step.timeout <= 24h);
    require(step.expect_status >= 0 && step.expect_status <= 255);
}

void check(const StopStep& step) {
    require(step.units || step.containers || step.slurm_jobs || step.mps);
    require(step.timeout >= 1s && step.timeout <= 1h);
    check(step.match);
}

void check(const ResetStep& step) {
    require(step.within >= 0s && step.within <= 1h && step.timeout >= 10s && step.timeout <= 1h);
    require(is_once(step.daemons));
    for (const auto& daemon : step.daemons)
        require(is_word(daemon) && daemon.ends_with(".service") && daemon != "sshd.service");
}

void check(const RebootStep& step) { require(step.deadline >= 1min && step.deadline <= 2h); }

void check(const CleanShmStep& step) {
    require(!step.names.empty() && step.names.size() <= 256 && step.older_than >= 1min);
    check_accounts(step.user);
    for (const auto& name : step.names) {
        require(name.find('/') == std::string::npos && name.size() <= 255);
        require(name.find_first_of("*?.-_") >= 3);
    }
}

void check(const VerifyStep& step) {
    require(step.within >= 0s && step.within <= 1h);
    check_gpus(step.gpus);
}

RunStep::When when(const Step& step) {
    const auto* run = std::get_if<RunStep>(&step.action);
    return run == nullptr ? RunStep::When::in_order : run->when;
}

// Before all others, in order, after all others; and one set of GPUs to judge by.
void check_together(const std::vector<Step>& steps, std::vector<std::string> judged) {
    const auto rank = [](const Step& step) {
        return when(step) == RunStep::When::before ? 0 : when(step) == RunStep::When::after ? 2 : 1;
    };
    require(std::is_sorted(steps.begin(), steps.end(),
                           [&](const Step& a, const Step& b) { return rank(a) < rank(b); }));
    std::sort(judged.begin(), judged.end());
    for (const auto& step : steps)
        if (const auto* verify = std::get_if<VerifyStep>(&step.action); verify && !verify->gpus.empty())
            require(
                std::is_permutation(judged.begin(), judged.end(), verify->gpus.begin(), verify->gpus.end()));
}

void check(const Result<Playbook>& read) {
    if (!read) {
        const Error& error = read.error();
        require(error.kind == "playbook" && error.phase == "playbook");
        require(error.message.starts_with("p.yaml:") && !error.remedy.empty());
        require(error.message.find('\n') == std::string::npos);
        return;
    }
    require(!read->name.empty() && !read->steps.empty() && read->steps.size() <= 100);
    for (const auto& entry : read->protect) require(!entry.empty() && entry != "*");
    require(!read->max_kills || (*read->max_kills >= 1 && *read->max_kills <= 100'000));
    check_together(read->steps, read->judged_gpus());
    for (const auto& step : read->steps) {
        require(!step.name.empty() && step.line > 0);
        std::visit([](const auto& action) { check(action); }, step.action);
    }
}

bool same_shape(const Playbook& a, const Playbook& b) {
    return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                      [](const Step& x, const Step& y) { return x.action.index() == y.action.index(); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    constexpr std::string_view rule = "\n-----\n";
    const std::size_t end = input.find(rule);
    const std::string_view yaml = input.substr(0, end);
    const auto plain = parse_playbook(yaml, "p.yaml");
    check(plain);
    if (end == std::string_view::npos) return 0;
    const auto set =
        parse_playbook(yaml, "p.yaml", {{"pattern", std::string(input.substr(end + rule.size()))}});
    check(set);
    if (plain && set) require(same_shape(*plain, *set));
    return 0;
}
