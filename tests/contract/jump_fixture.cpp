#include "tests/contract/jump_fixture.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "agentless/event.hpp"

namespace cleanslate::agentless::contract {
namespace {

using std::chrono::milliseconds;

Awaitable<void> visit_one(Transport& transport, const Endpoint& endpoint, const Script& script,
                          Clock::time_point deadline, Visit& visit, int& left, Event& done) {
    const auto begin = Clock::now();
    auto connection = co_await transport.open(endpoint, deadline);
    if (connection) {
        const Limits limits{deadline, 64u << 20};
        visit.ran = co_await (*connection)->run(script, limits);
    } else {
        visit.ran = std::unexpected(connection.error());
    }
    visit.took = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
    if (--left == 0) done.notify();
}

Awaitable<bool> wait_for(Event& done, const int& left) {
    while (left > 0) co_await done.wait(Clock::time_point::max());
    co_return true;
}

}  // namespace

BlackHole::BlackHole() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    if (bind(listener, reinterpret_cast<sockaddr*>(&where), size) != 0) throw std::runtime_error("bind");
    getsockname(listener, reinterpret_cast<sockaddr*>(&where), &size);
    port_ = ntohs(where.sin_port);
    listen(listener, 0);
    descriptors_.push_back(listener);
    for (int i = 0; i < 4; ++i) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof where);
        descriptors_.push_back(fd);
    }
}

BlackHole::~BlackHole() {
    for (const int fd : descriptors_) close(fd);
}

Endpoint BlackHole::endpoint() const {
    return {.name = "hole", .address = "127.0.0.1", .port = port_, .user = "nobody", .identity_file = {}};
}

std::vector<Visit> visit_all(boost::asio::io_context& io, Transport& transport,
                             const std::vector<Endpoint>& endpoints, const Script& script,
                             milliseconds sweep_time) {
    std::vector<Visit> visits(endpoints.size());
    int left = static_cast<int>(endpoints.size());
    Event done(io, std::make_shared<Cancellation>());
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
        boost::asio::co_spawn(
            io, visit_one(transport, endpoints[i], script, in(sweep_time), visits[i], left, done),
            [](std::exception_ptr thrown) {
                if (thrown) std::rethrow_exception(thrown);
            });
    }
    await(io, wait_for(done, left));
    return visits;
}

int count_of(const std::string& text, const std::string& words) {
    int count = 0;
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
    return count;
}

SshOptions SshJump::options_for(const std::vector<const Sshd*>& servers) const {
    SshOptions options = target_->options();
    options.config_file = "none";
    for (const Sshd* sshd : servers) {
        options.identity_files.push_back(sshd->file("client"));
        options.known_hosts.push_back(sshd->file("known_hosts"));
    }
    return options;
}

std::string SshJump::hop(const Sshd& sshd) {
    const Endpoint endpoint = sshd.endpoint();
    return endpoint.user + "@" + endpoint.address + ":" + std::to_string(sshd.port());
}

Endpoint SshJump::through(const std::string& hops, const Sshd& sshd) const {
    Endpoint endpoint = sshd.endpoint();
    endpoint.proxy_jump = hops;
    return endpoint;
}

}  // namespace cleanslate::agentless::contract
