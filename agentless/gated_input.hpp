#pragma once
// The standard input of one run: what may be sent of it now, and when it ends. Where the script has a gate,
// this is who keeps it. Knows no socket: each transport shows it what the host printed, and sends what it
// gives out.

#include <functional>
#include <string>
#include <string_view>

#include "agentless/transport.hpp"

namespace cleanslate::agentless {

class GatedInput {
  public:
    // `script` outlives it. `wake` makes the run look again, and may be called from any thread.
    GatedInput(const Script& script, std::function<void()> wake);
    ~GatedInput();
    GatedInput(const GatedInput&) = delete;
    GatedInput& operator=(const GatedInput&) = delete;

    // To be called whenever something was printed, and when woken. Takes prompts and the marker's line out of
    // what was printed, and keeps the gate's fields there.
    void look(RunOutput& output);

    // May be sent now; the bytes stay where they are until sent() has told how many of them went out.
    std::string_view ready() const { return answer_.empty() && is_open_ ? input_ : answer_; }
    void sent(std::size_t count);
    // Nothing is left and nothing will come: standard input is to be closed.
    bool ended() const { return dropped_ || (is_open_ && answer_.empty() && input_.empty()); }
    // The host takes no more of it.
    void drop();

  private:
    void look_for_prompt(RunOutput& output);
    void look_for_marker(RunOutput& output);
    void ask(RunOutput& output);

    const Script& script_;
    std::function<void()> wake_;
    std::string answer_line_;
    std::string_view answer_, input_;  // what is left of either
    std::size_t err_seen_ = 0;         // no prompt begins before this
    std::size_t out_seen_ = 0;         // no line end between out_line_ and this
    std::size_t out_line_ = 0;         // begin of the last line
    bool is_open_;                     // the gate, or there is none
    bool asked_ = false, waits_ = false, given_ = false, dropped_ = false;
};

}  // namespace cleanslate::agentless
