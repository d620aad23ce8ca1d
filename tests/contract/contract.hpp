#pragma once
// The contract of Transport: one suite (transport_contract_test.cpp) that every implementation passes.

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "agentless/memory_transport.hpp"
#include "agentless/transport.hpp"

namespace cleanslate::agentless::contract {

// One implementation of Transport, and the host that the suite talks to through it.
class Flavour {
  public:
    virtual ~Flavour() = default;
    virtual std::string name() const = 0;
    // Why it cannot be tested on this machine; empty where it can.
    virtual std::string unavailable() { return {}; }
    virtual std::unique_ptr<Transport> make(boost::asio::io_context& io) = 0;
    virtual Endpoint endpoint() { return {}; }
    // What the in-memory host does for the script that the test runs next. Real hosts run the script itself.
    virtual void pretend(MemoryReply) {}
    // Real hosts run processes that can be looked for.
    virtual bool runs_processes() const { return true; }
};

std::unique_ptr<Flavour> memory_flavour();
std::unique_ptr<Flavour> local_flavour();
std::unique_ptr<Flavour> ssh_flavour();

inline Clock::time_point in(std::chrono::milliseconds time) { return Clock::now() + time; }

// Runs the shard until `operation` has its result.
template <class T>
T await(boost::asio::io_context& io, Awaitable<T> operation) {
    std::optional<T> result;
    boost::asio::co_spawn(io, std::move(operation), [&result](std::exception_ptr thrown, T value) {
        if (thrown) std::rethrow_exception(thrown);
        result.emplace(std::move(value));
    });
    io.restart();
    while (!result && io.run_one() > 0) continue;
    if (!result) throw std::logic_error("the operation was dropped");
    return std::move(*result);
}

int open_descriptors();  // of this process

}  // namespace cleanslate::agentless::contract
