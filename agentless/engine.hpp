#pragma once
// The shards of one sweep: one io_context and one thread each, hosts dealt to them, nothing shared but the
// context.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agentless/host_run.hpp"

namespace cleanslate::agentless {

// Makes the transport of one shard. Called on the thread that calls Engine::run.
using TransportFactory = std::function<std::unique_ptr<Transport>(boost::asio::io_context&)>;

// Where a host is and how to log in there, as far as the inventory and the command line say.
Endpoint endpoint_of(const inventory::Host& host, const Reach& reach);

class Engine {
  public:
    Engine(std::vector<HostTask> tasks, Job job, Reach reach, SweepLimits limits, Observer& observer,
           Audit& audit);
    ~Engine();
    // Runs to the end; once. Never throws.
    SweepResult run(const TransportFactory& make_transport);
    void stop();  // see Sweep::stop
    std::vector<std::pair<std::string, std::string>> unfinished() const;

  private:
    class Shard;
    int shard_count() const;
    void deal(const TransportFactory& make_transport);
    void wind_down();
    void wake_all();
    void cut();
    void host_finished(const HostOutcome& outcome);
    double allowed_failures() const;
    // Whether hosts that are silent would, as failures, pass the limit.
    bool failure_limit_is_near() const;
    SweepResult collect();

    std::vector<HostTask> tasks_;
    Reach reach_;
    SweepContext context_;
    std::vector<HostOutcome> outcomes_;  // each written by its shard alone, until all are joined
    mutable std::mutex mutex_;           // guards what follows
    std::vector<std::string> doing_;     // by task; empty: not begun or ended
    std::vector<std::unique_ptr<Shard>> shards_;
    std::string audit_error_;
    std::atomic<std::size_t> failures_{0}, silent_{0};
    bool failure_limit_reached_ = false;
    int stops_ = 0;
};

}  // namespace cleanslate::agentless
