#include "tests/contract/fake_server.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace cleanslate::agentless::contract {
namespace {

sockaddr_un unix_address(const std::string& path) {
    sockaddr_un where{};
    where.sun_family = AF_UNIX;
    path.copy(where.sun_path, sizeof where.sun_path - 1);
    return where;
}

bool receive_exactly(int peer, std::size_t size, std::string& bytes) {
    char buffer[4096];
    while (size > 0) {
        const ssize_t count = recv(peer, buffer, std::min(size, sizeof buffer), 0);
        if (count <= 0) return false;
        bytes.append(buffer, static_cast<std::size_t>(count));
        size -= static_cast<std::size_t>(count);
    }
    return true;
}

}  // namespace

FakeServer::FakeServer(Serve serve) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&where), size) != 0) throw std::runtime_error("bind");
    getsockname(listener_, reinterpret_cast<sockaddr*>(&where), &size);
    port_ = ntohs(where.sin_port);
    listen(listener_, 64);
    acceptor_ = std::thread([this, serve] { accept_all(serve); });
}

FakeServer::FakeServer(const std::string& path, Serve serve) {
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un where = unix_address(path);
    if (bind(listener_, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0)
        throw std::runtime_error("bind");
    listen(listener_, 64);
    acceptor_ = std::thread([this, serve] { accept_all(serve); });
}

void FakeServer::accept_all(const Serve& serve) {
    for (;;) {
        const int peer = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (peer < 0) return;
        ++connections_;
        const std::lock_guard lock(mutex_);
        peers_.push_back(peer);
        threads_.emplace_back([this, serve, peer] {
            serve(peer);
            const std::lock_guard peers_lock(mutex_);
            std::erase(peers_, peer);
            close(peer);
        });
    }
}

FakeServer::~FakeServer() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
        const std::lock_guard lock(mutex_);
        for (const int peer : peers_) shutdown(peer, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    close(listener_);
}

Endpoint FakeServer::endpoint() const {
    return {.name = "fake", .address = "127.0.0.1", .port = port_, .user = "nobody", .identity_file = {}};
}

bool send_all(int peer, const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
        const ssize_t count = send(peer, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) return false;
        sent += static_cast<std::size_t>(count);
    }
    return true;
}

void wait_for_close(int peer) {
    char buffer[4096];
    while (recv(peer, buffer, sizeof buffer, 0) > 0) continue;
}

int connect_unix(const std::string& path) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un where = unix_address(path);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0)
        throw std::runtime_error("connect");
    return fd;
}

void relay(int peer, const Endpoint& to, const std::atomic<bool>* swallows) {
    const int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(to.port.value());
    inet_pton(AF_INET, to.address.c_str(), &where.sin_addr);
    if (connect(other, reinterpret_cast<sockaddr*>(&where), sizeof where) != 0)
        throw std::runtime_error("connect");
    pollfd sides[] = {{peer, POLLIN, 0}, {other, POLLIN, 0}};
    for (bool open = true; open;) {
        poll(sides, 2, -1);
        for (int i = 0; i < 2; ++i) {
            if (sides[i].revents == 0) continue;
            char buffer[16384];
            const ssize_t count = recv(sides[i].fd, buffer, sizeof buffer, 0);
            if (count > 0 && swallows != nullptr && *swallows) continue;
            open =
                count > 0 && send_all(sides[1 - i].fd, std::string(buffer, static_cast<std::size_t>(count)));
            if (!open) break;
        }
    }
    close(other);
}

bool receive_message(int peer, std::string& message) {
    message.clear();
    if (!receive_exactly(peer, 4, message)) return false;
    std::size_t length = 0;
    for (const char byte : message) length = length << 8 | static_cast<unsigned char>(byte);
    return receive_exactly(peer, length, message);
}

}  // namespace cleanslate::agentless::contract
