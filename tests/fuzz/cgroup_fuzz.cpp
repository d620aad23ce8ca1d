// Properties: of any cgroup path, a supervisor's text is made of safe characters and bounded, whatever a user
// named his cgroups; its path is the beginning of the one read; what is below a user's own manager is never
// scheduled work; reading the path again down to there names the same supervisor. Besides, a naive reader of
// the same path finds in it whatever the supervisor names, and the command is one of those known here with
// that name behind it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/cgroup_path.hpp"
#include "agentless/supervisor.hpp"

namespace {

using cleanslate::agentless::Supervisor;
using cleanslate::agentless::SupervisorKind;

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

bool made_of(std::string_view text, std::string_view more) {
    for (const char c : text)
        if (letters.find(c) == std::string_view::npos && more.find(c) == std::string_view::npos) return false;
    return true;
}

void expect(bool holds) {
    if (!holds) std::abort();
}

// A backslash stands between single quotes only.
void check_command(const Supervisor& found) {
    const std::string_view command = found.stop_command;
    expect(command.size() < 1000);
    if (command.starts_with("kubectl ")) return expect(found.kind == SupervisorKind::pod);
    expect(made_of(command, ":_.\\@-='  "));
    const bool quoted = command.find('\\') != std::string_view::npos;
    expect(quoted == (command.find('\'') != std::string_view::npos));
}

// --- the naive reader -------------------------------------------------------------------------------------

std::vector<std::string> components(std::string_view path) {
    std::vector<std::string> parts(1);
    for (const char c : path) {
        if (c == '/')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    std::erase(parts, std::string());
    return parts;
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// The last word of a command, without its quotes.
std::string argument(std::string command) {
    std::erase(command, '\'');
    const auto blank = command.rfind(' ');
    return blank == std::string::npos ? command : command.substr(blank + 1);
}

bool has_component(const std::vector<std::string>& parts, const std::string& name) {
    for (const auto& part : parts)
        if (part == name || part == "_" + name) return true;
    return false;
}

bool has_component_with(const std::vector<std::string>& parts, std::string_view text) {
    for (const auto& part : parts)
        if (contains(part, text)) return true;
    return false;
}

bool is_known_command(std::string_view command, SupervisorKind kind) {
    constexpr std::array<std::string_view, 4> engines{"docker stop ", "podman stop ", "crictl stop ",
                                                      "nerdctl stop "};
    if (command.empty()) return true;
    if (kind == SupervisorKind::slurm_job) return command.starts_with("scancel ");
    if (kind == SupervisorKind::pod) return command.starts_with("kubectl get pods ");
    if (command.starts_with("systemctl --user --machine="))
        return kind == SupervisorKind::user_unit || kind == SupervisorKind::container;
    if (kind == SupervisorKind::systemd_unit) return command.starts_with("systemctl stop ");
    if (kind != SupervisorKind::container) return false;
    for (const auto engine : engines)
        if (command.starts_with(engine)) return true;
    return false;
}

void check_against_path(const Supervisor& found, std::string_view path) {
    const auto parts = components(path);
    expect(is_known_command(found.stop_command, found.kind));
    const auto last_word = argument(found.name);
    switch (found.kind) {
        case SupervisorKind::none:
            expect(found.stop_command.empty() && found.path.empty());
            // A unit with a plain name is never overlooked.
            for (const auto& part : parts) {
                const auto stem = part.substr(0, part.rfind('.'));
                expect(stem == "init" || stem.empty() || stem.size() > 200 || !made_of(stem, {}) ||
                       !(part.ends_with(".service") || part.ends_with(".scope")));
            }
            break;
        case SupervisorKind::slurm_job:
            expect(has_component(parts, "job_" + found.job_id) && has_component_with(parts, "slurm"));
            expect(found.stop_command == "scancel " + found.job_id);
            expect(found.path.ends_with("/job_" + found.job_id) || found.path == "job_" + found.job_id);
            break;
        case SupervisorKind::pod:
            expect(has_component_with(parts, "kubepods"));
            if (!found.stop_command.empty())
                expect(last_word.size() >= 32 && contains(found.stop_command, "\"" + last_word + "\""));
            break;
        case SupervisorKind::container:
            expect(has_component_with(parts, last_word));
            if (found.stop_command.ends_with(".scope"))
                expect(has_component(parts, argument(found.stop_command)));
            else if (!found.stop_command.empty())
                expect(argument(found.stop_command) == last_word && last_word.size() == 12);
            break;
        default:
            expect(has_component(parts, found.name));
            expect(found.name.ends_with(".service") || found.name.ends_with(".scope"));
            if (!found.stop_command.empty()) expect(argument(found.stop_command) == found.name);
    }
}

void check_parts(std::string_view path) {
    using namespace cleanslate::agentless;
    const auto split = split_cgroup(path);
    const auto parts = components(path);
    expect(split.parts.size() == parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        expect(split.parts[i] == parts[i]);
        const auto down = components(split.down_to(i));
        expect(path.starts_with(split.down_to(i)) && down.size() == i + 1 && down.back() == parts[i]);
        if (is_unit(parts[i], ".service")) expect(parts[i].size() <= 255 && made_of(parts[i], ":_.\\@-"));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cleanslate::agentless;
    const std::string_view path(reinterpret_cast<const char*>(data), size);
    const Supervisor found = supervisor_of(path);

    expect(found.name.size() <= 300 && made_of(found.name, ":_.\\@- ()"));
    check_command(found);
    check_against_path(found, path);
    check_parts(path);
    expect(made_of(found.job_id, {}) && found.job_id.size() <= 20);
    expect(found.id.size() <= 300 && made_of(found.id, ":_.\\@-"));
    expect(found.id.empty() || path.find(found.id) != std::string_view::npos ||
           found.kind == SupervisorKind::pod);
    expect(found.user_manager.empty() || contains(path, "user@" + found.user_manager + ".service"));
    expect(path.starts_with(found.path));
    expect((found.kind == SupervisorKind::none) == found.name.empty());
    expect(found.job_id.empty() || found.kind == SupervisorKind::slurm_job);
    if (found.respawns() && !found.path.empty())
        expect(found.path.find_first_not_of('/') != std::string::npos);
    if (!found.path.empty()) {
        const Supervisor again = supervisor_of(found.path);
        expect(again.kind == found.kind && again.name == found.name && again.path == found.path);
    }

    const std::string below = "/user.slice/user-1000.slice/user@1000.service/" + std::string(path);
    expect(!supervisor_of(below).scheduled());
    return 0;
}
