// simfleet FOLDER --hosts N ...: thousands of modelled GPU hosts behind SSH, in one process. README.md has
// the rest.

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

#include "tests/fleet/scale/fleet_folder.hpp"
#include "tests/fleet/scale/fleet_options.hpp"
#include "tests/fleet/scale/places.hpp"
#include "tests/fleet/scale/server.hpp"

namespace cleanslate::simulated {
namespace {

void raise_descriptor_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Blocks the signals that end the fleet, in threads too; they can be read here.
Fd ending_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGTERM);
    ::sigaddset(&set, SIGINT);
    need(::sigprocmask(SIG_BLOCK, &set, nullptr) == 0, "sigprocmask");
    ::signal(SIGPIPE, SIG_IGN);
    Fd signals(::signalfd(-1, &set, SFD_CLOEXEC));
    need(static_cast<bool>(signals), "signalfd");
    return signals;
}

// Until a signal came, or standard input, where that is a pipe, has ended.
void wait_for_end(const Fd& signals) {
    struct stat input {};
    const bool pipe =
        ::fstat(STDIN_FILENO, &input) == 0 && (S_ISFIFO(input.st_mode) || S_ISSOCK(input.st_mode));
    std::array<pollfd, 2> ends{pollfd{signals.get(), POLLIN, 0}, pollfd{pipe ? STDIN_FILENO : -1, POLLIN, 0}};
    std::array<char, 4096> nothing;
    while (::poll(ends.data(), ends.size(), -1) < 0 || ends[0].revents == 0)
        if (ends[1].revents != 0 && ::read(STDIN_FILENO, nothing.data(), nothing.size()) <= 0) return;
}

std::vector<BlackHole> open_black_holes(const FleetState& fleet) {
    std::vector<BlackHole> holes;
    for (std::size_t i = 0; i < fleet.size(); ++i)
        if (fleet.kind(i) == Kind::black_hole) holes.emplace_back(address_of(i), fleet.options.port);
    return holes;
}

void serve(FleetOptions options) {
    const auto signals = ending_signals();
    raise_descriptor_limit();
    if (options.port == 0) options.port = free_port();
    need(is_free_port(options.port), fmt::format("port {}", options.port));
    FleetState fleet(options);
    const ClosedPort closed;
    write_folder(fleet, closed.number());
    ssh_init();
    const auto began = now_ns();
    std::vector<std::unique_ptr<Server>> servers;
    for (std::size_t i = 0; i < options.threads; ++i)
        servers.push_back(std::make_unique<Server>(fleet, host_key_file(options.folder), began));
    const auto holes = open_black_holes(fleet);
    std::vector<std::jthread> threads;
    for (const auto& server : servers) threads.emplace_back([&server] { server->run(); });
    write_file(options.folder + "/ready", "");
    wait_for_end(signals);
    for (const auto& server : servers) server->stop();
    threads.clear();
    write_file(options.folder + "/served.json", fleet.served());
}

}  // namespace
}  // namespace cleanslate::simulated

int main(int argc, char** argv) {
    using namespace cleanslate::simulated;
    auto options = read_fleet_options({argv + 1, argv + argc});
    if (!options) {
        fmt::print(stderr, "simfleet: {}\n{}", options.error().message, options.error().remedy);
        return 2;
    }
    make_folder(options->folder);
    options->folder = std::filesystem::canonical(options->folder);
    std::filesystem::remove(options->folder + "/ready");
    serve(*options);
}
