// soak FOLDER SECONDS: sweeps the fleet that simfleet serves in FOLDER (tests/fleet/scale/), again and again
// in one process for so long, and looks after each sweep: every host has exactly one verdict, the one that
// its kind must have; memory, descriptors, threads and the time a sweep takes do not grow. A line a sweep;
// ends with 1 at what is wrong.

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>

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
    Verdict verdict(const std::string& host) const {
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

class NoAudit : public agentless::Audit {
  public:
    Status intend(const agentless::HostOutcome&, const std::vector<agentless::SignalAction>&) override {
        die("a check wanted to send a signal");
    }
    Status intend(const agentless::HostOutcome&, const std::vector<agentless::CommandAction>&) override {
        die("a check wanted to run a command");
    }
    void result(const agentless::HostOutcome&, const std::vector<agentless::SignalAction>&) override {}
    void result(const agentless::HostOutcome&, const std::vector<agentless::CommandAction>&) override {}
};

controller::Options options_for(const std::string& folder) {
    const auto options = controller::read_command_line(
        {"check", "-i", folder + "/inventory.yaml", "--known-hosts", folder + "/known_hosts", "--identity",
         folder + "/id", "-F", "none", "--connect-timeout", "5s", "--timeout", "8s"},
        {});
    if (!options) die(options.error().err);
    return *options;
}

void look_at(const agentless::SweepResult& result, const std::vector<std::string>& names,
             const Counter& counter, const Expected& expected) {
    if (result.hosts.size() != names.size())
        die(fmt::format("{} hosts in the report, not {}", result.hosts.size(), names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto& host = result.hosts[i];
        if (host.name != names[i]) die(fmt::format("{} stands where {} should", host.name, names[i]));
        const auto times = counter.finished().find(host.name);
        if (times == counter.finished().end() || times->second != 1)
            die(fmt::format("{} did not end exactly once", host.name));
        if (host.verdict != expected.verdict(host.name))
            die(fmt::format("{} ({}) is {}, not {}: {}", host.name, expected.kind(host.name),
                            to_string(host.verdict), to_string(expected.verdict(host.name)),
                            host.error ? host.error->message : ""));
    }
}

Sample sweep_once(const controller::Options& options, const Expected& expected) {
    const auto began = Clock::now();
    auto selection = value_of(controller::select_hosts(options), "inventory");
    std::vector<agentless::HostTask> tasks;
    std::vector<std::string> names;
    for (const auto& host : selection.hosts) {
        names.push_back(host.name);
        tasks.push_back(controller::task_for(host, options, {}));
    }
    auto job = value_of(controller::job_for(options, {}), "job");
    Counter counter;
    NoAudit audit;
    agentless::Sweep sweep(std::move(tasks), std::move(job), controller::reach_for(options, {}),
                           options.limits, counter, audit);
    const auto result = value_of(sweep.run(), "sweep");
    look_at(result, names, counter, expected);
    Sample sample = look();
    sample.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    return sample;
}

int run(const std::string& folder, std::chrono::seconds time) {
    const auto options = options_for(folder);
    const Expected expected(folder + "/kinds.txt");
    std::vector<Sample> samples;
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
        samples.push_back(sweep_once(options, expected));
        const Sample& last = samples.back();
        fmt::print("sweep {}: {} ms, {} KiB, {} descriptors, {} threads\n", samples.size(), last.took.count(),
                   last.resident_kib, last.descriptors, last.threads);
        std::fflush(stdout);
    }
    const auto drifted = drift(samples);
    for (const auto& line : drifted) fmt::print(stderr, "soak: {}\n", line);
    if (drifted.empty()) fmt::print("soak: {} sweeps, nothing drifted\n", samples.size());
    return drifted.empty() ? 0 : 1;
}

}  // namespace
}  // namespace cleanslate::soak

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: soak FOLDER SECONDS\n", stderr);
        return 2;
    }
    return cleanslate::soak::run(argv[1], std::chrono::seconds(std::atol(argv[2])));
}
