// What a host behind a jump host costs this side, as a ratio to the same host reached directly: real sshd at
// both ends, one for all hosts. Then the same with hosts that never answer among them.
// Usage: jump_bench [HOSTS [SILENT]]    (needs sshd). Ends with 1 where a bar is not met.
#include <fmt/core.h>
#include <sys/resource.h>

#include <cstdlib>
#include <map>

#include "tests/contract/jump_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

constexpr double bar = 1.5;

const char* met(bool holds) { return holds ? "met" : "NOT MET"; }

double cpu_ms() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto ms = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
    };
    return ms(usage.ru_utime) + ms(usage.ru_stime);
}

struct Round {
    double cpu_ms_a_host = 0;
    int good = 0;
    std::map<std::string, int> problems;            // what the others said, and how many
    std::chrono::milliseconds slowest{0}, took{0};  // of those that were good; of all
};

Round visit_round(const SshOptions& options, const std::vector<Endpoint>& endpoints) {
    boost::asio::io_context io{1};
    const auto context = load_ssh_context(options);
    if (!context) throw std::runtime_error(context.error().message);
    const auto transport = make_ssh_transport(io, *context);
    const double before = cpu_ms();
    const auto begin = Clock::now();
    const auto visits = visit_all(io, *transport, endpoints, Script{"/bin/sh -s", "echo in"}, 600s);
    Round round;
    round.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
    round.cpu_ms_a_host = (cpu_ms() - before) / static_cast<double>(endpoints.size());
    for (const Visit& visit : visits) {
        if (!visit.ok("in\n")) ++round.problems[visit.problem()];
        if (!visit.ok("in\n")) continue;
        ++round.good;
        round.slowest = std::max(round.slowest, visit.took);
    }
    return round;
}

void print(const std::string& what, const Round& round) {
    fmt::print(
        "{:<20} {:4} hosts good, {:.2f} ms of CPU a host, the slowest good one took {} ms, all {} ms\n", what,
        round.good, round.cpu_ms_a_host, round.slowest.count(), round.took.count());
    for (const auto& [problem, count] : round.problems) fmt::print("    {} times: {}\n", count, problem);
}

int run(int hosts, int silent) {
    const std::string why = no_sshd_here();
    if (!why.empty()) throw std::runtime_error(why);
    // Each address of the loopback network is a host of its own for whoever counts logins.
    const std::uint16_t port = free_port();
    const Sshd target(fmt::format("ListenAddress 0.0.0.0:{}\nMaxStartups 1000", port)), jump;
    const BlackHole hole;
    SshOptions options = target.options();
    options.identity_files.push_back(jump.file("client"));
    options.known_hosts.push_back(jump.file("known_hosts"));
    options.known_hosts.push_back(target.file("all"));
    options.config_file = "none";
    write_file(target.file("all"), target.known_hosts_line(fmt::format("[127.1.*]:{}", port)));

    const Endpoint there = jump.endpoint();
    const std::string hop = fmt::format("{}@{}:{}", there.user, there.address, jump.port());
    std::vector<Endpoint> direct, behind;
    for (int i = 0; i < hosts; ++i) {
        Endpoint host = target.endpoint();
        host.address = fmt::format("127.1.{}.{}", i / 200, i % 200 + 1);
        host.port = port;
        direct.push_back(host);
        host.proxy_jump = hop;
        behind.push_back(host);
    }
    std::vector<Endpoint> with_silent = behind;
    for (int i = 0; i < silent; ++i) {
        Endpoint& host = with_silent[static_cast<std::size_t>(i * hosts / silent)];
        host = hole.endpoint();
        host.proxy_jump = hop;
    }
    visit_round(options, {direct.front(), behind.front()});  // what is done once
    const Round plain = visit_round(options, direct);
    const Round jumped = visit_round(options, behind);
    const Round held_up = visit_round(options, with_silent);
    print("direct", plain);
    print("through a jump host", jumped);
    print(fmt::format("{} of them silent", silent), held_up);
    const double ratio = jumped.cpu_ms_a_host / plain.cpu_ms_a_host;
    const bool all_good = plain.good == hosts && jumped.good == hosts && held_up.good == hosts - silent;
    fmt::print("  every host that answers is good: {}\n", met(all_good));
    fmt::print("  CPU a host behind a jump host / direct {:.2f}  bar <= {}: {}\n", ratio, bar,
               met(ratio <= bar));
    return all_good && ratio <= bar ? 0 : 1;
}

}  // namespace
}  // namespace cleanslate::agentless::contract

int main(int count, char** arguments) {
    const int hosts = count > 1 ? std::atoi(arguments[1]) : 256;
    const int silent = count > 2 ? std::atoi(arguments[2]) : 10;
    return cleanslate::agentless::contract::run(hosts, silent);
}
