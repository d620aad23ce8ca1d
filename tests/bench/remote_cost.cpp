// What one survey costs a host, beside the three commands that look at the same with nothing joined, by turns
// in one run: CPU time (user and system) of all children. Then how many processes a survey starts on an idle
// host. Usage: remote_cost [ROUNDS [PROCESSES [FILES]]] | remote_cost script    (as root; on a build with
// optimisation)
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "agentless/remote.hpp"
#include "tests/scripts/sandbox.hpp"

namespace cleanslate::agentless {
namespace {

using cleanslate::testing::inside;
using cleanslate::testing::Sandbox;
using cleanslate::testing::Seen;

constexpr double bar = 1.3;
constexpr int most_forks = 15;
const std::string nonce = "0123456789abcdef0123456789abcdef";

// One `find -lname`, one `grep` over maps and one `cat` over stat, each over all processes.
const char* const reference =
    "find /proc/[0-9]*/fd -lname '/dev/nvidia*' 2>/dev/null\n"
    "grep /dev/nvidia /proc/[0-9]*/maps 2>/dev/null\n"
    "cat /proc/[0-9]*/stat 2>/dev/null\n";

// Answers what a check asks, and starts nothing.
const char* const nvidia_smi =
    "#!/bin/sh\n"
    "case $* in\n"
    "*--query-gpu=*memory.used*) echo '0, GPU-00000000-1111-2222-3333-444444444444, 00000000:00:06.0, 0 MiB, "
    "143771 MiB, 30, P0, NVIDIA H200' ;;\n"
    "*--query-gpu=*) echo '0, GPU-00000000-1111-2222-3333-444444444444, 00000000:00:06.0' ;;\n"
    "-L) echo 'GPU 0: NVIDIA H200 (UUID: GPU-00000000-1111-2222-3333-444444444444)' ;;\n"
    "esac\n";

struct Cost {
    int microseconds = 0;  // CPU of the shell and of all that it started
    int forks = 0;         // processes that it started
    std::string out;
};

struct Measured {
    int microseconds, forks;
};

[[noreturn]] void measure(const std::string& script, int report, int out) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // whoever loses its parent counts here
    const int text = ::memfd_create("script", 0);
    if (::write(text, script.data(), script.size()) != static_cast<ssize_t>(script.size())) ::_exit(1);
    int in[2];
    if (::pipe(in) != 0) ::_exit(1);
    const pid_t shell = ::fork();
    if (shell == 0) {
        ::setsid();
        ::dup2(in[0], 0);
        ::dup2(out, 1);
        ::close(in[0]);
        ::close(in[1]);
        ::setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
        ::execl("/bin/sh", "/bin/sh", "-s", nullptr);
        ::_exit(127);
    }
    ::close(out);
    ::close(in[0]);
    for (std::size_t at = 0; at < script.size();) {
        const auto count = ::write(in[1], script.data() + at, script.size() - at);
        if (count <= 0) break;
        at += static_cast<std::size_t>(count);
    }
    ::close(in[1]);
    while (::wait(nullptr) > 0) {
    }
    const pid_t next = ::fork();
    if (next == 0) ::_exit(0);
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    const auto microseconds = [](const timeval& time) { return time.tv_sec * 1'000'000 + time.tv_usec; };
    const Measured measured{static_cast<int>(microseconds(usage.ru_utime) + microseconds(usage.ru_stime)),
                            next - shell - 1};
    ::_exit(::write(report, &measured, sizeof measured) == sizeof measured ? 0 : 1);
}

Cost cost_of(const std::string& script) {
    int report[2], out[2];
    if (::pipe2(report, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    const pid_t meter = ::fork();
    if (meter == 0) measure(script, report[1], out[1]);
    ::close(report[1]);
    ::close(out[1]);
    Cost cost;
    char buffer[65536];
    for (ssize_t count; (count = ::read(out[0], buffer, sizeof buffer)) > 0;)
        cost.out.append(buffer, static_cast<std::size_t>(count));
    Measured measured{};
    const bool good = ::read(report[0], &measured, sizeof measured) == sizeof measured;
    ::close(out[0]);
    ::close(report[0]);
    ::waitpid(meter, nullptr, 0);
    if (!good) throw std::runtime_error("what a command costs could not be measured");
    cost.microseconds = measured.microseconds;
    cost.forks = measured.forks;
    return cost;
}

std::string survey() { return survey_script(SurveyRequest{}, nonce); }

// Complete, and with nothing missing: what is fast because it saw less is no survey.
void must_be_whole(const Cost& cost, int worker) {
    const auto evidence = read_survey(cost.out, nonce);
    if (!evidence || !evidence->complete || !evidence->cuts.empty() || !evidence->holders_visible)
        throw std::runtime_error("a survey was not whole:\n" + cost.out.substr(0, 4000));
    const auto* found = worker == 0 ? nullptr : evidence->find(worker);
    if (worker != 0 && (found == nullptr || found->open_minors.empty()))
        throw std::runtime_error("a survey did not see who has the GPU open");
}

int open_gpu(Sandbox& host) {
    return host.process([] {
        if (::open("/dev/nvidia0", O_RDWR) < 0) ::_exit(1);
    });
}

void furnish(Sandbox& host) {
    host.device("nvidia0");
    host.device("nvidiactl");
    host.file("/opt/bin/nvidia-smi", nvidia_smi);
    host.file("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.1\n");
    host.file("/proc/driver/nvidia/gpus/0000:00:06.0/information",
              "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-00000000-1111-2222-3333-444444444444\n"
              "Bus Location: \t 0000:00:06.0\nDevice Minor: \t 0\n");
}

void crowd(Sandbox& host, int processes, int files) {
    host.file("/run/data", "data");
    for (int i = 0; i < processes; ++i) {
        const int each = (i + 1) * files / processes - i * files / processes;
        host.process([each] {
            for (int n = 0; n < each - 4; ++n)  // the others are its standard streams and its pipe
                if (::open("/run/data", O_RDONLY) < 0) ::_exit(1);
        });
    }
}

struct Rows {
    std::vector<double> survey, reference, stub, ratio;
};

void row(const std::string& label, std::vector<double> values, const char* unit) {
    std::ranges::sort(values);
    fmt::print("  {:<62} {:8.2f} {}  ({:.2f} to {:.2f})\n", label, values[values.size() / 2], unit,
               values.front(), values.back());
}

double middle(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

// On a host of its own for each turn: what is measured begins with the same caches.
void turn(int processes, int files, Rows& rows) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        furnish(host);
        crowd(host, processes, files);
        const int worker = open_gpu(host);
        must_be_whole(cost_of(survey()), worker);
        cost_of(reference);
        const Cost ours = cost_of(survey());
        must_be_whole(ours, worker);
        out.ids["survey"] = ours.microseconds;
        out.ids["reference"] = cost_of(reference).microseconds;
        out.ids["stub"] = cost_of("for i in 1 2 3 4; do /opt/bin/nvidia-smi -L; done").microseconds -
                          cost_of(":").microseconds;
    });
    if (!seen.failure.empty()) throw std::runtime_error(seen.failure);
    const double ms = 1e-3;
    rows.survey.push_back(seen.ids.at("survey") * ms);
    rows.reference.push_back(seen.ids.at("reference") * ms);
    rows.stub.push_back(seen.ids.at("stub") * ms);
    rows.ratio.push_back((rows.survey.back() - rows.stub.back()) / rows.reference.back());
}

int forks_when_idle() {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        furnish(host);
        const Cost cost = cost_of(survey());
        must_be_whole(cost, 0);
        out.ids["forks"] = cost.forks;
    });
    if (!seen.failure.empty()) throw std::runtime_error(seen.failure);
    return seen.ids.at("forks");
}

