#pragma once
// A sweep's way into the history: opened before a host is contacted, written when all have ended.

#include <memory>
#include <string>
#include <vector>

#include "controller/history/history.hpp"
#include "controller/signals.hpp"

namespace cleanslate::controller::history {

class Recording {
  public:
    Recording() = default;  // of a sweep that is not recorded
    // `run` is not recorded, nor a sweep with --no-history. A default history that cannot be opened is a
    // note; one that was asked for, or that --on-change needs, is an error of kind "history".
    static Result<Recording> begin(const Options& options, const Environment& environment,
                                   std::vector<std::string>& notes);
    // The sweep's number; absent: it is not recorded. Another sweep that writes at the same time is waited
    // for, half a minute at most, or five seconds once a signal has come.
    Result<std::optional<SweepId>> finish(const Report& report, const StopSignals& signals);
    // Null: not recorded.
    Store* store() const { return store_.get(); }

  private:
    std::unique_ptr<Store> store_;
    SweepScope scope_;
    bool raw_commands_ = false;
};

}  // namespace cleanslate::controller::history
