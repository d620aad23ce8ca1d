#pragma once
// Hosts that do not come back from a reboot as another boot are given up after a minute, the shortest
// deadline there is. They have a fleet of their own, and other tests run meanwhile.

#include <future>
#include <memory>

#include "tests/integration/program.hpp"

namespace cleanslate::testing {

class LongReboot {
  public:
    // The program's one. Begins with the first call.
    static LongReboot& begun();
    const Report& ended() {
        if (sweep_.valid()) report_ = sweep_.get();
        return report_;
    }
    const RunningFleet& fleet() const { return fleet_; }

  private:
    LongReboot();
    simulated::Descriptions hosts_;
    RunningFleet fleet_;
    Operator operator_;
    std::future<Report> sweep_;
    Report report_;
};

}  // namespace cleanslate::testing
