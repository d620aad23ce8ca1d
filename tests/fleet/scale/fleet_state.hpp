#pragma once
// A fleet of modelled hosts, as its threads share it.

#include <atomic>
#include <mutex>

#include "tests/fleet/scale/kinds.hpp"
#include "tests/fleet/scale/model.hpp"

namespace cleanslate::simulated {

struct FleetOptions {
    std::string folder;
    std::size_t hosts = 0;
    long gpus = 8;
    std::uint64_t seed = 1;
    std::size_t threads = 1;
    int port = 2200;  // 0: a free one
    Moment rtt{0};
    std::string model;  // a description; empty: idle H200s
    std::vector<Share> shares;
    std::optional<long> release_ms;
    std::optional<Moment> redirty;  // absent: workers that ended stay away
};

// Host i is at 127.64.0.0 + 1 + i, called sim00001, ...: its number is i.
std::uint32_t address_of(std::size_t host);
std::optional<std::size_t> host_at(std::uint32_t address, std::size_t hosts);
std::string dotted(std::uint32_t address);
std::string host_name(std::size_t host, std::size_t hosts);

class FleetState {
  public:
    // Dies where the description cannot be read or is beyond the model.
    explicit FleetState(const FleetOptions& options);

    const FleetOptions options;
    std::size_t size() const { return kinds_.size(); }
    Kind kind(std::size_t host) const { return kinds_[host]; }

    // Hold it while a host is used.
    std::mutex& mutex() { return mutex_; }
    HostModel& host(std::size_t index) { return hosts_[index]; }

    std::uint64_t connection_begins(std::size_t host);  // a number of its own
    void connection_ends() { --now_; }
    // What was served, as JSON.
    std::string served() const;

  private:
    std::vector<Kind> kinds_;
    std::vector<HostModel> hosts_;
    std::vector<std::atomic<std::uint32_t>> counts_;
    std::atomic<std::uint64_t> connections_{0};
    std::atomic<std::uint64_t> now_{0};
    std::atomic<std::uint64_t> peak_{0};
    std::mutex mutex_;
};

}  // namespace cleanslate::simulated
