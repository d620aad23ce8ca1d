#include "controller/become.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "controller/page.hpp"
#include "controller/password.hpp"

namespace cleanslate::controller {
namespace {

// A core file would have it.
void leave_no_core() {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
}

}  // namespace

Status fill_become_password(const Options& options, const std::vector<agentless::HostTask>& tasks,
                            agentless::Reach& reach, const AskSecret& ask) {
    if (!options.ask_become_pass) return {};
    const auto becomes = [&](const agentless::HostTask& task) {
        return options.become || task.host.become.value_or(false);
    };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(tasks, becomes));
    if (count == 0)
        return fail("usage", "--ask-become-pass: no selected host becomes root",
                    "give --become, or set become: true in the inventory");
    leave_no_core();
    auto password = ask("Password of sudo on " + count_of(count, "host") + ": ");
    if (!password) return std::unexpected(password.error());
    reach.become_password = std::move(*password);
    return {};
}

Status fill_become_password(const Options& options, const std::vector<agentless::HostTask>& tasks,
                            agentless::Reach& reach) {
    return fill_become_password(options, tasks, reach, ask_secret);
}

PasswordScope::~PasswordScope() {
    if (reach_.become_password) wipe(*reach_.become_password);
}

}  // namespace cleanslate::controller
