// soak FOLDER SECONDS REDIRTY: checks and clears the fleet that simfleet serves in FOLDER
// (tests/fleet/scale/), by turns, again and again in one process, for so long and at least eight times each.
// Workers that were ended have to be back REDIRTY seconds later (--redirty). Looks after each sweep: every
// host has exactly one verdict, the one that its kind must have; each signal that was to be sent has its
// result, or its host is unknown; memory, descriptors, threads and the time they take do not grow. A line a
// turn; ends with 1 at what is wrong.

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "controller/settings.hpp"
#include "tests/soak/drift.hpp"

namespace cleanslate::soak {
namespace {

using agentless::Verdict;
using Clock = std::chrono::steady_clock;

[[noreturn]] void die(const std::string& why) {
    fmt::print(stderr, "soak: {}\n", why);
    std::exit(1);
}

template <class T>
T value_of(Result<T> result, const char* what) {
    if (!result) die(fmt::format("{}: {}", what, result.error().message));
    return std::move(*result);
}

// Who must have which verdict. Hosts that are not in the file are healthy.
class Expected {
  public:
    explicit Expected(const std::string& file) {
        std::ifstream in(file);
        for (std::string host, kind; in >> host >> kind;) kinds_[host] = kind;
    }
    std::string kind(const std::string& host) const {
        const auto found = kinds_.find(host);
        return found == kinds_.end() ? "healthy" : found->second;
    }
    // After a check, or after a clear.
    Verdict verdict(const std::string& host, bool clear) const {
        const int to_end = clear ? signals(host) : 0;
        if (to_end > 0) return kind(host) == "lost_mid_kill" ? Verdict::unknown : Verdict::clean;
        static const std::map<std::string, Verdict> verdicts{{"healthy", Verdict::clean},
                                                             {"slow", Verdict::clean},
                                                             {"dirty", Verdict::dirty},
                                                             {"stubborn", Verdict::dirty},
                                                             {"lost_mid_kill", Verdict::dirty},
                                                             {"sick", Verdict::sick},
                                                             {"black_hole", Verdict::unreachable},
                                                             {"refused", Verdict::unreachable},
                                                             {"no_banner", Verdict::unreachable},
                                                             {"hang_login", Verdict::unreachable},
                                                             {"deny", Verdict::unreachable},
                                                             {"hang_exec", Verdict::unknown},
                                                             {"cut_survey", Verdict::unknown},
                                                             {"no_end", Verdict::unknown},
                                                             {"garbage", Verdict::unknown}};
        const auto found = verdicts.find(kind(host));
        if (found == verdicts.end()) die("a kind of host that soak does not know: " + kind(host));
        return found->second;
    }
    // How many a clear sends it: TERM, and KILL where that is ignored.
    int signals(const std::string& host) const {
        const auto it_is = kind(host);
        if (it_is == "stubborn") return 2;
        return it_is == "dirty" || it_is == "lost_mid_kill" ? 1 : 0;
    }

  private:
    std::map<std::string, std::string> kinds_;
};

class Counter : public agentless::Observer {
  public:
    void host_finished(const agentless::HostOutcome& host) override {
        const std::lock_guard lock(mutex_);
        ++finished_[host.name];
    }
    const std::map<std::string, int>& finished() const { return finished_; }

  private:
    std::mutex mutex_;
    std::map<std::string, int> finished_;
};

// What a host was to be sent, and what came of it. Nothing that soak does runs a command there.
class CountingAudit : public agentless::Audit {
  public:
    struct Signals {
        int intended = 0;
        int resulted = 0;
        bool killed = false;
    };
    Status intend(const agentless::HostOutcome& host,
                  const std::vector<agentless::SignalAction>& actions) override {
        const std::lock_guard lock(mutex_);
        auto& signals = signals_[host.name];
        signals.intended += static_cast<int>(actions.size());
        for (const auto& action : actions) signals.killed |= action.signal == "KILL";
        return {};
    }
    Status intend(const agentless::HostOutcome& host, const std::vector<agentless::CommandAction>&) override {
        die("a command was to be run on " + host.name);
    }
    void result(const agentless::HostOutcome& host,
                const std::vector<agentless::SignalAction>& actions) override {
        const std::lock_guard lock(mutex_);
        for (const auto& action : actions)
            if (action.result != agentless::SignalResult::sent) ++signals_[host.name].resulted;
    }
    void result(const agentless::HostOutcome&, const std::vector<agentless::CommandAction>&) override {}
    Signals of(const std::string& host) const {
        const auto found = signals_.find(host);
        return found == signals_.end() ? Signals{} : found->second;
    }

