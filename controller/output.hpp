#pragma once
// Standard output, written so that a report that did not arrive is noticed.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/units.hpp"
#include "controller/unblocked.hpp"

namespace cleanslate::controller {

// Puts something into the places of standard streams that are closed, so that no file that is opened later
// becomes standard output. What is written to them is still lost, and noticed. Call it first.
void occupy_closed_streams();

class Output {
  public:
    // Asked every moment in which the stream takes nothing, a pipe that nobody reads or a stopped terminal:
    // how long that has been. True gives up.
    using GiveUp = std::function<bool(Milliseconds)>;

    explicit Output(int fd) : fd_(fd) {}
    void write(std::string_view text);
    // Hands everything to the system, and waits for whoever reads it until `give_up` has enough; without one
    // for as long as it takes. An error of kind "write" if any of it was lost: a full disk, a closed pipe, a
    // reader that does not read.
    Status finish();
    // For what is written from now on; null: never.
    void set_give_up(GiveUp give_up) { give_up_ = std::move(give_up); }

  private:
    void drain();
    void lose(std::string why);

    int fd_;
    std::optional<Unblocked> stream_;  // from the first write on
    GiveUp give_up_;
    std::string held_;
    std::string lost_;  // why some of it was; empty: none
};

}  // namespace cleanslate::controller
