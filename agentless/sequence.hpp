#pragma once
// What to do next on one host: a state machine without a socket and without a clock of its own. host_run.cpp
// asks for the next move, carries it out and tells what came of it; every decision is made here.
//
//     sequence.cpp            the order of things: surveys, settling, verifying, the end
//     sequence_kills.cpp      signal and stop steps, and how many may be ended
//     sequence_commands.cpp   the lock, and the operator's own commands: before, in order, after
//     sequence_cures.cpp      reset, reboot
//     sequence_shm.cpp        clean_shm
//     sequence_plan.cpp       the dry run

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/fleet.hpp"
#include "agentless/outcome.hpp"
#include "agentless/remote.hpp"
#include "agentless/resets.hpp"
#include "agentless/stops.hpp"

namespace cleanslate::agentless {

using TimePoint = std::chrono::steady_clock::time_point;

struct TakeSurvey {
    TimePoint not_before;
    SurveyRequest request;
};
struct TakeLock {
    Milliseconds wait{0};  // at most so long for another to let go
};
struct SendSignal {
    SignalRequest request;
    std::size_t first_action = 0;  // the actions of outcome.signals from here on are this round's
    int fresh = 0;  // targets that nothing was done to before: they count for --max-kills-total
};
// A command of the playbook, or one that stops a supervisor.
struct RunCommand {
    std::string command;
    Milliseconds timeout{0};
    int expect_status = 0;
    std::size_t action = 0;  // in outcome.commands
    std::vector<std::pair<std::string, std::string>> environment = {};
    int fresh = 0;  // of a stop, as in SendSignal
};
struct ResetGpus {
    ResetRequest request;
    std::size_t first_action = 0;  // in outcome.commands: one for each GPU
};
struct RemoveFiles {
    ShmRequest request;
    std::size_t first_action = 0;  // in outcome.commands: one for each file
};
// Waits for one of the places that the sweep has for hosts that reboot.
struct AwaitReboot {};
struct Reboot {
    std::string boot_id;       // the one to be rid of
    Milliseconds deadline{0};  // until the host shows another one
    std::size_t action = 0;    // in outcome.commands
    SurveyRequest request;     // of the survey that shows it
};
struct Finish {};
using Move = std::variant<TakeSurvey, TakeLock, SendSignal, RunCommand, ResetGpus, RemoveFiles, AwaitReboot,
                          Reboot, Finish>;

// How long to wait before the next look at a host whose memory may still be on its way back, so long after
// the last signal: tight at first, since it comes back in 0.1 to 0.2 s, and then an eighth of the time that
// has passed, so that nothing is noticed much later than it happens and nobody is asked without end.
Milliseconds pause_between_looks(Milliseconds since_act);

class Sequence {
  public:
    // `job` and `task` outlive the sequence; `outcome` is where everything that happens is written, as it
    // happens.
    Sequence(const Job& job, const HostTask& task, SurveyRequest survey, HostOutcome& outcome);

    Move next(TimePoint now);

    // What came of the last move. A failed one (the connection was lost, a deadline passed) ends the
    // sequence: the host's verdict is then unknown, whatever was seen before.
    void surveyed(const Evidence& evidence, TimePoint began, TimePoint ended);
    void locked(const LockReport& report);
    // What was seen is old: the next thing is another look.
    void look_again() { evidence_.reset(); }
    void signalled(const SignalReport& report, TimePoint sent, TimePoint ended);
    void command_ended(const RunCommand& move, TimePoint ended);
    void gpus_reset(const ResetGpus& move, const ResetReport& report, TimePoint ended);
    void files_removed(const RemoveFiles& move, const ShmReport& report);
    void reboot_place(bool waited);  // there is one now, at once or after a while
    void reboot_refused(const Reboot& move, const RebootReport& report);  // it was not begun
    void rebooted(const Reboot& move, TimePoint ended);  // followed by surveyed(), of the new boot
    void not_back(const Reboot& move, Error last);       // its deadline passed
    void failed(Error error);
    // The audit could not be written: the actions of this move were not carried out, and nothing more will
    // be.
    void not_carried_out(const Move& move, Error error);
    // --max-kills-total leaves no room for the targets of this move: it was not carried out.
    void too_many_in_total(const Move& move, int allowed);

    // No new step from here on: what is under way reports, and one last survey says how the host was left.
    void wind_down() { winding_down_ = true; }
    // Nothing at all can be done from here on, no `after` command either.
    void cut() { winding_down_ = cut_ = true; }

  private:
    using Kind = CommandAction::Kind;
    // Thorough: asks for optional evidence, too.
    enum class Look { thorough, quick };

    // sequence.cpp
    Move step_on(TimePoint now);
    std::optional<Move> begin_step(const playbooks::Step& step, TimePoint now);
    std::optional<Move> verify(const playbooks::VerifyStep& step, TimePoint now);
    std::optional<Move> keep_looking(TimePoint until, TimePoint now);
    Move survey_at(TimePoint when, Look look);
    Move end(TimePoint now);
    Move finish();
    std::optional<Move> last_look(TimePoint now);
    bool still_lists_the_ended() const;
    std::vector<SparedSupervisor> supervisors_to_leave() const;
    void conclude();
    bool waiting_helps() const;
    Milliseconds settle() const;
    ChoicePolicy policy() const;
    void judge_now();
    void acted(TimePoint ended, Look next);
    void note_after_kill();
    void add_finding(Finding finding);  // once, however often it is found

