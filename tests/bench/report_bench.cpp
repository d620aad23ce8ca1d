// What the report of 10,000 hosts with 8 GPUs each costs: CPU time of the text and of the JSON, written to
// /dev/null, and how much memory it takes beside the outcomes that it is made from; and the same of reading
// the JSON back, beside its text.
// Usage: report_bench [HOSTS [ROUNDS]]    (run it on a build with optimisation)
#include <malloc.h>

#include <cstdlib>
#include <functional>

#include "controller/formats/render.hpp"
#include "controller/json_report.hpp"
#include "controller/output.hpp"
#include "controller/report_reader.hpp"
#include "controller/text_report.hpp"
#include "tests/bench/rounds.hpp"
#include "tests/unit/controller/outcomes.hpp"

namespace cleanslate::controller::bench {
namespace {

using namespace agentless;
using testing::clean_host, testing::dirty_host, testing::unreachable_host;

constexpr double bar = 0.5;          // seconds, of the text and of the JSON
constexpr double reading_bar = 2.0;  // seconds, of the JSON

std::string name_of(std::size_t i) { return fmt::format("gpu{:05}", i); }

// Every GPU with what a real one shows: cells of the optional query, and notes that differ in a number.
HostOutcome noted_host(std::size_t i) {
    HostOutcome host = clean_host(name_of(i));
    for (GpuVerdict& gpu : host.last->gpus) {
        gpu.optional = {{"ecc.errors.uncorrected.volatile.total", "0"},
                        {"persistence_mode", "Enabled"},
                        {"mig.mode.current", "Disabled"}};
        gpu.findings.push_back({Severity::note, "hot",
                                fmt::format("{} C without a process", 60 + (i + 7) % 23),
                                "look at the fans"});
    }
    host.last->findings.push_back({Severity::note, "memory-not-shown", "the driver does not say", ""});
    return host;
}

// No two GPUs say the same.
HostOutcome told_apart_host(std::size_t i) {
    HostOutcome host = clean_host(name_of(i));
    for (GpuVerdict& gpu : host.last->gpus) {
        const std::size_t more = 8 * i + static_cast<std::size_t>(*gpu.index);
        gpu.findings.push_back({Severity::note, "memory-unexplained",
                                fmt::format("{} KiB more than is known of", more), "clear the host"});
    }
    return host;
}

// A worker of its own on each GPU.
HostOutcome held_host(std::size_t i) {
    HostOutcome host = clean_host(name_of(i));
    host.verdict = host.last->verdict = Verdict::dirty;
    for (int at = 0; at < 8; ++at) {
        GpuVerdict& gpu = host.last->gpus[static_cast<std::size_t>(at)];
        gpu = testing::gpu(at, Verdict::dirty, 76'107 + at);
        Holder worker = testing::holder(800 + at, "alice",
                                        fmt::format("python3 -m vllm.entrypoints.openai.api_server --port {} "
                                                    "--model /models/llama-3-70b --tensor-parallel-size 8",
                                                    8'000 + at));
        worker.used = Mebibytes{76'000 + at};
        worker.unit = "vllm@0.service";
        gpu.holders.push_back(worker);
        gpu.findings.push_back({Severity::dirty, "memory-in-use",
                                fmt::format("{} MiB used, the limit is 100 MiB", 76'107 + at),
                                "clear the host"});
        gpu.findings.push_back(
            {Severity::dirty, "held", fmt::format("pid {} holds it", 800 + at), "clear it"});
    }
    return host;
}

HostOutcome cleared_host(std::size_t i) {
    HostOutcome host = clean_host(name_of(i));
    for (int at = 0; at < 8; ++at)
        host.signals.push_back(testing::signal_action(
            1, "TERM", testing::holder(800 + at, "alice", "python3 train.py"), SignalResult::ended));
    host.first_signal_to_clean = Milliseconds{350};
    return host;
}

HostOutcome sick_host(std::size_t i) {
    HostOutcome host = dirty_host(name_of(i));
    host.verdict = host.last->verdict = Verdict::sick;
    host.last->gpus[5].verdict = Verdict::sick;
    host.last->gpus[5].findings.push_back({Severity::sick, "ecc-uncorrected",
                                           fmt::format("{} uncorrected errors", i),
                                           "reset it, then replace it"});
    host.spared.push_back({{900, 5}, "protected", "protected (dcgm)"});
    return host;
}

// One of each in ten, the rest clean: a fleet as a sweep finds it.
HostOutcome any_host(std::size_t i) {
    switch (i % 10) {
        case 0:
            return held_host(i);
        case 1:
            return unreachable_host(name_of(i), i % 20 == 1 ? "connection refused" : "no route to host");
        case 2:
            return sick_host(i);
        case 3:
            return cleared_host(i);
        case 4:
            return noted_host(i);
        default:
            return clean_host(name_of(i));
    }
}

HostOutcome refused_in_own_words(std::size_t i) {
    return unreachable_host(name_of(i), fmt::format("127.0.{}.{} refused", i / 250, i % 250));
}

struct Fleet {
    std::string name;
    std::string command;
    std::function<HostOutcome(std::size_t)> host;
    bool dry_run = false;
};

std::vector<Fleet> fleets() {
    return {
        {"clean", "check", [](auto i) { return clean_host(name_of(i)); }},
        {"clean, with notes of every GPU", "check", noted_host},
        {"clean, a note of its own on every GPU", "check", told_apart_host},
        {"clean, names with three numbers", "check",
         [](auto i) { return clean_host(fmt::format("r{}c{}n{:02}", i / 500, i * 7 % 23, i % 100)); }},
        {"dirty, 8 holders each", "check", held_host},
        {"sick", "check", sick_host},
        {"cleared, 8 signals each", "clear", cleared_host},
        {"unreachable, one reason", "check", [](auto i) { return unreachable_host(name_of(i)); }},
        {"unreachable, each in its own words", "check", refused_in_own_words},
        {"mixed", "clear", any_host},
        {"dry run, all with a plan", "clear", [](auto i) { return testing::planned_host(name_of(i)); }, true},
        {"run, one answer", "run", [](auto i) { return testing::asked_host(name_of(i), 0, "6.1.0-13\n"); }},
        {"run, each with its own answer", "run",
         [](auto i) { return testing::asked_host(name_of(i), 0, fmt::format("up {} days\n", i)); }}};
}

// Writes once and says what it took. `bytes` counts what was written.
double timed(const std::function<void(const Sink&)>& write, std::size_t& bytes) {
    std::FILE* const file = std::fopen("/dev/null", "w");
    if (file == nullptr) throw std::runtime_error("/dev/null can not be opened");
    Output out(::fileno(file));
    bytes = 0;
    const double before = cleanslate::bench::cpu_seconds();
    write([&](std::string_view piece) {
        bytes += piece.size();
        out.write(piece);
    });
    const bool arrived = out.finish().has_value();
    const double took = cleanslate::bench::cpu_seconds() - before;
    std::fclose(file);
    if (!arrived) throw std::runtime_error("the report was not written");
    return took;
}

bool measure(const std::string& figure, int rounds, const std::function<void(const Sink&)>& write) {
    std::vector<double> seconds;
    std::size_t bytes = 0;
    malloc_trim(0);  // what earlier rows left behind
    cleanslate::bench::forget_peak();
    const double held = cleanslate::bench::resident_mb("VmRSS:");
    for (int i = 0; i < rounds; ++i) seconds.push_back(timed(write, bytes));
    const double peak = cleanslate::bench::resident_mb("VmHWM:");
    return cleanslate::bench::print_row(
        figure, seconds, bar,
        fmt::format("; {:.1f} MB written, peak RSS {:.0f} MB: {:.1f} more than before",
                    static_cast<double>(bytes) / 1e6, peak, peak - held));
}

bool measure_reading(const std::string& figure, int rounds, const Report& report) {
    std::string json;
    write_json(report, false, [&](std::string_view piece) { json += piece; });
    std::vector<double> seconds;
    malloc_trim(0);
    cleanslate::bench::forget_peak();
    const double held = cleanslate::bench::resident_mb("VmRSS:");
    for (int i = 0; i < rounds; ++i) {
        const double before = cleanslate::bench::cpu_seconds();
        const auto read = read_report(json, "report.json");
        seconds.push_back(cleanslate::bench::cpu_seconds() - before);
        if (!read || read->result.hosts.size() != report.result.hosts.size())
            throw std::runtime_error("the report was not read");
    }
    const double peak = cleanslate::bench::resident_mb("VmHWM:");
    return cleanslate::bench::print_row(
        figure, seconds, reading_bar,
        fmt::format("; {:.1f} MB read, peak RSS {:.0f} MB: {:.1f} more than before",
                    static_cast<double>(json.size()) / 1e6, peak, peak - held));
}

int run(std::size_t hosts, int rounds) {
    fmt::print("report of {} hosts: CPU time, middle of {} (least to greatest)\n", hosts, rounds);
    bool met = true;
    for (const Fleet& fleet : fleets()) {
        std::vector<HostOutcome> outcomes;
        outcomes.reserve(hosts);
        for (std::size_t i = 0; i < hosts; ++i) outcomes.push_back(fleet.host(i));
        Report report = testing::report_of(std::move(outcomes), fleet.command);
        report.dry_run = fleet.dry_run;
        met &= measure(fleet.name + ": text", rounds, [&](const Sink& sink) {
            report.is_run() ? write_run_text(report, {}, sink) : write_text(report, {}, sink);
        });
        met &= measure(fleet.name + ": JSON", rounds,
                       [&](const Sink& sink) { write_json(report, false, sink); });
        for (const Format format : {Format::jsonl, Format::csv, Format::junit, Format::prom}) {
            const bool surveys = format != Format::csv && format != Format::prom;
            if (report.is_run() && !surveys) continue;
            met &= measure(fmt::format("{}: {}", fleet.name, to_string(format)), rounds,
                           [&](const Sink& sink) { render(report, format, {}, sink); });
        }
        met &= measure_reading(fleet.name + ": read back", rounds, report);
    }
    return met ? 0 : 1;
}

}  // namespace
}  // namespace cleanslate::controller::bench

int main(int count, char** arguments) {
    const long hosts = count > 1 ? std::atol(arguments[1]) : 10'000;
    const int rounds = count > 2 ? std::atoi(arguments[2]) : 5;
    if (hosts < 1 || rounds < 1) {
        std::fputs("usage: report_bench [HOSTS [ROUNDS]]\n", stderr);
        return 2;
    }
    return cleanslate::controller::bench::run(static_cast<std::size_t>(hosts), rounds);
}
