#pragma once
// One thread of a fleet: a listener for all of its addresses, and the connections that it took.

#include <libssh/server.h>

#include <memory>
#include <unordered_map>

#include "tests/fleet/scale/delay_line.hpp"
#include "tests/fleet/scale/fleet_state.hpp"
#include "tests/fleet/scale/loop.hpp"
#include "tests/fleet/scale/session.hpp"

namespace cleanslate::simulated {

class Server {
  public:
    // `host_key`: a private key's file, for all hosts. The fleet must outlive it. Listens at once.
    Server(FleetState& fleet, const std::string& host_key, std::int64_t began_ns);
    ~Server();
    Server(const Server&) = delete;

    void run() { loop_.run(); }
    void stop() { loop_.stop(); }

  private:
    struct Visit {
        std::unique_ptr<DelayLine> line;
        std::unique_ptr<Session> session;
        Fd silent;  // of who is never answered
    };
    void take_all();
    void take(Fd socket);
    void keep_silent(Visit& visit, std::uint64_t number, Fd socket, std::size_t host);
    Fd lengthen(Visit& visit, std::uint64_t number, Fd socket);
    void end_of_line(std::uint64_t number);
    void end_of_session(std::uint64_t number);

    FleetState& fleet_;
    Loop loop_;
    ssh_bind bind_;
    Fd listener_;
    std::uint64_t last_ = 0;
    std::unordered_map<std::uint64_t, Visit> visits_;
};

}  // namespace cleanslate::simulated
