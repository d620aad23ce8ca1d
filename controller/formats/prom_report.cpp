#include "controller/formats/prom_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "controller/audit_query.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

constexpr std::size_t piece = 64 * 1024;

std::string label(std::string_view name, std::string_view value) {
    std::string text = fmt::format("{}=\"", name);
    for (const char c : printable(value)) {
        if (c == '\\' || c == '"') text += '\\';
        text += c;
    }
    return text + '"';
}

std::string bytes(Mebibytes size) {
    constexpr std::int64_t exact = std::int64_t{1} << 40;
    if (size.count >= 0 && size.count <= exact) return std::to_string(size.count * 1024 * 1024);
    return fmt::format("{}", static_cast<double>(size.count) * 1024 * 1024);
}

std::string seconds(Milliseconds time) { return fmt::format("{}", static_cast<double>(time.count()) / 1000); }

// A GPU, a host, or both, with the labels that no other has.
struct Subject {
    const HostOutcome* host = nullptr;
    const GpuVerdict* gpu = nullptr;
    std::optional<Verdict> verdict;
    std::string labels;
};

// Labels that no other has: those of `name`, or of "name#2" and so on.
class Unique {
  public:
    template <class Labels>
    std::string operator()(const std::string& name, Labels&& labels_of) {
        std::string labels = labels_of(name);
        const std::string plain = labels;
        for (std::size_t& count = counts_[plain]; !taken_.insert(labels).second;)
            labels = labels_of(fmt::format("{}#{}", name, ++count + 1));
        return labels;
    }

  private:
    std::set<std::string> taken_;
    std::map<std::string, std::size_t> counts_;  // how many were asked for anew, by the plain labels
};

struct Subjects {
    std::vector<Subject> hosts, gpus;
};

Subjects subjects_of(const Report& report) {
    Subjects all;
    Unique unique_host;
    for (const HostOutcome& host : report.result.hosts) {
        const std::string of_host =
            unique_host(host.name, [](const std::string& name) { return label("host", name); });
        all.hosts.push_back({&host, nullptr, verdict_of(report, host), of_host});
        if (!host.last) continue;
        Unique unique_gpu;
        for (const GpuVerdict& gpu : host.last->gpus) {
            const std::string labels =
                unique_gpu(gpu.index ? std::to_string(*gpu.index) : "?", [&](const std::string& index) {
                    return of_host + ',' + label("gpu", index) + ',' + label("uuid", gpu.uuid);
                });
            all.gpus.push_back({&host, &gpu, gpu.verdict, labels});
        }
    }
    return all;
}

// One metric: its help and type stand above its first sample.
class Metric {
  public:
    Metric(const Sink& sink, std::string_view name, std::string_view type, std::string_view help)
        : sink_(sink), name_(name) {
        head_ = fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
    }
    ~Metric() { sink_(text_); }
    Metric(const Metric&) = delete;
    Metric& operator=(const Metric&) = delete;

    void sample(std::string_view labels, std::string_view value) {
        text_ += std::exchange(head_, {});
        text_ += name_;
        if (!labels.empty()) text_ += fmt::format("{{{}}}", labels);
        text_ += fmt::format(" {}\n", value);
        if (text_.size() < piece) return;
        sink_(text_);
        text_.clear();
    }

  private:
    const Sink& sink_;
    std::string_view name_;
    std::string head_, text_;
};

// One series for each verdict that there is; the one that holds is 1.
void write_verdicts(Metric&& metric, const std::vector<Subject>& subjects, Verdict worst) {
    for (const Subject& subject : subjects) {
        if (!subject.verdict) continue;
        for (std::size_t i = 0; i <= static_cast<std::size_t>(worst); ++i) {
            const auto verdict = static_cast<Verdict>(i);
            metric.sample(subject.labels + ',' + label("verdict", to_string(verdict)),
                          verdict == *subject.verdict ? "1" : "0");
        }
    }
}

void write_findings(Metric&& metric, const std::vector<Subject>& subjects) {
    for (const Subject& subject : subjects) {
        std::map<std::pair<std::string, Severity>, std::size_t> counts;
        const auto findings = subject.gpu != nullptr ? subject.gpu->findings : findings_of(*subject.host);
        for (const Finding& finding : findings) ++counts[{printable(finding.code), finding.severity}];
        for (const auto& [key, count] : counts)
            metric.sample(subject.labels + ',' + label("code", key.first) + ',' +
                              label("severity", to_string(key.second)),
                          std::to_string(count));
    }
}

void write_memory(Metric&& metric, const std::vector<Subject>& gpus,
                  std::optional<Mebibytes> GpuVerdict::*size) {
    for (const Subject& subject : gpus)
        if (const auto& value = subject.gpu->*size) metric.sample(subject.labels, bytes(*value));
}

void write_holders(Metric&& metric, const std::vector<Subject>& gpus) {
    for (const Subject& subject : gpus) {
        const auto all = static_cast<std::ptrdiff_t>(subject.gpu->holders.size());
        const auto spared = std::ranges::count_if(subject.gpu->holders, &Holder::is_protected);
        metric.sample(subject.labels + ",protected=\"false\"", std::to_string(all - spared));
        metric.sample(subject.labels + ",protected=\"true\"", std::to_string(spared));
    }
}

