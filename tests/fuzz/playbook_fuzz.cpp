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

void require(bool holds) {
    if (!holds) std::abort();
}

void check(const std::vector<std::string>& patterns) {
    for (const auto& pattern : patterns) {
        const auto compiled = Pattern::compile(pattern);
        require(compiled && !compiled->found_in("") && !compiled->found_in("/"));
    }
}

void check(const SignalStep& step) {
    constexpr std::array<std::string_view, 7> names{"TERM", "KILL", "INT", "HUP", "QUIT", "USR1", "USR2"};
    require(std::find(names.begin(), names.end(), step.signal_name) != names.end());
    require(step.match.picks());
    for (const int pid : step.match.pid) require(pid > 1);
    require(step.wait >= 0s && step.wait <= 1h);
    check(step.match.cmdline);
    check(step.match.name);
    check(step.match.exe);
}

void check(const RunStep& step) {
    require(step.command.find_first_not_of(" \t\r\n") != std::string::npos);
    require(step.command.find('\0') == std::string::npos);
    require(step.timeout >= 1s && step.timeout <= 24h);
    require(step.expect_status >= 0 && step.expect_status <= 255);
}

void check(const StopStep& step) {
    require(step.units || step.containers || step.slurm_jobs || step.mps);
    require(step.match.picks() && step.timeout >= 1s && step.timeout <= 1h);
}

void check(const ResetStep& step) {
    require(step.within >= 0s && step.within <= 1h && step.timeout >= 10s && step.timeout <= 1h);
}

void check(const RebootStep& step) { require(step.deadline >= 1min && step.deadline <= 2h); }

void check(const CleanShmStep& step) {
    require(!step.names.empty() && step.older_than >= 1min);
    for (const auto& name : step.names)
        require(name.find('/') == std::string::npos && name.find_first_not_of("*?") != std::string::npos);
}

void check(const VerifyStep& step) { require(step.within >= 0s && step.within <= 1h); }

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
