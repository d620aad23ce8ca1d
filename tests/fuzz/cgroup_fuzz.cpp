// Property: of any cgroup path, a supervisor's text is made of safe characters and bounded, whatever a user
// named his cgroups; its path is the beginning of the one read; what is below a user's own manager is never
// scheduled work; and reading the path again down to there names the same supervisor.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cleanslate::agentless;
    const std::string_view path(reinterpret_cast<const char*>(data), size);
    const Supervisor found = supervisor_of(path);

    expect(found.name.size() <= 300 && made_of(found.name, ":_.\\@- ()"));
    check_command(found);
    expect(made_of(found.job_id, {}) && found.job_id.size() <= 20);
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