void write_counts(Metric&& metric, const std::array<std::size_t, 5>& counts, Verdict worst) {
    for (std::size_t i = 0; i <= static_cast<std::size_t>(worst); ++i)
        metric.sample(label("verdict", to_string(static_cast<Verdict>(i))), std::to_string(counts[i]));
}

void write_signals(Metric&& metric, const Report& report) {
    constexpr SignalResult results[] = {
        SignalResult::ended, SignalResult::alive,         SignalResult::zombie,  SignalResult::changed,
        SignalResult::sent,  SignalResult::not_permitted, SignalResult::planned, SignalResult::not_sent};
    std::map<SignalResult, std::size_t> counts;
    for (const HostOutcome& host : report.result.hosts)
        for (const SignalAction& action : host.signals) ++counts[action.result];
    for (const SignalResult result : results)
        metric.sample(label("result", result == SignalResult::sent ? "unknown" : to_string(result)),
                      std::to_string(counts[result]));
}

void write_sweep(const Report& report, const Sink& sink) {
    Metric(sink, "cleanslate_sweep_info", "gauge", "What was done and where.")
        .sample(label("command", report.command) + ',' + label("playbook", report.playbook) + ',' +
                    label("inventory", report.inventory) + ',' + label("limit", report.limit) + ',' +
                    label("dry_run", report.dry_run ? "true" : "false"),
                "1");
    if (const auto started = parse_time(report.started))
        Metric(sink, "cleanslate_sweep_timestamp_seconds", "gauge",
               "When the sweep began, in seconds since 1970.")
            .sample("", std::to_string(*started));
    Metric(sink, "cleanslate_sweep_duration_seconds", "gauge", "How long the sweep took.")
        .sample("", seconds(report.took));
    Metric(sink, "cleanslate_sweep_exit_status", "gauge",
           "What the program ended with; 0: every host is clean, or as many as were expected.")
        .sample("", std::to_string(report.exit_status));
    const Summary summary = summarize(report);
    write_counts(Metric(sink, "cleanslate_sweep_hosts", "gauge", "Hosts by verdict."), summary.hosts,
                 Verdict::unreachable);
    write_counts(Metric(sink, "cleanslate_sweep_gpus", "gauge", "GPUs by verdict."), summary.gpus,
                 Verdict::unknown);
    if (report.command == "clear")
        write_signals(Metric(sink, "cleanslate_sweep_signals_total", "counter",
                             "Signals of this sweep by their result: it starts anew with each sweep."),
                      report);
}

void write_hosts(const Report& report, const std::vector<Subject>& hosts, const Sink& sink) {
    write_verdicts(Metric(sink, "cleanslate_host_verdict", "gauge", "1 for the verdict of the host, else 0."),
                   hosts, Verdict::unreachable);
    {
        Metric duration(sink, "cleanslate_host_duration_seconds", "gauge", "How long the host took.");
        for (const Subject& subject : hosts)
            if (subject.host->started) duration.sample(subject.labels, seconds(subject.host->took));
    }
    if (report.command != "parse") {
        Metric openers(sink, "cleanslate_host_openers", "gauge",
                       "Processes with a GPU's device file open and no context on any GPU.");
        for (const Subject& subject : hosts)
            if (subject.host->last)
                openers.sample(subject.labels, std::to_string(subject.host->last->openers.size()));
    }
    write_findings(Metric(sink, "cleanslate_host_findings", "gauge", "Findings of the host by code."), hosts);
}

void write_gpus(const Report& report, const std::vector<Subject>& gpus, const Sink& sink) {
    write_verdicts(Metric(sink, "cleanslate_gpu_verdict", "gauge", "1 for the verdict of the GPU, else 0."),
                   gpus, Verdict::unknown);
    write_memory(Metric(sink, "cleanslate_gpu_memory_used_bytes", "gauge", "Used memory."), gpus,
                 &GpuVerdict::used);
    write_memory(Metric(sink, "cleanslate_gpu_memory_total_bytes", "gauge", "All memory."), gpus,
                 &GpuVerdict::total);
    write_memory(Metric(sink, "cleanslate_gpu_memory_limit_bytes", "gauge",
                        "Used memory up to which the GPU is clean."),
                 gpus, &GpuVerdict::limit);
    if (report.command != "parse")
        write_holders(Metric(sink, "cleanslate_gpu_holders", "gauge", "Processes that hold the GPU."), gpus);
    write_findings(Metric(sink, "cleanslate_gpu_findings", "gauge", "Findings of the GPU by code."), gpus);
}

}  // namespace

void write_prom(const Report& report, const Sink& sink) {
    const Subjects all = subjects_of(report);
    write_sweep(report, sink);
    write_hosts(report, all.hosts, sink);
    write_gpus(report, all.gpus, sink);
}

}  // namespace cleanslate::controller
