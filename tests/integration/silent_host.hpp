#pragma once
// A host that accepts connections and says nothing.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cleanslate::testing {

class SilentHost {
  public:
    SilentHost() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (bind(fd_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd_, 64) != 0 ||
            getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
            ADD_FAILURE() << "no port to listen at";
        port_ = ntohs(address.sin_port);
    }
    ~SilentHost() { close(fd_); }
    SilentHost(const SilentHost&) = delete;
    int port() const { return port_; }
    // Whether anybody connected, ever.
    bool was_contacted() const {
        pollfd waiting{fd_, POLLIN, 0};
        return poll(&waiting, 1, 0) == 1;
    }

  private:
    int fd_;
    int port_ = 0;
};

}  // namespace cleanslate::testing
