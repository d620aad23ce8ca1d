#pragma once
// What the tables say of the hosts of a sweep, read back. Private to the history.

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/history/diff.hpp"

namespace cleanslate::controller::history {

struct HostState {
    std::int64_t host = 0;  // id
    std::int64_t place = 0;
    std::optional<agentless::Verdict> verdict;  // absent: never begun
    std::optional<std::int64_t> gpu_set, dirty_since, unknown_since, why;

    bool is_clean() const { return verdict == agentless::Verdict::clean; }
    bool is_bad() const {
        return verdict == agentless::Verdict::dirty || verdict == agentless::Verdict::sick;
    }
    bool is_dark() const {
        return verdict == agentless::Verdict::unknown || verdict == agentless::Verdict::unreachable;
    }
    // As far as is known: what was seen before goes on where nothing was seen.
    bool was_bad() const { return is_bad() || (!is_clean() && dirty_since.has_value()); }
    bool was_dark() const { return is_dark() || (!verdict && unknown_since.has_value()); }
};

// A verdict as the tables have it; whatever is none is unknown.
agentless::Verdict verdict_of(std::int64_t stored);

// By id.
std::vector<HostState> host_states(Database& database, SweepId sweep);

// Reads names and details, a host at a time.
class HostReader {
  public:
    explicit HostReader(Database& database);
    std::string name(std::int64_t host);
    std::string word(std::optional<std::int64_t> id);
    std::string gpu_set(std::int64_t id);
    std::vector<std::string> codes(SweepId sweep, std::int64_t host);
    std::vector<StoredGpu> gpus(SweepId sweep, std::int64_t host);
    // With memory first.
    std::vector<StoredHolder> holders(SweepId sweep, std::int64_t host);

  private:
    Statement name_, word_, set_, codes_, gpus_, holders_;
};

}  // namespace cleanslate::controller::history