  private:
    std::mutex mutex_;
    std::map<std::string, Signals> signals_;
};

controller::Options options_for(const std::string& folder, std::vector<std::string> words) {
    words.insert(words.end(),
                 {"-i", folder + "/inventory.yaml", "--known-hosts", folder + "/known_hosts", "--identity",
                  folder + "/id", "-F", "none", "--connect-timeout", "5s", "--timeout", "8s"});
    const auto options = controller::read_command_line(words, {});
    if (!options) die(options.error().err);
    return *options;
}

void look_at(const agentless::SweepResult& result, const std::vector<std::string>& names,
             const Counter& counter, const Expected& expected, bool clear) {
    if (result.hosts.size() != names.size())
        die(fmt::format("{} hosts in the report, not {}", result.hosts.size(), names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto& host = result.hosts[i];
        if (host.name != names[i]) die(fmt::format("{} stands where {} should", host.name, names[i]));
        const auto times = counter.finished().find(host.name);
        if (times == counter.finished().end() || times->second != 1)
            die(fmt::format("{} did not end exactly once", host.name));
        const auto verdict = expected.verdict(host.name, clear);
        if (host.verdict != verdict)
            die(fmt::format("{} ({}) is {}, not {}: {}", host.name, expected.kind(host.name),
                            to_string(host.verdict), to_string(verdict),
                            host.error ? host.error->message : ""));
    }
}

// Each host was sent what its kind takes to end, and nothing went without a result but where the host is
// unknown for it.
void look_at_signals(const agentless::SweepResult& result, const CountingAudit& audit,
                     const Expected& expected, bool clear) {
    for (const auto& host : result.hosts) {
        const auto [intended, resulted, killed] = audit.of(host.name);
        const auto kind = expected.kind(host.name);
        const int least = clear ? expected.signals(host.name) : 0;
        const bool lost = intended > resulted;
        if ((least == 0) != (intended == 0) || intended < least || killed != (least > 1))
            die(fmt::format("{} ({}): {} signals were to be sent{}, not {}", host.name, kind, intended,
                            killed ? ", KILL among them" : "", least));
        if (resulted > intended || (lost && host.verdict != Verdict::unknown))
            die(fmt::format("{} ({}) is {}, with {} signals and {} results", host.name, kind,
                            to_string(host.verdict), intended, resulted));
    }
}

void sweep_once(const controller::Options& options, const Expected& expected) {
    auto selection = value_of(controller::select_hosts(options), "inventory");
    auto job = value_of(controller::job_for(options, {}), "job");
    const bool clear = job.kind == agentless::Job::Kind::clear;
    std::vector<agentless::HostTask> tasks;
    std::vector<std::string> names;
    for (const auto& host : selection.hosts) {
        names.push_back(host.name);
        tasks.push_back(controller::task_for(host, options, {}));
    }
    Counter counter;
    CountingAudit audit;
    agentless::Sweep sweep(std::move(tasks), std::move(job), controller::reach_for(options, {}),
                           options.limits, counter, audit);
    const auto result = value_of(sweep.run(), "sweep");
    look_at(result, names, counter, expected, clear);
    look_at_signals(result, audit, expected, clear);
}

// A check, in which nothing is signalled, and a clear.
Sample check_and_clear(const std::string& folder, const Expected& expected) {
    const auto began = Clock::now();
    sweep_once(options_for(folder, {"check"}), expected);
    sweep_once(options_for(folder, {"clear", "-l", "all", "--yes", "--settle", "500ms"}), expected);
    Sample sample = look();
    sample.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    return sample;
}

int run(const std::string& folder, std::chrono::seconds time, std::chrono::seconds redirty) {
    const Expected expected(folder + "/kinds.txt");
    std::vector<Sample> samples;
    for (const auto end = Clock::now() + time; Clock::now() < end || samples.size() < enough_to_see_drift;) {
        samples.push_back(check_and_clear(folder, expected));
        const Sample& last = samples.back();
        fmt::print("check and clear {}: {} ms, {} KiB, {} descriptors, {} threads\n", samples.size(),
                   last.took.count(), last.resident_kib, last.descriptors, last.threads);
        std::fflush(stdout);
        std::this_thread::sleep_for(redirty);  // no worker comes back in the middle of the next check
    }
    const auto drifted = drift(samples);
    for (const auto& line : drifted) fmt::print(stderr, "soak: {}\n", line);
    if (drifted.empty()) fmt::print("soak: {} checks and as many clears, nothing drifted\n", samples.size());
    return drifted.empty() ? 0 : 1;
}

}  // namespace
}  // namespace cleanslate::soak

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: soak FOLDER SECONDS REDIRTY_SECONDS\n", stderr);
        return 2;
    }
    using std::chrono::seconds;
    return cleanslate::soak::run(argv[1], seconds(std::atol(argv[2])), seconds(std::atol(argv[3])));
}
