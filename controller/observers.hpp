#pragma once
// Several observers of one sweep.

#include <utility>
#include <vector>

#include "agentless/fleet.hpp"

namespace cleanslate::controller {

// Tells each of them, in their order, on the thread that is told. They outlive it.
class Observers : public agentless::Observer {
  public:
    explicit Observers(std::vector<agentless::Observer*> all) : all_(std::move(all)) {}

    void host_started(const agentless::HostOutcome& host) override {
        for (auto* each : all_) each->host_started(host);
    }
    void host_progress(const agentless::HostOutcome& host) override {
        for (auto* each : all_) each->host_progress(host);
    }
    void host_finished(const agentless::HostOutcome& host) override {
        for (auto* each : all_) each->host_finished(host);
    }
    void host_detail(const std::string& host, const std::string& line) override {
        for (auto* each : all_) each->host_detail(host, line);
    }

  private:
    std::vector<agentless::Observer*> all_;
};

}  // namespace cleanslate::controller