int run(int rounds, int processes, int files) {
    if (const auto why = cleanslate::testing::no_sandbox(); !why.empty()) throw std::runtime_error(why);
    Rows rows;
    for (int i = 0; i < rounds; ++i) turn(processes, files, rows);
    const int forks = forks_when_idle();
    fmt::print("Remote cost: {} processes, {} open files; CPU time, middle of {} (least to greatest)\n",
               processes, files, rounds);
    row("one survey", rows.survey, "ms");
    row("  of it, nvidia-smi's own (four runs of a stand-in)", rows.stub, "ms");
    row("find -lname; grep over maps; cat over stat", rows.reference, "ms");
    row("survey without nvidia-smi / these three", rows.ratio, "");
    const bool cheap = middle(rows.ratio) <= bar, few = forks - 4 <= most_forks;
    fmt::print("    bar <= {}: {}\n", bar, cheap ? "met" : "NOT MET");
    fmt::print("  {:<62} {:8}\n", "processes that a survey starts on an idle host, all", forks);
    fmt::print("  {:<62} {:8}  bar <= {}: {}\n", "  without the four nvidia-smi", forks - 4, most_forks,
               few ? "met" : "NOT MET");
    return cheap && few ? 0 : 1;
}

}  // namespace
}  // namespace cleanslate::agentless

int main(int count, char** arguments) {
    using namespace cleanslate::agentless;
    if (count > 1 && std::string(arguments[1]) == "script") {
        fmt::print("{}", survey());
        return 0;
    }
    const auto number = [&](int i, int otherwise) { return count > i ? std::atoi(arguments[i]) : otherwise; };
    try {
        return run(std::max(1, number(1, 5)), number(2, 2000), number(3, 20000));
    } catch (const std::exception& error) {
        fmt::print(stderr, "remote_cost: {}\n", error.what());
        return 1;
    }
}
