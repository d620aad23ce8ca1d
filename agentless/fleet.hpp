#pragma once
// One run over many hosts: bounded fan-out, one coroutine a host, deadlines, failure limit, and a stop that
// loses nothing. No Asio here: the controller sees only this header.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agentless/ask_secret.hpp"
#include "agentless/outcome.hpp"
#include "agentless/targets.hpp"
#include "agentless/verdict.hpp"
#include "inventory/host.hpp"
#include "playbooks/playbook.hpp"

namespace cleanslate::agentless {

class SharedSecret;
struct SshContext;
struct HostTask;

enum class HostKeyCheck { strict, accept_new, off };

// How hosts are reached. Every field has its default in the command line's help.
struct Reach {
    bool local = false;                           // --local: this machine, no SSH
    std::string user;                             // empty: ssh's configuration's, else whoever runs this
    std::vector<std::string> identity_files;      // where there are any, only these are tried
    std::string agent_socket;                     // empty: no agent
    std::vector<std::string> known_hosts;         // in place of all others; accept-new writes to the first
    std::optional<HostKeyCheck> host_key_check;   // absent: ssh's configuration's, else strict
    std::optional<Milliseconds> connect_timeout;  // resolve, connect, handshake, auth: each; absent: as above
    std::optional<std::string> jump;        // -J: the hops, first one first; "none"; absent: each host's
    std::optional<std::string> ssh_config;  // -F; absent: ~/.ssh/config and the system's
    // sudo on every host (--become), over and above the hosts whose inventory says so.
    bool become = false;
    // Each is given to no other host once it was refused, over all sweeps that share it.
    std::shared_ptr<SharedSecret> password;         // for hosts that take no key; null: none was asked for
    std::shared_ptr<SharedSecret> become_password;  // for sudo, where it asks; null: sudo -n
    std::shared_ptr<SshContext> ssh;                // prepare()
};

// Reads keys, ssh's configuration and known hosts, and asks for passphrases (`ask`; null: nobody can be
// asked), once for all sweeps that share this reach. Before any thread is started. A sweep whose reach was
// not prepared reads them itself and asks nobody. Errors as Sweep::run.
Status prepare(Reach& reach, const std::vector<HostTask>& tasks, const AskSecret& ask);

// What is done to every host.
struct Job {
    enum class Kind { check, clear, run };
    Kind kind = Kind::check;
    std::optional<playbooks::Playbook> playbook;  // clear
    std::string command;                          // run
    bool dry_run = false;                         // clear: choose and report, signal nothing, run nothing
    bool include_jobs = false;
    std::optional<std::string> own_job;
    std::optional<Milliseconds> settle;  // absent: 2 s, 12 s where a target ran in a unit, container or pod
    // Steps of these kinds are withheld without it.
    bool allow_reset = false, allow_reboot = false, allow_shm = false;
    std::optional<int> max_kills;  // on one host; absent: the playbook's, else no limit
    std::optional<int>
        max_kills_total;        // on all hosts together; the host that would pass it is not signalled
    int reboots_at_a_time = 1;  // --serial
    Milliseconds lock_wait{10'000};
    std::string who;  // told to others by the lock: "alice@laptop, cleanslate 4242"
};

struct HostTask {
    inventory::Host host;
    Expectations expectations;
    std::optional<Consent> consent;  // after a plan was shown and agreed to
};

struct SweepLimits {
    int fanout = 128;  // hosts at work at a time
    // Hosts under way at most, with those that only wait for an answer or for their time; less than the
    // fan-out: as many as that. See places.hpp.
    int under_way = 0;
    int threads = 0;                       // shards; 0: the cores
    Milliseconds step_timeout{60'000};     // one survey, one signal round beyond its own wait, one command
    std::optional<Milliseconds> deadline;  // the whole sweep
    std::optional<double> max_failures;    // hosts unreachable or unknown: a count, or a share where < 1
};

// Who is told what happens while it happens. Called from the shards' threads: implementations lock.
// References are valid during the call only.
class Observer {
  public:
    virtual ~Observer() = default;
    virtual void host_started(const HostOutcome&) {}
    virtual void host_progress(const HostOutcome&) {}  // `doing` changed, or an action was added or ended
    virtual void host_finished(const HostOutcome&) {}
    virtual void host_detail(const std::string& /*host*/, const std::string& /*line*/) {}  // for -vv
};

// Written before each signal and command (and made durable before it is sent), and after its result.
// Called from the shards' threads.
class Audit {
  public:
    virtual ~Audit() = default;
    // An error here means that nothing is sent.
    virtual Status intend(const HostOutcome& host, const std::vector<SignalAction>& actions) = 0;
    virtual Status intend(const HostOutcome& host, const std::vector<CommandAction>& actions) = 0;
    virtual void result(const HostOutcome& host, const std::vector<SignalAction>& actions) = 0;
    virtual void result(const HostOutcome& host, const std::vector<CommandAction>& actions) = 0;
};

struct SweepResult {
    std::vector<HostOutcome> hosts;  // in the order of the tasks, one each, always
    bool interrupted = false;
    bool deadline_passed = false;
    bool failure_limit_reached = false;
    bool audit_failed = false;
    std::string audit_error;
    std::vector<std::string> notes;  // things worth saying once
};

class Sweep {
  public:
    Sweep(std::vector<HostTask> tasks, Job job, Reach reach, SweepLimits limits, Observer& observer,
          Audit& audit);
    ~Sweep();
    // Runs to the end. Call once. Errors are those that stop everything before a host is contacted (a key
    // file that cannot be read, a known_hosts file that is malformed).
    Result<SweepResult> run();
    // From any thread. The first: no new host is begun, steps under way report. The second: everything is
    // cut.
    void stop();
    // Names of hosts that are begun and not ended, with what they are doing. From any thread.
    std::vector<std::pair<std::string, std::string>> unfinished() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace cleanslate::agentless
