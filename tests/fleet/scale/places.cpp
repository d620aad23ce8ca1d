#include "tests/fleet/scale/places.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace cleanslate::simulated {

namespace {

sockaddr_in place(std::uint32_t address, int port) {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_addr.s_addr = htonl(address);
    out.sin_port = htons(static_cast<std::uint16_t>(port));
    return out;
}

Fd stream_socket() {
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    need(static_cast<bool>(socket), "socket");
    return socket;
}

bool binds(const Fd& socket, std::uint32_t address, int port) {
    const auto where = place(address, port);
    return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0;
}

}  // namespace

Fd listen_at(std::uint32_t address, int port, int backlog) {
    auto socket = stream_socket();
    const int yes = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
    need(binds(socket, address, port) && ::listen(socket.get(), backlog) == 0,
         "cannot listen at port " + std::to_string(port));
    return socket;
}

bool is_free_port(int port) {
    const auto socket = stream_socket();
    const int yes = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    return binds(socket, INADDR_ANY, port);
}

// Processes look from different places, so that two that look at once do not find the same.
int free_port() {
    static int port = 12'000 + ::getpid() % 10'000;
    while (!is_free_port(++port)) {
    }
    errno = 0;
    return port;
}

BlackHole::BlackHole(std::uint32_t address, int port)
    : listener_(listen_at(address, port, 0)), filler_(stream_socket()) {
    const auto where = place(address, port);
    const int ended = ::connect(filler_.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where);
    need(ended == 0 || errno == EINPROGRESS, "connect");
    errno = 0;
}

ClosedPort::ClosedPort() : socket_(stream_socket()) {
    need(binds(socket_, INADDR_ANY, 0), "bind");
    sockaddr_in where{};
    socklen_t size = sizeof where;
    need(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&where), &size) == 0, "getsockname");
    number_ = ntohs(where.sin_port);
}

}  // namespace cleanslate::simulated
