#include "tests/fleet/scale/server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>

#include "tests/fleet/scale/places.hpp"

namespace cleanslate::simulated {

Server::Server(FleetState& fleet, const std::string& host_key, std::int64_t began_ns)
    : fleet_(fleet),
      loop_(began_ns),
      bind_(ssh_bind_new()),
      listener_(listen_at(INADDR_ANY, fleet.options.port, 4096)) {
    const bool no = false;
    ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_PROCESS_CONFIG, &no);
    ssh_key key = nullptr;
    need(ssh_pki_import_privkey_file(host_key.c_str(), nullptr, nullptr, nullptr, &key) == SSH_OK &&
             ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_IMPORT_KEY, key) == 0,
         "cannot use " + host_key);
    loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { take_all(); });
}

Server::~Server() {
    visits_.clear();
    loop_.forget(listener_.get());
    ssh_bind_free(bind_);
}

void Server::take_all() {
    for (int i = 0; i < 64; ++i) {
        Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!socket) return;
        take(std::move(socket));
    }
}

void Server::take(Fd socket) {
    const int yes = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    sockaddr_in own{};
    socklen_t size = sizeof own;
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size);
    const auto host = host_at(ntohl(own.sin_addr.s_addr), fleet_.size());
    if (!host) return;
    const auto number = ++last_;
    auto& visit = visits_[number];
    if (fleet_.kind(*host) == Kind::no_banner) return keep_silent(visit, number, std::move(socket), *host);
    if (fleet_.options.rtt > Moment(0)) socket = lengthen(visit, number, std::move(socket));
    visit.session = std::make_unique<Session>(loop_, fleet_, bind_, std::move(socket), *host,
                                              [this, number] { end_of_session(number); });
    if (!visit.session->begin()) end_of_session(number);
}

void Server::keep_silent(Visit& visit, std::uint64_t number, Fd socket, std::size_t host) {
    fleet_.connection_begins(host);
    visit.silent = std::move(socket);
    loop_.watch(visit.silent.get(), EPOLLIN, [this, number, fd = visit.silent.get()](std::uint32_t) {
        std::array<char, 4096> nothing;
        const ssize_t count = ::recv(fd, nothing.data(), nothing.size(), MSG_DONTWAIT);
        if (count > 0 || (count < 0 && errno == EAGAIN)) return;
        loop_.forget(fd);
        fleet_.connection_ends();
        visits_.erase(number);
    });
}

// The near end for the session; the line has the other one and the connection.
Fd Server::lengthen(Visit& visit, std::uint64_t number, Fd socket) {
    int ends[2];
    need(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
    visit.line = std::make_unique<DelayLine>(loop_, std::move(socket), Fd(ends[0]), fleet_.options.rtt,
                                             [this, number] { end_of_line(number); });
    return Fd(ends[1]);
}

void Server::end_of_line(std::uint64_t number) {
    auto& visit = visits_.at(number);
    visit.line.reset();
    if (!visit.session) visits_.erase(number);
}

void Server::end_of_session(std::uint64_t number) {
    auto& visit = visits_.at(number);
    visit.session.reset();
    if (!visit.line) visits_.erase(number);
}

}  // namespace cleanslate::simulated
