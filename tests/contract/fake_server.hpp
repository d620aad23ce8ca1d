#pragma once
// A server in a thread that does what a test wants, to whoever connects.

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agentless/transport.hpp"

namespace cleanslate::agentless::contract {

// Each connection is handed to `serve` in a thread of its own, and closed after it. All are shut down and
// joined with the server.
class FakeServer {
  public:
    using Serve = std::function<void(int peer)>;
    explicit FakeServer(Serve serve);                  // TCP on 127.0.0.1, any port
    FakeServer(const std::string& path, Serve serve);  // a Unix socket
    ~FakeServer();
    FakeServer(const FakeServer&) = delete;
    FakeServer& operator=(const FakeServer&) = delete;

    Endpoint endpoint() const;  // TCP only
    int connections() const { return connections_; }

  private:
    void accept_all(const Serve& serve);

    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<int> connections_ = 0;
    std::mutex mutex_;
    std::vector<int> peers_;
    std::vector<std::thread> threads_;
    std::thread acceptor_;
};

// False where the peer is gone.
bool send_all(int peer, const std::string& bytes);
void wait_for_close(int peer);
int connect_unix(const std::string& path);
// Carries bytes both ways until one side closes; swallows them while `swallows` says so.
void relay(int peer, const Endpoint& to, const std::atomic<bool>* swallows = nullptr);
// One message of the agent protocol, with its length.
bool receive_message(int peer, std::string& message);

}  // namespace cleanslate::agentless::contract
