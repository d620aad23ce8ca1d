#pragma once
// How long a report waits for whoever reads it.

#include "controller/output.hpp"
#include "controller/signals.hpp"

namespace cleanslate::controller {

// While it lives: for as long as it takes, a pager for example; but a signal that comes meanwhile gives the
// report up, and one that came before leaves it five seconds. That it waits is said on stderr once, after
// three seconds.
class Patience {
  public:
    Patience(Output& out, const StopSignals& signals);
    ~Patience() { out_.set_give_up(nullptr); }
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;

  private:
    Output& out_;
};

}  // namespace cleanslate::controller
