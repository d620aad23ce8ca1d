#pragma once
// What to do next on one host: a state machine without a socket and without a clock of its own. host_run.cpp
// asks for the next move, carries it out and tells what came of it; every decision is made here.

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/fleet.hpp"
#include "agentless/outcome.hpp"
#include "agentless/remote.hpp"

namespace cleanslate::agentless {

using TimePoint = std::chrono::steady_clock::time_point;

struct TakeSurvey {
    TimePoint not_before;
    SurveyRequest request;
};
struct SendSignal {
    SignalRequest request;
    std::size_t first_action = 0;  // the actions of outcome.signals from here on are this round's
};
struct RunCommand {
    std::string command;
    Milliseconds timeout{0};
    int expect_status = 0;
    std::size_t action = 0;  // in outcome.commands
};
struct Finish {};
using Move = std::variant<TakeSurvey, SendSignal, RunCommand, Finish>;

class Sequence {
  public:
    // `job` and `task` outlive the sequence; `outcome` is where everything that happens is written, as it
    // happens.
    Sequence(const Job& job, const HostTask& task, SurveyRequest survey, HostOutcome& outcome);

    Move next(TimePoint now);

    // What came of the last move. A failed one (the connection was lost, a deadline passed) ends the
    // sequence: the host's verdict is then unknown, whatever was seen before.
    void surveyed(const Evidence& evidence, TimePoint began, TimePoint ended);
    void signalled(const SignalReport& report, TimePoint sent, TimePoint ended);
    void command_ended(TimePoint ended);
    void failed(Error error);
    // The audit could not be written: the actions of this move were not carried out, and nothing more will
    // be.
    void not_carried_out(const Move& move, Error error);

    // No new step from here on: what is under way reports, and one last survey says how the host was left.
    void wind_down() { winding_down_ = true; }

  private:
    Move step_on(TimePoint now);
    std::optional<Move> begin_step(const playbooks::Step& step, TimePoint now);
    std::optional<Move> begin_signal(const playbooks::SignalStep& step);
    std::optional<Move> begin_command(const playbooks::RunStep& step);
    std::optional<Move> verify(const playbooks::VerifyStep& step, TimePoint now);
    // Thorough: asks for optional evidence, too.
    enum class Look { thorough, quick };
    Move survey_at(TimePoint when, Look look);
    Move finish();
    bool waiting_helps() const;
    Milliseconds settle() const;
    void judge_now();
    void note_spared(const std::vector<Spared>& spared);
    void note_what_came_back();
    void note_what_survived();
    void add_finding(Finding finding);

    const Job& job_;
    const HostTask& task_;
    SurveyRequest survey_;
    HostOutcome& outcome_;
    Expectations expectations_;
    std::vector<playbooks::Step> steps_;

    std::optional<Evidence> evidence_;  // of the last survey, until something was done
    std::optional<Evidence> before_;    // of the survey that the first signal was chosen from
    Evidence optional_;                 // what the surveys up to now said when they were asked for it
    std::optional<TimePoint> first_signal_;
    std::optional<TimePoint> last_act_;
    std::optional<TimePoint> verify_until_;
    Milliseconds verify_pause_{0};
    Look next_look_ = Look::thorough;  // what the next survey is, where nothing says otherwise
    std::size_t step_ = 0;             // index of the next step
    int clean_surveys_ = 0;            // in a row, since the last act
    bool respawner_ = false;           // a target ran in a unit, container or pod
    bool winding_down_ = false;
    bool command_failed_ = false;
    bool finished_ = false;
    std::set<ProcessKey> signalled_;
};

}  // namespace cleanslate::agentless
