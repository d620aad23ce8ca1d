#pragma once
// A script that runs on a modelled host: what it prints, and when it goes on.

#include <optional>
#include <string>
#include <vector>

#include "tests/fleet/scale/model.hpp"
#include "tests/fleet/scale/script.hpp"

namespace cleanslate::simulated {

class ScriptRun {
  public:
    // `connection` is what a lock hangs on. The host must outlive it.
    ScriptRun(HostModel& host, Script script, std::uint64_t connection)
        : host_(&host), script_(std::move(script)), connection_(connection) {}

    const Script& script() const { return script_; }

    struct Step {
        std::string out;
        std::string err;
        bool over = false;
        int status = 0;
        Moment again{0};  // where it is not over: when to ask next
    };
    // Prints on: at once first, then at each step's `again`.
    Step step(Moment now);

  private:
    struct Target {
        std::size_t process = 0;
        std::string text;  // PID START
        Moment sent{0};
    };
    Step send_signals(Moment now);
    Step watch(Moment now);
    Step take_lock(Moment now);
    Step release_lock(Moment now);
    Step run_command();
    Step refuse() const;
    std::string framed(const std::string& records) const;

    HostModel* host_;
    Script script_;
    std::uint64_t connection_;
    std::optional<Moment> began_;
    std::vector<Target> waiting_;
};

// A few commands that a login shell would run, also outside of cleanslate's scripts: true, false, `exit N`,
// `echo WORDS`, hostname, `sleep N`. Absent for any other.
struct ShellAnswer {
    std::string out;
    int status = 0;
    Moment after{0};
};
std::optional<ShellAnswer> shell_answer(std::string_view command, const std::string& host_name);

}  // namespace cleanslate::simulated
