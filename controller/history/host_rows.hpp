#pragma once
// What the history's tables keep of one host in one sweep. Private to the history.

#include <optional>
#include <string>
#include <unordered_map>

#include "controller/history/store.hpp"
#include "controller/history/words.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller::history {

// host_results.state: a Verdict, or
inline constexpr int not_begun = 5;

// gpu_sets.gpus; empty where what was seen does not say which GPUs the host has: no GPU is gone because
// nobody could see it.
std::string gpu_set_of(const agentless::HostOutcome& host);

// Why a host is sick, unknown or unreachable, in one line; empty for others.
std::string why_of(const agentless::HostOutcome& host);

class HostRows {
  public:
    // Within a transaction. `before`: the sweep of the same scope whose runs go on; absent: none. Secrets in
    // command lines are masked here in any case: what is compared and counted goes into mails.
    HostRows(Database& database, SweepId sweep, std::int64_t started, std::optional<SweepId> before);
    // Each host once, in the order of the report.
    void add(const agentless::HostOutcome& host);

  private:
    struct Carried {
        std::optional<std::int64_t> gpu_set, dirty_since, unknown_since;
    };
    std::int64_t host_id(const std::string& name);
    std::optional<std::int64_t> gpu_set_id(const std::string& gpus);
    Carried carry(std::int64_t host, int state) const;
    std::optional<std::int64_t> command_id(const std::optional<std::string>& command);
    void add_gpus(std::int64_t host, const agentless::HostVerdict& verdict);
    void add_holder(std::int64_t host, const agentless::Holder& holder, std::optional<int> gpu_place,
                    std::optional<int> gpu);
    void add_findings(std::int64_t host, const agentless::HostOutcome& outcome);
    void add_actions(std::int64_t host, const agentless::HostOutcome& outcome);

    Database& database_;
    SweepId sweep_;
    std::int64_t started_;
    Words words_;
    Statement find_host_, insert_host_, find_set_, insert_set_;
    Statement insert_result_, insert_gpu_, insert_holder_, insert_finding_, insert_action_;
    std::unordered_map<std::int64_t, Carried> before_;  // by host
    int place_ = 0;                                     // of the host
    int holder_place_ = 0;
};

}  // namespace cleanslate::controller::history