    // sequence_kills.cpp
    std::optional<Move> begin_signal(const playbooks::SignalStep& step);
    std::optional<Move> begin_stop(const playbooks::StopStep& step);
    void add_signals(const playbooks::SignalStep& step, const Choice& choice, int number);
    std::size_t add_stop(const StopTarget& target, int number);
    bool too_many_targets();
    void mark_not_sent(const Move& move);
    int begin_round(const std::vector<ProcessKey>& targets);
    void note_spared(const std::vector<Spared>& spared);
    void note_left(const std::vector<SparedSupervisor>& left);
    void note_unseen_users();

    // sequence_commands.cpp
    Move take_lock();
    std::optional<Move> before_acting();
    std::optional<Move> next_after();
    std::optional<Move> begin_command(const playbooks::RunStep& step);
    RunCommand run(const playbooks::RunStep& step, Kind kind, std::size_t index);
    std::size_t add_command(Kind kind, int number, std::string command, std::string about = {});
    bool has_steps(playbooks::RunStep::When when) const;

    // sequence_cures.cpp
    std::optional<Move> begin_reset(const playbooks::ResetStep& step, TimePoint now);
    std::optional<Move> begin_reboot(const playbooks::RebootStep& step);
    std::optional<std::string> why_no_reboot(const Evidence& evidence) const;
    std::size_t add_reset(const ResetTarget& target, const playbooks::ResetStep& step, int number);
    void withhold(std::size_t action, const std::string& why);
    Withheld withhold_reset(std::size_t action, const ResetTarget& gpu);
    void withhold_reboot(std::size_t action, const std::string& why);
    void note_withheld(const std::vector<Withheld>& withheld);

    // sequence_shm.cpp
    std::optional<Move> begin_clean_shm(const playbooks::CleanShmStep& step);
    std::optional<Move> tidy();
    std::size_t add_file(const ShmFile& file, int number);
    Withheld withhold_file(std::size_t action, const ShmFile& file);
    void note_kept(const std::vector<Withheld>& kept);

    // sequence_plan.cpp
    Move plan();
    bool has_something_to_do(const playbooks::Step& step) const;
    void plan_step(const playbooks::Step& step, PlannedStep& planned, bool acts);
    void plan_signal(const playbooks::SignalStep& step, PlannedStep& planned);
    void plan_stop(const playbooks::StopStep& step, PlannedStep& planned);
    void plan_command(const playbooks::RunStep& step, PlannedStep& planned, bool acts);
    void plan_reset(const playbooks::ResetStep& step, PlannedStep& planned);
    void plan_reboot(PlannedStep& planned);
    bool withhold_too_many(PlannedStep& planned);
    Evidence after_planned() const;
    void make_conditional(std::size_t action);
    void plan_clean_shm(const playbooks::CleanShmStep& step, PlannedStep& planned);

    const Job& job_;
    const HostTask& task_;
    SurveyRequest survey_;
    HostOutcome& outcome_;
    Expectations expectations_;
    std::vector<playbooks::Step> steps_;

    std::optional<Evidence> evidence_;  // of the last survey, until something was done
    std::optional<Evidence> before_;    // of the survey that the first act of this boot was chosen from
    Evidence optional_;                 // what the surveys up to now said when they were asked for it
    std::optional<TimePoint> first_signal_;
    std::optional<TimePoint> last_act_;
    std::optional<TimePoint> looking_until_;
    Look next_look_ = Look::thorough;  // what the next survey is, where nothing says otherwise
    std::size_t step_ = 0;             // index of the next step
    std::size_t before_step_ = 0;      // index of the next step that may be a `before` command
    std::size_t after_step_ = 0;       // the same of the `after` commands
    int clean_surveys_ = 0;            // in a row, since the last act
    bool lock_settled_ = false;        // taken, or not to be had
    bool reboot_place_ = false;
    // A target ran in a unit, container or pod, or its parent lives on that may start it again.
    bool respawner_ = false;
    bool winding_down_ = false;
    bool cut_ = false;
    bool command_failed_ = false;
    bool halted_ = false;     // vetoed, or too many targets: nothing more is done to this host
    bool tidied_ = false;     // only clean_shm is left to do: the host was clean
    bool concluded_ = false;  // the verdict stands, and only `after` commands are left
    bool finished_ = false;
    std::set<ProcessKey> signalled_;     // in this boot; those of a supervisor that was stopped, too
    std::set<ProcessKey> round_;         // those of the move under way
    std::size_t signalled_earlier_ = 0;  // in boots before this one
    std::size_t first_of_boot_ = 0;      // of outcome.signals
    std::set<std::string> stops_tried_;  // commands of the stop step under way
    // Of a dry run: who is gone where the steps up to now do what they would, and the last of them that acts.
    std::set<ProcessKey> planned_gone_;
    int last_planned_act_ = 0;
};

}  // namespace cleanslate::agentless
