#include "agentless/memory_transport.hpp"

#include "agentless/event.hpp"
#include "agentless/gated_input.hpp"
#include "agentless/run_errors.hpp"

namespace cleanslate::agentless {
namespace {

using Woken = Event::Woken;

class MemoryConnection final : public Connection {
  public:
    MemoryConnection(boost::asio::io_context& io, std::shared_ptr<Cancellation> cancellation,
                     std::shared_ptr<const MemoryFleet> fleet, const MemoryHost& host)
        : cancellation_(std::move(cancellation)),
          event_(io, cancellation_),
          fleet_(std::move(fleet)),
          host_(host) {}

    Awaitable<Result<RunOutput>> run(const Script& script, Limits limits) override {
        if (cancellation_->requested()) co_return std::unexpected(cancelled());
        if (dead_) co_return std::unexpected(connection_dead());
        MemoryReply reply = host_.reply ? host_.reply(script) : MemoryReply{};
        dead_ = true;  // until the run has come to its own end
        RunOutput output;
        GatedInput input(script, event_.waker());
        if (reply.talk) {
            const auto talked = co_await talk(reply, input, output, limits);
            if (!talked) co_return std::unexpected(talked.error());
        }
        const auto ends =
            reply.end == MemoryReply::End::hang ? Clock::time_point::max() : Clock::now() + reply.delay;
        const Woken woken = co_await event_.wait(std::min(ends, limits.deadline));
        if (woken == Woken::cancelled) co_return std::unexpected(cancelled());
        if (Clock::now() >= limits.deadline) co_return std::unexpected(timed_out());
        output.out += reply.out;
        output.err += reply.err;
        input.look(output);
        if (output.out.size() + output.err.size() > limits.max_bytes)
            co_return std::unexpected(output_limit(limits.max_bytes));
        if (reply.end == MemoryReply::End::close) {
            co_return std::unexpected(connection_lost("the host closed the connection"));
        }
        dead_ = false;
        output.exit_status = reply.exit_signal.empty() ? reply.exit_status : std::nullopt;
        output.exit_signal = std::move(reply.exit_signal);
        co_return output;
    }

  private:
    Awaitable<Status> talk(const MemoryReply& reply, GatedInput& input, RunOutput& output, Limits limits) {
        std::string received;
        for (;;) {
            const bool was_ended = input.ended();
            const MemoryReply::Talk said = reply.talk(received, was_ended);
            output.out += said.out;
            output.err += said.err;
            input.look(output);
            if (output.out.size() + output.err.size() > limits.max_bytes)
                co_return std::unexpected(output_limit(limits.max_bytes));
            if (said.over) co_return Status{};
            const std::size_t before = received.size();
            take_all(input, received);
            while (received.size() == before && input.ended() == was_ended) {
                const Woken woken = co_await event_.wait(limits.deadline);
                if (woken == Woken::cancelled) co_return std::unexpected(cancelled());
                if (woken == Woken::deadline) co_return std::unexpected(timed_out());
                input.look(output);
                take_all(input, received);
            }
        }
    }

    static void take_all(GatedInput& input, std::string& received) {
        while (!input.ready().empty()) {
            received += input.ready();
            input.sent(input.ready().size());
        }
    }

    std::shared_ptr<Cancellation> cancellation_;
    Event event_;
    std::shared_ptr<const MemoryFleet> fleet_;  // owns host_
    const MemoryHost& host_;
    bool dead_ = false;
};

std::unexpected<Error> open_failure(std::string kind, std::string message) {
    return std::unexpected(Error{std::move(kind), "connect", std::move(message), ""});
}

class MemoryTransport final : public Transport {
  public:
    MemoryTransport(boost::asio::io_context& io, std::shared_ptr<const MemoryFleet> fleet)
        : io_(io), fleet_(std::move(fleet)) {}

    Awaitable<Result<std::unique_ptr<Connection>>> open(const Endpoint& endpoint,
                                                        Clock::time_point deadline) override {
        if (cancellation_->requested()) co_return open_failure("cancelled", "cancelled");
        const auto found = fleet_->find(endpoint.name);
        if (found == fleet_->end()) co_return open_failure("connect_refused", "no such host in memory");
        const MemoryHost& host = found->second;
        const auto ends = host.open_hangs ? Clock::time_point::max() : Clock::now() + host.open_delay;
        Event event(io_, cancellation_);
        const Woken woken = co_await event.wait(std::min(ends, deadline));
        if (woken == Woken::cancelled) co_return open_failure("cancelled", "cancelled");
        if (Clock::now() >= deadline)
            co_return open_failure("connect_timeout", "no connection before the deadline");
        if (host.open_error) co_return std::unexpected(*host.open_error);
        std::unique_ptr<Connection> connection =
            std::make_unique<MemoryConnection>(io_, cancellation_, fleet_, host);
        co_return connection;
    }

    void cancel_all() override { cancellation_->request(); }

  private:
    boost::asio::io_context& io_;
    std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
    std::shared_ptr<const MemoryFleet> fleet_;
};

}  // namespace

std::unique_ptr<Transport> make_memory_transport(boost::asio::io_context& io,
                                                 std::shared_ptr<const MemoryFleet> fleet) {
    return std::make_unique<MemoryTransport>(io, std::move(fleet));
}

}  // namespace cleanslate::agentless
